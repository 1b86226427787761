package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.StoreBackups;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InvalidationRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.protocol.Block;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replicas of blocks that the store does not know: after a delete, or because the store is old. */
class OrphanReplicasTest {
  private static final long WAIT = 3_600_000;
  private static final long UNKNOWN = (1L << 30) + 77_000_000;

  @TempDir Path directory;

  private static BlockFixture cluster(MetadataStore store) throws IOException {
    BlockFixture f = new BlockFixture(5, 5, 2, BlockFixture.settings().withOrphanWait(WAIT), store);
    f.registerAll();
    f.second();
    return f;
  }

  private static SimulatedServer anyServer(BlockFixture f) {
    return f.servers.values().iterator().next();
  }

  /** A server that has none of these disks. */
  private static SimulatedServer serverWithout(BlockFixture f, Set<String> disks) {
    return f.servers.values().stream()
        .filter(server -> server.storages().stream().noneMatch(disks::contains))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aReplicaOfAnUnknownBlockWaitsBeforeItIsDeleted() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    SimulatedServer server = anyServer(f);
    server.writeQuietly(server.storages().get(0), new Block(UNKNOWN, 100, 5000));
    server.register(f.frontEnd);
    f.seconds(30);
    assertThat(f.physical(UNKNOWN)).hasSize(1);
    assertThat(f.manager.orphanReplicas()).isEqualTo(1);
    assertThat(f.manager.orphanBytes()).isEqualTo(100);
    for (long waited = 0; waited < WAIT + 60_000; waited += 2_000) {
      f.clock.advance(1_000);
      f.second();
    }
    assertThat(f.physical(UNKNOWN)).isEmpty();
    f.seconds(10);
    assertThat(f.manager.orphanReplicas()).isZero();
  }

  /** A restart does not shorten the wait: the clock of the machine may have been wrong before. */
  @Test
  void theWaitIsCountedFromTheStartToo() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    SimulatedServer server = anyServer(f);
    server.writeQuietly(server.storages().get(0), new Block(UNKNOWN, 100, 5000));
    server.register(f.frontEnd);
    f.seconds(3);
    f.clock.advance(10 * WAIT);
    f.startNamenode();
    f.registerAll();
    f.seconds(30);
    assertThat(f.physical(UNKNOWN)).hasSize(1);
  }

  @Test
  void theReplicasOfADeletedFileGoAtOnceAlsoAfterARestart() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    BlockRow block = f.writeFile(3);
    f.seconds(3);
    SimulatedServer away = f.holder(f.physical(block.getBlockId()).iterator().next());
    away.kill();
    f.deleteFile(block.getBlockId());
    f.startNamenode();
    away.up = true;
    f.registerAll();
    f.seconds(5);
    assertThat(f.physical(block.getBlockId())).isEmpty();
    f.seconds(5);
    assertThat(f.store.scanAll(Tables.INVALIDATION, null, 10)).isEmpty();
  }

  /** A writer raised the stamp on one server only, and the file was closed under the old stamp. */
  @Test
  void aReplicaThatWasLeftOpenUnderANewerStampIsReplaced() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    BlockRow block = f.writeFile(3);
    f.seconds(3);
    String storage = f.physical(block.getBlockId()).iterator().next();
    leaveOpen(f, f.holder(storage), storage, block, block.getGenerationStamp() + 1);
    assertThat(f.liveStorages(block.getBlockId())).hasSize(3).containsAll(closed(f, block));
  }

  /** A pipeline went on without this server, which holds the bytes of before. */
  @Test
  void aReplicaThatWasLeftOpenUnderAnOlderStampIsDeleted() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    BlockRow block = f.writeFile(3);
    f.seconds(3);
    Set<String> holders = Set.copyOf(f.physical(block.getBlockId()));
    SimulatedServer other = serverWithout(f, holders);
    String storage = other.storages().get(0);
    leaveOpen(f, other, storage, block, block.getGenerationStamp() - 1);
    assertThat(closed(f, block)).isEqualTo(holders);
  }

  private static void leaveOpen(
      BlockFixture f, SimulatedServer server, String storage, BlockRow block, long stamp)
      throws IOException {
    server.leaveOpen(storage, new Block(block.getBlockId(), block.getLengthBytes(), stamp));
    server.register(f.frontEnd);
    f.seconds(40);
    assertThat(server.disks.get(storage).values())
        .as("the replica that was left open")
        .noneMatch(
            replica ->
                replica.getBlockId() == block.getBlockId()
                    && replica.getGenerationStamp() == stamp);
  }

  private static Set<String> closed(BlockFixture f, BlockRow block) {
    return Set.copyOf(f.physical(block.getBlockId()));
  }

  /** A re-replication was under way when the file was deleted. */
  @Test
  void aCopyThatArrivesAfterTheDeleteOfItsFileGoesAtOnce() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    BlockRow block = f.writeFile(2);
    f.seconds(3);
    Set<String> holders = Set.copyOf(f.physical(block.getBlockId()));
    f.deleteFile(block.getBlockId());
    SimulatedServer late = serverWithout(f, holders);
    late.write(late.storages().get(0), new Block(block.getBlockId(), block.getLengthBytes(), 1001));
    f.seconds(5);
    assertThat(f.physical(block.getBlockId())).isEmpty();
    assertThat(f.manager.orphanReplicas()).isZero();
  }

  /** The deletion is committed, and its rows are not written yet. */
  @Test
  void aReplicaThatIsReportedWhileItsBlockIsDeletedGoesAtOnce() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    BlockRow block = f.writeFile(2);
    f.seconds(3);
    Set<String> holders = Set.copyOf(f.physical(block.getBlockId()));
    SimulatedServer late = serverWithout(f, holders);
    List<BlockService.Invalidation> gone = f.removeFile(block.getBlockId());
    late.write(late.storages().get(0), new Block(block.getBlockId(), block.getLengthBytes(), 1001));
    f.seconds(1);
    f.manager.invalidate(gone);
    f.seconds(9);
    assertThat(f.physical(block.getBlockId())).isEmpty();
    assertThat(f.manager.orphanReplicas()).isZero();
  }

  /** The rows of a deletion by another namenode tell which block was deleted. */
  @Test
  void aReplicaOfABlockThatAnotherNamenodeDeletedGoesAtOnce() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    BlockRow block = f.writeFile(2);
    f.seconds(3);
    List<BlockService.Invalidation> gone = f.removeFile(block.getBlockId());
    SimulatedServer late = f.holder(gone.get(0).storageUuid());
    late.register(f.frontEnd); // a full report, which finds no rows of the block
    f.seconds(1);
    f.store.transact(
        1,
        t -> {
          t.put(
              Tables.INVALIDATION,
              Tables.invalidation(
                  f.cluster.disk(gone.get(1).storageUuid()).orElseThrow().storageNumber(),
                  block.getBlockId()),
              InvalidationRow.newBuilder()
                  .setGenerationStamp(block.getGenerationStamp())
                  .setLengthBytes(block.getLengthBytes())
                  .build());
          return null;
        });
    f.seconds(12);
    assertThat(f.physical(block.getBlockId())).isEmpty();
    assertThat(f.manager.orphanReplicas()).isZero();
  }

  /** The queue in memory holds two orders for each server; the rows hold all of them. */
  @Test
  void deletionsThatDoNotFitIntoTheQueueAreNotForgotten() throws IOException {
    RedundancySettings small =
        new RedundancySettings(10_000, 3_000, 20_000, 15_000, 4, 100, 5_000, 4_000, 500, 2)
            .withOrphanWait(WAIT);
    BlockFixture f = new BlockFixture(5, 3, 1, small, new InMemoryStore());
    f.registerAll();
    f.second();
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      blocks.add(f.writeFile(3).getBlockId());
    }
    f.seconds(20);
    for (long block : blocks) {
      f.deleteFile(block);
    }
    f.seconds(200);
    for (long block : blocks) {
      assertThat(f.physical(block)).isEmpty();
    }
  }

  @Test
  void nothingIsDeletedInSafeMode() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    BlockRow block = f.writeFile(3);
    f.seconds(3);
    f.cluster.setSafeMode(true);
    f.deleteFile(block.getBlockId());
    f.seconds(30);
    assertThat(f.physical(block.getBlockId())).hasSize(3);
    f.cluster.setSafeMode(false);
    f.seconds(5);
    assertThat(f.physical(block.getBlockId())).isEmpty();
  }

  @Test
  void theSequencesSkipIdsThatAServerReports() throws IOException {
    BlockFixture f = cluster(new InMemoryStore());
    SimulatedServer server = anyServer(f);
    server.writeQuietly(server.storages().get(0), new Block(UNKNOWN, 100, 5_000_000));
    server.register(f.frontEnd);
    f.seconds(3);
    assertThat(f.writeFile(3).getBlockId()).isGreaterThan(UNKNOWN);
    assertThat(f.ids().generationStamps().next()).isGreaterThan(5_000_000);
  }

  /** The namenode is restored from a backup and does not know what was written after it. */
  @Test
  void aRestoredBackupDeletesNothingThatWasWrittenAfterIt() throws IOException {
    BlockFixture f;
    Path backup;
    Map<Long, Set<String>> written = new LinkedHashMap<>();
    BlockRow before;
    try (RocksDbStore store = RocksDbStore.open(directory.resolve("store"))) {
      f = cluster(store);
      before = f.writeFile(3);
      f.seconds(3);
      backup = new StoreBackups(store, directory.resolve("backups"), 0, 3, f.clock).take();
      for (int i = 0; i < 5; i++) {
        long id = f.writeFile(3).getBlockId();
        f.seconds(1);
        written.put(id, new TreeSet<>(f.physical(id)));
      }
    }
    try (RocksDbStore restored = RocksDbStore.open(backup)) {
      f.startNamenode(restored);
      f.registerAll();
      f.seconds(60);
      for (Map.Entry<Long, Set<String>> block : written.entrySet()) {
        assertThat(f.physical(block.getKey())).isEqualTo(block.getValue());
      }
      assertThat(f.manager.orphanReplicas()).isEqualTo(15);
      assertThat(f.liveReplicas(before.getBlockId())).isEqualTo(3);
      assertThat(written).doesNotContainKey(f.writeFile(3).getBlockId());
    }
  }

  /** Ids were given out after the backup, and no server has reported them yet. */
  @Test
  void aRestoredBackupGivesOutNoIdAgain() throws IOException {
    long used;
    Path backup;
    BlockFixture f;
    try (RocksDbStore store = RocksDbStore.open(directory.resolve("store"))) {
      f = cluster(store);
      f.writeFile(1);
      backup = new StoreBackups(store, directory.resolve("backups"), 0, 3, f.clock).take();
      for (int i = 0; i < 3_000; i++) {
        f.ids().blocks().next();
      }
      used = f.ids().blocks().next();
    }
    try (RocksDbStore restored = RocksDbStore.open(backup)) {
      f.startNamenode(restored);
      long first = f.ids().blocks().next();
      assertThat(first).isGreaterThan(used);
      f.startNamenode(restored);
      assertThat(f.ids().blocks().next()).as("once").isBetween(first, first + 10_000);
    }
  }
}
