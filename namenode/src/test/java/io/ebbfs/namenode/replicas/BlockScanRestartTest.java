package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the scan of all blocks has found, and where it stands, outlives the namenode. */
class BlockScanRestartTest {
  /** Blocks of one tick: a page of the scan. */
  private static final int STRETCH = 200;

  private static final int BLOCKS = 2 * STRETCH + 100;
  private static final long FIRST_OWNER = 1_000_000;

  @TempDir Path directory;

  private RocksDbStore open() throws IOException {
    return RocksDbStore.open(directory.resolve("store"));
  }

  private static RedundancySettings slowScan() {
    return new RedundancySettings(
        10_000, 3_000, 20_000, 15_000, 4, 100, 5_000, 4_000, STRETCH, 10_000);
  }

  private static Map<String, Long> blocksByDisk(BlockFixture f) {
    Map<String, Long> blocks = new TreeMap<>();
    f.servers
        .values()
        .forEach(s -> s.storages().forEach(disk -> blocks.put(disk, f.manager.blocksOn(disk))));
    return blocks;
  }

  private static long sum(Map<String, Long> blocks) {
    return blocks.values().stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void theBlocksOfADiskAreKnownRightAfterARestart() throws IOException {
    BlockFixture f;
    Map<String, Long> before;
    try (RocksDbStore store = open()) {
      f = new BlockFixture(5, 4, 1, BlockFixture.settings(), store);
      f.registerAll();
      f.second();
      for (int i = 0; i < 6; i++) {
        f.writeFile(3);
      }
      f.seconds(70);
      before = blocksByDisk(f);
      assertThat(sum(before)).isEqualTo(18);
    }
    try (RocksDbStore store = open()) {
      f.startNamenode(store);
      f.manager.tick();
      assertThat(blocksByDisk(f)).as("no server has registered").isEqualTo(before);
      assertThat(f.manager.scan().completedMillis().orElseThrow())
          .isBetween(f.clock.millis() - 70_000, f.clock.millis());
    }
  }

  /** Before the first pass has ended, a disk has what it has reported. */
  @Test
  void withoutAPassTheReportsOfTheDisksCount() throws IOException {
    try (RocksDbStore store = open()) {
      BlockFixture f = new BlockFixture(5, 4, 1, BlockFixture.settings(), store);
      f.registerAll();
      for (int i = 0; i < 6; i++) {
        f.writeFile(3);
      }
      f.deliverAll();
      f.startNamenode();
      f.registerAll();
      assertThat(f.manager.scan().completedMillis()).isEmpty();
      assertThat(sum(blocksByDisk(f))).isEqualTo(18);
    }
  }

  /** Each namenode lives for one tick, which visits less than half of the blocks. */
  @Test
  void namenodesThatLiveForLessThanAPassVisitAllBlocks() throws IOException {
    try (RocksDbStore store = open()) {
      BlockFixture f = new BlockFixture(5, 4, 1, slowScan(), store);
      addBlocks(store);
      for (int start = 0; start < 3; start++) {
        assertThat(f.manager.scan().completedMillis()).isEmpty();
        f.startNamenode();
        f.cluster.setSafeMode(false);
        f.clock.advance(1_000);
        f.manager.tick();
      }
      assertThat(f.manager.scan().completedMillis()).hasValue(f.clock.millis());
      assertThat(f.manager.scan().rows()).isEqualTo(BLOCKS);
    }
  }

  private static void addBlocks(RocksDbStore store) throws IOException {
    store.transact(
        FIRST_OWNER,
        t -> {
          for (int i = 0; i < BLOCKS; i++) {
            t.put(
                Tables.BLOCK,
                Tables.block(FIRST_OWNER + i, 0),
                BlockRow.newBuilder()
                    .setBlockId(FIRST_OWNER + i)
                    .setGenerationStamp(1001)
                    .setLengthBytes(0)
                    .setState(BlockStateProto.UNDER_CONSTRUCTION)
                    .setReplication(3)
                    .build());
          }
          return null;
        });
  }
}
