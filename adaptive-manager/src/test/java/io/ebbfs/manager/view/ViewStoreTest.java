package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.ManagerProtos.ViewPositionRow;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

class ViewStoreTest {
  private static final ViewPositionRow POSITION =
      ViewPositionRow.newBuilder().setNextOffset(7).setChangesLost(0).setTopicId("").build();

  @TempDir private Path directory;

  @Test
  void whatAnEarlierVersionHasFilledIsReadAnew() throws Exception {
    try (ViewStore store = ViewStore.open(directory)) {
      store.putPosition(POSITION);
    }
    try (ViewStore store = ViewStore.open(directory)) {
      assertThat(store.position()).as("of this version").isEqualTo(POSITION);
    }
    putFormat(null);
    try (ViewStore store = ViewStore.open(directory)) {
      assertThat(store.position()).as("before formats had numbers").isNull();
      store.putPosition(POSITION);
    }
    putFormat(2L);
    try (ViewStore store = ViewStore.open(directory)) {
      assertThat(store.position()).as("without replication and leaving files").isNull();
    }
  }

  /**
   * @param number null to delete the format
   */
  private void putFormat(Long number) throws Exception {
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    for (byte[] name : RocksDB.listColumnFamilies(new Options(), directory.toString())) {
      families.add(new ColumnFamilyDescriptor(name));
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (RocksDB db = RocksDB.open(new DBOptions(), directory.toString(), families, handles)) {
      byte[] key = "format".getBytes(StandardCharsets.UTF_8);
      if (number == null) {
        db.delete(key);
      } else {
        db.put(key, ByteBuffer.allocate(8).putLong(number).array());
      }
    }
  }
}
