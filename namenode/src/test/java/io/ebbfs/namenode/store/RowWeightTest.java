package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The estimates of the cache against the heap that the rows really take. */
class RowWeightTest {
  private static final int ROWS = 20_000;
  private static final int PER_PARTITION = 20;
  private static final int MOST_MEASUREMENTS = 3;

  @TempDir Path directory;

  static Stream<Arguments> rows() {
    InodeRow inode =
        InodeRow.newBuilder()
            .setId(1L << 40)
            .setKind(InodeKindProto.FILE)
            .setOwner("somebody")
            .setGroup("supergroup")
            .setPermission(0644)
            .setModifiedMillis(1_700_000_000_000L)
            .setAccessedMillis(1_700_000_000_000L)
            .setBlockSizeBytes(128 << 20)
            .setReplication(3)
            .setLengthBytes(1 << 30)
            .setBlocks(8)
            .build();
    return Stream.of(
        arguments("a file", Tables.INODE, inode, 20),
        arguments("an open file", Tables.INODE, open(inode), 20),
        arguments("a file with a long name", Tables.INODE, inode, 120),
        arguments("a file's name", Tables.INODE_NAME, inodeName(), 0),
        arguments("a block", Tables.BLOCK, block(), 8),
        arguments("a replica", Tables.REPLICA, replica(), 8 + 39),
        arguments("no row", Tables.INODE, null, 20));
  }

  private static Arguments arguments(String name, Table<?> table, MessageLite row, int restBytes) {
    return Arguments.of(name, table, row, restBytes);
  }

  private static InodeRow open(InodeRow file) {
    return file.toBuilder()
        .setUnderConstruction(
            UnderConstructionProto.newBuilder()
                .setClientName("DFSClient_NONMAPREDUCE_1234567890_1")
                .setClientMachine("10.0.0.17"))
        .build();
  }

  private static InodeNameRow inodeName() {
    return InodeNameRow.newBuilder()
        .setParentId(1L << 40)
        .setName(ByteString.copyFrom("part-r-00042.parquet", StandardCharsets.UTF_8))
        .build();
  }

  private static BlockRow block() {
    return BlockRow.newBuilder()
        .setBlockId(1L << 31)
        .setGenerationStamp(1_234_567)
        .setLengthBytes(128 << 20)
        .setState(BlockStateProto.COMPLETE)
        .setReplication(3)
        .build();
  }

  private static ReplicaRow replica() {
    return ReplicaRow.newBuilder()
        .setState(ReplicaStateProto.FINALIZED)
        .setGenerationStamp(1_234_567)
        .setLengthBytes(128 << 20)
        .build();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rows")
  <V extends MessageLite> void aSingleRowTakesNoMoreThanItsWeight(
      String name, Table<V> table, V row, int restBytes) throws IOException {
    check(
        name,
        filled(table, row, restBytes),
        store -> {
          for (int i = 0; i < ROWS; i++) {
            Key key = key(i, restBytes);
            store.transact(0, MetadataStore.Durability.RELAXED, t -> t.get(table, key));
          }
        });
  }

  static Stream<Arguments> scannedRows() {
    return rows().filter(row -> row.get()[1] != Tables.INODE_NAME);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scannedRows")
  <V extends MessageLite> void aPartitionTakesNoMoreThanItsWeight(
      String name, Table<V> table, V row, int restBytes) throws IOException {
    check(
        name + ", by scans",
        filled(table, row, restBytes),
        store -> {
          for (int i = 0; i < ROWS; i += PER_PARTITION) {
            long partition = i / PER_PARTITION;
            store.transact(0, MetadataStore.Durability.RELAXED, t -> t.scan(table, partition));
          }
        });
  }

  private static Key key(int number, int restBytes) {
    byte[] rest = new byte[Math.max(restBytes, 4)];
    for (int i = 0; i < 4; i++) {
      rest[i] = (byte) (number >>> (24 - 8 * i));
    }
    return Key.of(number / PER_PARTITION, rest);
  }

  private <V extends MessageLite> Path filled(Table<V> table, V row, int restBytes)
      throws IOException {
    Path path = directory.resolve("db");
    if (row != null) {
      try (RocksDbStore store = RocksDbStore.open(path, 1_000, 256L << 20)) {
        store.transact(
            0,
            MetadataStore.Durability.RELAXED,
            t -> {
              for (int i = 0; i < ROWS; i++) {
                t.put(table, key(i, restBytes), row);
              }
              return null;
            });
      }
    }
    return path;
  }

  private interface Reads {
    void from(RocksDbStore store) throws IOException;
  }

  /**
   * Compares the heap that rows take with their weight. The heap of this process shrinks when some
   * earlier test lets go of its objects, so a measurement that is out of bounds is made again.
   */
  private static void check(String name, Path path, Reads reads) throws IOException {
    boolean fits = false;
    for (int i = 0; !fits && i < MOST_MEASUREMENTS; i++) {
      try (RocksDbStore store = RocksDbStore.open(path, 1_000, 256L << 20)) {
        long before = usedHeap();
        reads.from(store);
        long heap = usedHeap() - before;
        long weight = store.cachedBytes();
        System.out.printf(
            "%s: %d bytes on the heap, %d counted%n", name, heap / ROWS, weight / ROWS);
        fits = weight >= heap * 0.98 && weight <= heap * 2;
      }
    }
    assertThat(fits).as("%s: bytes counted / bytes on the heap is in 0.98 .. 2", name).isTrue();
  }

  private static long usedHeap() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
