package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A listing of transitions by state reads the rows in these states alone. */
class TransitionListingTest {
  private int scanned;
  private final InMemoryStore store = new InMemoryStore();
  private final TransitionIndex index = new TransitionIndex();
  private final StripeListing listing =
      new StripeListing(counting(), CodeRegistry.builtIn(), null, null, index);
  private final Map<Long, TransitionStateProto> model = new TreeMap<>();

  /** The store, which counts the scans of it. */
  private MetadataStore counting() {
    return (MetadataStore)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MetadataStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().startsWith("scan") || method.getName().startsWith("each")) {
                scanned++;
              }
              return method.invoke(store, arguments);
            });
  }

  private void put(long id, TransitionStateProto state, boolean told) throws IOException {
    TransitionRow row =
        TransitionRow.newBuilder()
            .setId(id)
            .setKind(TransitionKindProto.ENCODE)
            .setState(state)
            .setPolicy("test")
            .setToCode("RS(6,3)")
            .setReason("test")
            .setCreatedMillis(0)
            .setUpdatedMillis(0)
            .setPriority(0)
            .setAttempt(0)
            .build();
    store.transact(
        id,
        transaction -> {
          transaction.put(Tables.TRANSITION, Tables.transition(id), row);
          return null;
        });
    model.put(id, state);
    if (told) {
      index.update(row);
    }
  }

  @Test
  void pagesOfSomeStatesAreWholeAndReadNoOtherRows() throws IOException {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    TransitionStateProto[] states = TransitionStateProto.values();
    for (int i = 0; i < 5_000; i++) {
      put(1 + random.nextInt(2_000), states[random.nextInt(states.length)], true);
    }
    List<TransitionStateProto> wanted =
        List.of(TransitionStateProto.RUNNING, TransitionStateProto.FAILED);
    List<Long> expected = new ArrayList<>();
    model.forEach(
        (id, state) -> {
          if (wanted.contains(state)) {
            expected.add(id);
          }
        });
    for (int limit : new int[] {1, 7, 1_000, expected.size(), 10_000}) {
      assertThat(list(wanted, limit)).as("seed %d, limit %d", seed, limit).isEqualTo(expected);
    }
    assertThat(scanned).as("seed %d", seed).isZero();
    assertThat(list(List.of(), 300)).as("seed %d", seed).containsExactlyElementsOf(model.keySet());
    assertThat(scanned).isPositive();
  }

  @Test
  void aRowThatHasLeftTheStateIsNotListed() throws IOException {
    put(1, TransitionStateProto.RUNNING, true);
    put(2, TransitionStateProto.RUNNING, true);
    put(1, TransitionStateProto.DONE, false);
    assertThat(list(List.of(TransitionStateProto.RUNNING), 1)).containsExactly(2L);
  }

  private List<Long> list(List<TransitionStateProto> states, int limit) throws IOException {
    List<Long> ids = new ArrayList<>();
    ListTransitionsRequestProto request =
        ListTransitionsRequestProto.newBuilder().addAllStates(states).setLimit(limit).build();
    ListTransitionsResponseProto page;
    do {
      page = listing.transitions(request);
      page.getTransitionsList().forEach(row -> ids.add(row.getId()));
      request = request.toBuilder().setCursor(page.getCursor()).build();
    } while (page.hasCursor());
    return ids;
  }
}
