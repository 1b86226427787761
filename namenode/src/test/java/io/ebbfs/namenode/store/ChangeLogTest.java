package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@link ChangeStreamContract} does not show. */
class ChangeLogTest {
  private static final int MORE_THAN_IS_KEPT = 200_000;

  private final List<Long> files = new ArrayList<>();
  private final InMemoryStore store = new InMemoryStore(1_000);
  private final ChangePublisher publisher =
      new ChangePublisher() {
        @Override
        public boolean publish(ChangedIds ids) {
          Arrays.stream(ids.files()).forEach(files::add);
          return true;
        }

        @Override
        public void publishMark(String mark) {}
      };

  @Test
  void changesBeyondTheMemoryArePublishedFromTheirRows() throws Exception {
    store.changes().open();
    store.changes().publishTo(publisher);
    for (int i = 0; i < MORE_THAN_IS_KEPT; i++) {
      store
          .changes()
          .noteCommitted(new ChangeLog.Change(Key.of(1, i), Usage.NONE, ChangedIds.NONE));
    }
    BlockRow block =
        BlockRow.newBuilder()
            .setBlockId(1)
            .setGenerationStamp(1)
            .setLengthBytes(1)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(3)
            .build();
    store.transact(
        7,
        transaction -> {
          transaction.put(Tables.BLOCK, Tables.block(7, 0), block);
          return null;
        });
    store.changes().fold();
    assertThat(files).containsExactly(7L);
    assertThat(store.scanAll(Tables.CHANGE, null, 10)).isEmpty();
  }

  @Test
  void idsAreSortedAndEachComesOnce() {
    ChangedIds.Builder ids = new ChangedIds.Builder();
    for (long id : new long[] {5, 5, 3, 9, 3, 5, -1, 9}) {
      ids.files.add(id);
    }
    ids.stripes.add(4);
    ChangedIds union = ChangedIds.union(List.of(ids.build(), ids.build(), ChangedIds.NONE));
    assertThat(union.files()).containsExactly(-1, 3, 5, 9);
    assertThat(union.stripes()).containsExactly(4);
    assertThat(union.directories()).isEmpty();
    assertThat(union.count()).isEqualTo(5);
  }
}
