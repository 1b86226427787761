package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBatch;

/** Our encoding of a batch against RocksDB's own. */
class BatchBytesTest {
  @TempDir Path directory;

  @Test
  void aBatchHasTheBytesThatRocksDbWouldWrite() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    RocksDB.loadLibrary();
    try (RocksDB database = RocksDB.open(directory.toString())) {
      List<ColumnFamilyHandle> families = new ArrayList<>();
      for (int i = 0; i < 200; i++) { // ids of one byte and of two
        families.add(
            database.createColumnFamily(new ColumnFamilyDescriptor(("family" + i).getBytes())));
      }
      for (int round = 0; round < 200; round++) {
        int shift = random.nextInt(families.size() - Tables.ALL.size());
        Map<RowKey, MessageLite> writes = randomWrites(random);
        byte[] ours = BatchBytes.of(writes, table -> families.get(table.order() + shift).getID());
        try (WriteBatch theirs = new WriteBatch()) {
          for (Map.Entry<RowKey, MessageLite> write : writes.entrySet()) {
            ColumnFamilyHandle family = families.get(write.getKey().table().order() + shift);
            byte[] key = write.getKey().key().encode();
            if (write.getValue() == null) {
              theirs.delete(family, key);
            } else {
              theirs.put(family, key, write.getValue().toByteArray());
            }
          }
          assertThat(ours).as("seed %d, round %d", seed, round).isEqualTo(theirs.data());
        }
      }
      families.forEach(ColumnFamilyHandle::close);
    }
  }

  private static Map<RowKey, MessageLite> randomWrites(Random random) {
    Map<RowKey, MessageLite> writes = new LinkedHashMap<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      byte[] rest = new byte[random.nextInt(300)];
      random.nextBytes(rest);
      Table<?> table = Tables.ALL.get(random.nextInt(Tables.ALL.size()));
      SettingRow row = SettingRow.newBuilder().setValue("x".repeat(random.nextInt(20_000))).build();
      writes.put(
          new RowKey(table, Key.of(random.nextLong(), rest)), random.nextInt(3) == 0 ? null : row);
    }
    return writes;
  }
}
