package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collection;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.FlushOptions;
import org.rocksdb.TableProperties;
import org.rocksdb.WriteOptions;

class RocksDbFilesTest {
  private static final int ROWS = 300_000;
  private static final ByteString NAME = ByteString.copyFromUtf8("f");

  @TempDir Path directory;

  /** A read of a store beyond its cache must not bring a filter of all rows of a file. */
  @Test
  void indexesAndFiltersOfAFileHaveManyParts() throws Exception {
    StoreMemory memory = StoreMemory.of(1L << 30);
    byte[] value = InodeNameRow.newBuilder().setParentId(1).setName(NAME).build().toByteArray();
    try (RocksDbFiles files = RocksDbFiles.open(directory, memory);
        WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
        FlushOptions flush = new FlushOptions()) {
      ColumnFamilyHandle family = files.family(Tables.INODE_NAME);
      for (long id = 0; id < ROWS; id++) {
        byte[] key = ByteBuffer.allocate(Long.BYTES).putLong(id).array();
        files.database().put(family, unlogged, key, value);
      }
      files.database().flush(flush, family);
      files.database().compactRange(family);
      Collection<TableProperties> tables =
          files.database().getPropertiesOfAllTables(family).values();
      // A file without parts counts as one part, so many files would hide it.
      assertThat(tables)
          .singleElement()
          .satisfies(t -> assertThat(t.getIndexPartitions()).isGreaterThan(4));
    }
  }
}
