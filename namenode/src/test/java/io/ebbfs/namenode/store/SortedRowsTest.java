package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SortedRowsTest {
  private static final int ROWS = 5_000;

  @TempDir Path directory;
  private RocksDbStore store;

  @BeforeEach
  void open() throws IOException {
    store = RocksDbStore.open(directory);
    store.changes().open();
  }

  @AfterEach
  void close() throws IOException {
    store.close();
  }

  private static BlockOwnerRow owner(long id) {
    return BlockOwnerRow.newBuilder().setOwnerId(id + 7).setIndex(0).build();
  }

  private static ReplicaRow replica(long length) {
    return ReplicaRow.newBuilder()
        .setState(ReplicaStateProto.FINALIZED)
        .setGenerationStamp(1)
        .setLengthBytes(length)
        .build();
  }

  private void add(int from, int to) throws IOException {
    try (SortedRows rows = store.sortedRows()) {
      for (int id = from; id < to; id++) {
        rows.add(Tables.BLOCK_OWNER, Tables.blockOwner(id), owner(id));
        rows.add(Tables.REPLICA, Tables.replica(id, id, "disk"), replica(2));
      }
      rows.finish();
    }
  }

  @Test
  void rowsAreReadChangedAndKept() throws IOException {
    add(ROWS, 2 * ROWS);
    add(0, ROWS);
    store.transact(
        0,
        transaction -> {
          transaction.put(Tables.BLOCK_OWNER, Tables.blockOwner(5), owner(99));
          return null;
        });
    for (int opened = 0; opened < 2; opened++) {
      int[] count = {0};
      store.eachRow(
          Tables.BLOCK_OWNER,
          (key, row) -> {
            assertThat(key).isEqualTo(Tables.blockOwner(count[0]));
            assertThat(row).isEqualTo(owner(count[0] == 5 ? 99 : count[0]));
            count[0]++;
          });
      assertThat(count[0]).isEqualTo(2 * ROWS);
      store.close();
      open();
    }
  }

  @Test
  void theSumsCountTheRows() throws IOException {
    add(0, ROWS);
    assertThat(store.changes().usage().storedBytes()).isEqualTo(2 * ROWS);
    store.changes().fold();
    assertThat(store.changes().usage().storedBytes()).isEqualTo(2 * ROWS);
    assertThat(ChangeLog.stored(store)).contains(ChangeLog.scan(store));
    assertThat(store.changes().changesLost()).isZero();
    assertThat(store.scanAll(Tables.CHANGE, null, 1)).isEmpty();
  }

  @Test
  void noFileIsLeftOver() throws IOException {
    add(0, ROWS);
    try (SortedRows abandoned = store.sortedRows()) {
      abandoned.add(Tables.BLOCK_OWNER, Tables.blockOwner(ROWS), owner(ROWS));
    }
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files.filter(Files::isDirectory)).isEmpty();
    }
    assertThat(store.changes().usage().storedBytes()).isEqualTo(2 * ROWS);
    store.transact(
        0,
        transaction -> {
          assertThat(transaction.get(Tables.BLOCK_OWNER, Tables.blockOwner(ROWS))).isEmpty();
          return null;
        });
  }

  @Test
  void keysOutOfOrderAreRefused() throws IOException {
    try (SortedRows rows = store.sortedRows()) {
      rows.add(Tables.BLOCK_OWNER, Tables.blockOwner(2), owner(2));
      assertThatThrownBy(() -> rows.add(Tables.BLOCK_OWNER, Tables.blockOwner(1), owner(1)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("table 'blockOwner'")
          .hasMessageContaining("order of the keys");
    }
  }
}
