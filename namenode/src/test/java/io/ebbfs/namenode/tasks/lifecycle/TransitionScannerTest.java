package io.ebbfs.namenode.tasks.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The index learns of transitions that another namenode has committed. */
class TransitionScannerTest {
  private static final int MORE_THAN_A_TICK = 450;

  private final InMemoryStore store = new InMemoryStore();
  private final TransitionIndex index = new TransitionIndex();
  private final TransitionScanner scanner = new TransitionScanner(store, index);

  private void commit(long id, TransitionStateProto state) throws IOException {
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
  }

  @Test
  void transitionsThatAnotherNamenodePlansAreFound() throws IOException {
    for (long id = 1; id <= MORE_THAN_A_TICK; id++) {
      commit(id, TransitionStateProto.PLANNED);
    }
    for (int i = 0; i < 3; i++) {
      scanner.tick();
    }
    assertThat(index.activeCount()).isEqualTo(MORE_THAN_A_TICK);
  }

  @Test
  void endsAndBeginsAreSeenInTheNextRound() throws IOException {
    commit(1, TransitionStateProto.PLANNED);
    scanner.tick();
    commit(1, TransitionStateProto.DONE);
    commit(2, TransitionStateProto.RUNNING);
    scanner.tick();
    assertThat(index.isActive(1)).isFalse();
    assertThat(index.isRunning(2)).isTrue();
  }
}
