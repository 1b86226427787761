package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random lives of a cluster: writes, deletions, encodings, dead servers, failed disks, lost and
 * corrupt replicas, namenode restarts, reports that overtake each other or come twice. The contents
 * of the simulated disks are the oracle.
 */
class BlockManagerPropertyTest {
  private static final int STEPS = 400;
  private static final int SERVERS = 6;

  /** One life; not thread-safe. */
  private static final class Life {
    private final long seed;
    private final BlockFixture f;
    // Lost or bad replicas, as storage + block, that no report has revealed.
    private final Set<String> secretlyBad = new TreeSet<>();
    private long notes;

    Life(long seed) throws IOException {
      this.seed = seed;
      this.f = new BlockFixture(seed, SERVERS, 3);
      f.witness = this::deletedByOrder;
      f.registerAll();
    }

    /** No order may delete the last good replica that a report has named. */
    private void deletedByOrder(
        SimulatedServer server, String storage, org.apache.hadoop.hdfs.protocol.Block block) {
      if (!f.blocks.containsKey(block.getBlockId())
          || secretlyBad.contains(storage + block.getBlockId())) {
        return;
      }
      Set<String> others = new TreeSet<>(f.physical(block.getBlockId()));
      others.remove(storage);
      boolean secretlyLostElsewhere =
          secretlyBad.stream().anyMatch(s -> s.endsWith(String.valueOf(block.getBlockId())));
      assertThat(others.size() + (secretlyLostElsewhere ? 1 : 0))
          .as(
              "seed %d: other replicas of block %d as %s is deleted",
              seed, block.getBlockId(), storage)
          .isPositive();
    }

    void run() throws IOException {
      for (int step = 0; step < STEPS; step++) {
        step();
        deliverSome();
        checkNotes();
        if (f.random.nextInt(3) == 0) {
          f.clock.advance(f.random.nextInt(1_500));
          beatAndTick();
        }
      }
      settle();
    }

    private void beatAndTick() throws IOException {
      for (SimulatedServer server : f.servers.values()) {
        if (f.random.nextInt(5) != 0) {
          server.heartbeat(f.frontEnd);
        }
      }
      f.manager.tick();
    }

    private void deliverSome() throws IOException {
      for (SimulatedServer server : f.servers.values()) {
        while (server.hasIncremental() && isKnown(server) && f.random.nextInt(4) != 0) {
          server.deliverIncremental(f.frontEnd, f.random.nextInt(5) == 0);
        }
        // Full reports of all disks are under way, and incremental reports overtake them.
        while (server.hasFull() && f.random.nextInt(3) != 0) {
          server.deliverFull(f.frontEnd);
        }
      }
    }

    private boolean isKnown(SimulatedServer server) {
      return f.cluster.server(server.uuid).filter(ClusterView.Server::live).isPresent();
    }

    private void step() throws IOException {
      switch (f.random.nextInt(15)) {
        case 0, 1, 2, 3 -> write();
        case 4 -> delete();
        case 5 -> replicate();
        case 6 -> encode();
        case 7 -> kill();
        case 8, 9 -> revive();
        case 10 -> failDisk();
        case 11 -> spoil();
        case 12 -> anyServer().reportAll();
        case 13 -> append();
        default -> restartSometimes();
      }
    }

    private void write() throws IOException {
      if (f.cluster.liveServers().stream().anyMatch(this::hasRoom) && f.blocks.size() < 40) {
        f.writeFile(1 + f.random.nextInt(3));
      }
    }

    private boolean hasRoom(ClusterView.Server server) {
      return server.disks().stream().anyMatch(d -> !d.failed() && d.remainingBytes() > 0);
    }

    private Long anyBlock() {
      List<Long> ids = new ArrayList<>(f.blocks.keySet());
      return ids.isEmpty() ? null : ids.get(f.random.nextInt(ids.size()));
    }

    private SimulatedServer anyServer() {
      return new ArrayList<>(f.servers.values()).get(f.random.nextInt(SERVERS));
    }

    private void delete() throws IOException {
      Long id = anyBlock();
      if (id != null) {
        f.deleteFile(id);
      }
    }

    private void replicate() throws IOException {
      Long id = anyBlock();
      if (id != null) {
        f.setReplication(id, 1 + f.random.nextInt(4));
      }
    }

    private void encode() throws IOException {
      Long id = anyBlock();
      if (id != null && !f.blocks.get(id).hasStripeId()) {
        f.encode(id);
      }
    }

    private void append() throws IOException {
      Long id = anyBlock();
      if (id != null && !f.blocks.get(id).hasStripeId()) {
        f.append(id);
      }
    }

    /** A replica that is noted as verified agrees with its row and with its block. */
    private void checkNotes() throws IOException {
      for (Row<StorageReplicaRow> row : f.store.scanAll(Tables.STORAGE_REPLICA, null, 100_000)) {
        StorageReplicaRow note = row.value();
        if (note.hasVerifiedGenerationStamp()) {
          long id = row.key().firstLong();
          String storage = f.storage(row.key().partition());
          assertThat(f.blocks).as("seed %d: a verified replica", seed).containsKey(id);
          BlockRow block = f.row(id);
          assertThat(f.rows(id))
              .as("seed %d: %s on disk %s verifies %s", seed, note, storage, block)
              .anyMatch(
                  replica ->
                      replica.storageUuid().equals(storage)
                          && ReplicaRows.isGood(block, replica.row()));
          assertThat(block.getState()).isEqualTo(BlockStateProto.COMPLETE);
          assertThat(note.getVerifiedGenerationStamp()).isEqualTo(block.getGenerationStamp());
          assertThat(note.getVerifiedLengthBytes()).isEqualTo(block.getLengthBytes());
          notes++;
        }
      }
    }

    private void kill() {
      if (f.servers.values().stream().filter(s -> s.up).count() > 3) {
        anyServer().kill();
      }
    }

    private void revive() throws IOException {
      for (SimulatedServer server : f.servers.values()) {
        if (!server.up) {
          server.up = true;
          server.register(f.frontEnd);
          return;
        }
      }
    }

    private void failDisk() {
      SimulatedServer server = anyServer();
      if (f.random.nextInt(4) == 0 && server.up && server.disks.size() > 1) {
        String storage = server.storages().get(0);
        server.disks.remove(storage).keySet().forEach(id -> secretlyBad.add(storage + id));
      }
    }

    /** A replica is lost, or found corrupt. */
    private void spoil() throws IOException {
      Long id = anyBlock();
      if (id == null || f.physical(id).size() < 2) {
        return;
      }
      String storage = f.physical(id).iterator().next();
      if (f.random.nextBoolean()) {
        secretlyBad.add(storage + id);
        f.holder(storage).disks.get(storage).remove(id);
      } else {
        secretlyBad.add(storage + id);
        f.manager.reportBad(id, f.blocks.get(id).getGenerationStamp(), storage, "test");
      }
    }

    private void restartSometimes() throws IOException {
      if (f.random.nextInt(4) == 0) {
        f.startNamenode();
      }
    }

    /** All servers come back and report, and time passes: then rows and disks agree. */
    private void settle() throws IOException {
      for (SimulatedServer server : f.servers.values()) {
        if (!server.up) {
          server.up = true;
        }
      }
      f.seconds(30);
      for (int round = 0; round < 3; round++) {
        f.clock.advance(6_000);
        f.servers.values().forEach(SimulatedServer::reportAll);
        f.seconds(25);
      }
      for (BlockRow block : f.blocks.values()) {
        check(block);
      }
      checkNothingIsLeftBehind();
      checkNotes();
      assertThat(notes).as("seed %d: replicas noted as verified", seed).isPositive();
    }

    private void check(BlockRow block) throws IOException {
      long id = block.getBlockId();
      Set<String> physical = f.physical(id);
      Set<String> live = new TreeSet<>(f.liveStorages(id));
      Set<String> rows = new TreeSet<>();
      f.rows(id).forEach(row -> rows.add(row.storageUuid()));
      assertThat(rows).as("seed %d: rows of block %d", seed, id).isEqualTo(physical);
      int wanted = block.hasStripeId() ? 1 : block.getReplication();
      if (!live.isEmpty()) {
        assertThat(live).as("seed %d: live replicas of block %d", seed, id).hasSize(wanted);
        assertThat(physical).as("seed %d: replicas of block %d", seed, id).hasSize(wanted);
        assertThat(live.stream().map(s -> f.holder(s).uuid).distinct().count())
            .as("seed %d: servers of block %d", seed, id)
            .isEqualTo(wanted);
      } else if (block.hasStripeId()) {
        assertThat(f.hintedStripes)
            .as("seed %d: block %d of a stripe is lost", seed, id)
            .contains(block.getStripeId());
      }
    }

    private void checkNothingIsLeftBehind() throws IOException {
      for (SimulatedServer server : f.servers.values()) {
        server.disks.forEach(
            (storage, replicas) ->
                assertThat(f.blocks.keySet())
                    .as("seed %d: owners of what is on disk %s", seed, storage)
                    .containsAll(replicas.keySet()));
      }
      long physical =
          f.servers.values().stream()
              .flatMap(server -> server.disks.values().stream())
              .mapToLong(replicas -> replicas.size())
              .sum();
      List<Row<StorageReplicaRow>> rows = f.store.scanAll(Tables.STORAGE_REPLICA, null, 100_000);
      assertThat(rows).as("seed %d: rows of disks", seed).hasSize((int) physical);
      assertThat(f.manager.pendingReplications())
          .as("seed %d: pending replications", seed)
          .isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13, 21, 34})
  void knownSeeds(long seed) throws IOException {
    new Life(seed).run();
  }

  @Test
  void freshSeeds() throws IOException {
    long first = Long.getLong("ebbfs.seed", System.nanoTime());
    int lives = Integer.getInteger("ebbfs.lives", 12);
    System.out.println("BlockManagerPropertyTest: -Debbfs.seed=" + first);
    for (int i = 0; i < lives; i++) {
      new Life(first + i).run();
    }
  }
}
