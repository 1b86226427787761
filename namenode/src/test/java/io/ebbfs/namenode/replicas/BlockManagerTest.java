package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfoWithStorage;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.NodeType;
import org.apache.hadoop.hdfs.server.common.StorageInfo;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The block manager, case by case; {@link BlockManagerPropertyTest} mixes the cases. */
class BlockManagerTest {
  private static final long LONG_MILLIS = 600_000;

  private BlockFixture f;

  @BeforeEach
  void start() throws IOException {
    f = new BlockFixture(7, 6, 3);
    f.registerAll();
    f.second();
  }

  private LocatedBlock locate(long blockId) throws IOException {
    long owner = f.ownerOf(blockId);
    return f.store.transact(
        owner, t -> f.manager.locate(t, owner, f.blocks.get(blockId), 42, "127.0.0.1"));
  }

  @Test
  void aNewClusterIsNotInSafeMode() throws IOException {
    assertThat(new BlockFixture(1, 0, 0).cluster.inSafeMode()).isFalse();
  }

  @Test
  void writtenReplicasAreOnDifferentServersAndLocated() throws IOException {
    BlockRow block = f.writeFile(3);
    f.deliverAll();
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(3);
    LocatedBlock located = locate(block.getBlockId());
    Set<String> servers = new HashSet<>();
    Set<String> storages = new TreeSet<>();
    for (DatanodeInfoWithStorage place : located.getLocations()) {
      servers.add(place.getDatanodeUuid());
      storages.add(place.getStorageID());
    }
    assertThat(servers).hasSize(3);
    assertThat(storages).isEqualTo(f.physical(block.getBlockId()));
    assertThat(located.getStartOffset()).isEqualTo(42);
    assertThat(located.isCorrupt()).isFalse();
  }

  @Test
  void aDeadServersBlocksAreCopiedAndItsReturnMakesNoExcessReplica() throws IOException {
    BlockRow block = f.writeFile(3);
    f.second();
    SimulatedServer victim = f.holder(f.physical(block.getBlockId()).iterator().next());
    victim.kill();
    f.seconds(20);
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(3);
    assertThat(f.physical(block.getBlockId())).hasSize(4);
    victim.up = true;
    f.seconds(20);
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(3);
    assertThat(f.physical(block.getBlockId())).hasSize(3);
    assertThat(f.manager.underReplicatedBlocks()).isZero();
  }

  /** Its replicas are reported after the recovery, and no client calls for the file again. */
  @Test
  void aBlockThatARecoveryHasCommittedIsCompletedAndCopied() throws IOException {
    BlockRow block = f.writeFile(1);
    f.commitByRecovery(block.getBlockId(), 3);
    f.seconds(20);
    assertThat(f.row(block.getBlockId()).getState()).isEqualTo(BlockStateProto.COMPLETE);
    assertThat(f.physical(block.getBlockId())).hasSize(3);
  }

  @Test
  void aRestartedNamenodeCompletesTheBlockOfARecovery() throws IOException {
    BlockRow block = f.writeFile(1);
    f.second();
    f.commitByRecovery(block.getBlockId(), 3);
    f.startNamenode();
    f.registerAll();
    f.seconds(40);
    assertThat(f.row(block.getBlockId()).getState()).isEqualTo(BlockStateProto.COMPLETE);
    assertThat(f.physical(block.getBlockId())).hasSize(3);
  }

  /** Its heartbeats wait behind the report. */
  @Test
  void aServerThatSendsALongReportDoesNotDie() throws IOException {
    SimulatedServer server = f.servers.values().iterator().next();
    for (int i = 0; i < 30; i++) {
      f.clock.advance(1_000);
      for (SimulatedServer other : f.servers.values()) {
        if (other != server) {
          other.heartbeat(f.frontEnd);
        }
      }
      server.reportAll();
      server.deliverFull(f.frontEnd);
      f.manager.tick();
      assertThat(f.cluster.server(server.uuid).orElseThrow().live()).isTrue();
    }
  }

  @Test
  void aFailedDisksBlocksAreCopiedAndItsRowsGo() throws IOException {
    BlockRow block = f.writeFile(3);
    f.second();
    String disk = f.physical(block.getBlockId()).iterator().next();
    f.holder(disk).disks.remove(disk);
    f.seconds(10);
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(3);
    assertThat(f.rows(block.getBlockId())).noneMatch(r -> r.storageUuid().equals(disk));
    assertThat(f.cluster.disk(disk).orElseThrow().failed()).isTrue();
  }

  @Test
  void aCorruptReplicaIsReplacedBeforeItGoes() throws IOException {
    BlockRow block = f.writeFile(2);
    f.second();
    String bad = f.physical(block.getBlockId()).iterator().next();
    f.witness =
        (server, storage, b) ->
            assertThat(f.physical(b.getBlockId())).as("whole before a deletion").hasSize(3);
    f.manager.reportBad(block.getBlockId(), 1001, bad, "checksum");
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(1);
    f.seconds(10);
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(2);
    assertThat(f.physical(block.getBlockId())).hasSize(2).doesNotContain(bad);
  }

  /**
   * The checksums of a wrong copy fit its wrong bytes: no client reads a copy before its checks.
   */
  @Test
  void aCopyThatATransitionWritesIsNotReadBeforeItsCommit() throws IOException {
    BlockRow block = f.writeFile(3);
    f.second();
    Set<String> holders = Set.copyOf(f.physical(block.getBlockId()));
    SimulatedServer other = serverWithout(holders);
    String disk = other.storages().get(0);
    putEncoding(block, disk, TransitionStateProto.RUNNING);
    other.write(disk, new Block(block.getBlockId(), block.getLengthBytes(), 1001));
    f.seconds(5);
    assertThat(f.liveStorages(block.getBlockId())).hasSize(3).doesNotContain(disk);
    assertThat(f.physical(block.getBlockId())).as("kept for the commit").contains(disk);
    putEncoding(block, disk, TransitionStateProto.FAILED);
    f.seconds(30);
    assertThat(f.liveStorages(block.getBlockId())).hasSize(3).doesNotContain(disk);
    assertThat(f.physical(block.getBlockId())).isEqualTo(holders);
  }

  /** The server died before it reported the copy, and the attempt has ended meanwhile. */
  @Test
  void whatAGivenUpAttemptHasWrittenIsNotTrustedWhenAFullReportTellsOfIt() throws IOException {
    BlockRow block = f.writeFile(3);
    f.second();
    Set<String> holders = Set.copyOf(f.physical(block.getBlockId()));
    SimulatedServer other = serverWithout(holders);
    String disk = other.storages().get(0);
    long owner = f.ownerOf(block.getBlockId());
    other.writeQuietly(disk, new Block(block.getBlockId(), block.getLengthBytes(), 1001));
    f.store.transact(
        owner,
        t -> {
          f.manager.distrust(t, owner, block.getBlockId(), 1001, disk);
          return null;
        });
    other.reportAll();
    f.deliverAll();
    assertThat(f.liveStorages(block.getBlockId())).containsExactlyInAnyOrderElementsOf(holders);
    f.seconds(30);
    assertThat(f.physical(block.getBlockId())).isEqualTo(holders);
  }

  private SimulatedServer serverWithout(Set<String> storages) {
    return f.servers.values().stream()
        .filter(s -> s.storages().stream().noneMatch(storages::contains))
        .findFirst()
        .orElseThrow();
  }

  private void putEncoding(BlockRow block, String disk, TransitionStateProto state)
      throws IOException {
    long owner = f.ownerOf(block.getBlockId());
    boolean running = state == TransitionStateProto.RUNNING;
    f.store.transact(
        owner,
        t -> {
          t.put(
              Tables.BLOCK,
              Tables.block(owner, 0),
              running ? block.toBuilder().setTransitionId(77).build() : block);
          t.put(
              Tables.TRANSITION,
              Tables.transition(77),
              TransitionRow.newBuilder()
                  .setId(77)
                  .setKind(TransitionKindProto.ENCODE)
                  .setState(state)
                  .setPolicy("p")
                  .setToCode("PC(2x5)")
                  .setReason("test")
                  .setCreatedMillis(0)
                  .setUpdatedMillis(0)
                  .setPriority(1)
                  .setAttempt(1)
                  .addOutputs(
                      TransitionOutputProto.newBuilder()
                          .setStripeIndex(0)
                          .setPosition(0)
                          .setBlockId(block.getBlockId())
                          .setGenerationStamp(1001)
                          .setLengthBytes(block.getLengthBytes())
                          .setStorageUuid(disk))
                  .build());
          return null;
        });
  }

  @Test
  void theOnlyReplicaOfABlockIsNeverDeletedThoughCorrupt() throws IOException {
    BlockRow block = f.writeFile(1);
    f.second();
    String bad = f.physical(block.getBlockId()).iterator().next();
    f.manager.reportBad(block.getBlockId(), 1001, bad, "checksum");
    f.seconds(30);
    assertThat(f.physical(block.getBlockId())).containsExactly(bad);
    assertThat(f.manager.missingBlocks()).isEqualTo(1);
    assertThat(locate(block.getBlockId()).isCorrupt()).isTrue();
  }

  @Test
  void aWrongLengthIsACorruptReplica() throws IOException {
    BlockRow block = f.writeFile(1);
    f.deliverAll();
    String other =
        f.servers.get("server-00").storages().stream()
            .filter(s -> !f.physical(block.getBlockId()).contains(s))
            .findFirst()
            .orElseThrow();
    f.holder(other).write(other, new Block(block.getBlockId(), 17, 1001));
    f.deliverAll();
    assertThat(f.rows(block.getBlockId()))
        .filteredOn(r -> r.storageUuid().equals(other))
        .allMatch(r -> r.row().getState() == ReplicaStateProto.CORRUPT)
        .hasSize(1);
  }

  @Test
  void unknownBlocksAreDeletedButOutputsOfTransitionsAreKept() throws IOException {
    long output = 5_000_000_000L;
    f.store.transact(
        output,
        t -> {
          t.put(
              Tables.BLOCK_OWNER,
              Tables.blockOwner(output),
              BlockOwnerRow.newBuilder().setTransitionId(9).build());
          return null;
        });
    SimulatedServer server = f.servers.get("server-01");
    String disk = server.storages().get(0);
    server.write(disk, new Block(output, 10, 2000));
    server.write(disk, new Block(output + 1, 10, 2000));
    server.reportAll();
    f.seconds(5);
    assertThat(f.physical(output)).containsExactly(disk);
    assertThat(f.physical(output + 1)).isEmpty();
  }

  @Test
  void aReplicaThatArrivesWhileAReportTravelsIsNotDropped() throws IOException {
    for (SimulatedServer server : f.servers.values()) {
      server.reportAll();
    }
    BlockRow block = f.writeFile(3);
    for (SimulatedServer server : f.servers.values()) {
      while (server.hasIncremental()) {
        server.deliverIncremental(f.frontEnd, false);
      }
      while (server.hasFull()) {
        server.deliverFull(f.frontEnd);
      }
    }
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(3);
  }

  @Test
  void aReplicaThatAFullReportLacksIsReplaced() throws IOException {
    BlockRow block = f.writeFile(2);
    f.seconds(10);
    String gone = f.physical(block.getBlockId()).iterator().next();
    f.holder(gone).disks.get(gone).remove(block.getBlockId());
    f.holder(gone).reportAll();
    f.deliverAll();
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(1);
    f.seconds(5);
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(2);
  }

  @Test
  void aMemberOfAStripeKeepsOneReplicaIsHintedAndServedByProxies() throws IOException {
    BlockRow block = f.writeFile(3);
    f.second();
    assertThat(f.encode(block.getBlockId())).isTrue();
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(1);
    f.seconds(5);
    assertThat(f.physical(block.getBlockId())).hasSize(1);
    assertThat(f.rows(block.getBlockId())).hasSize(1);
    String only = f.physical(block.getBlockId()).iterator().next();
    SimulatedServer holder = f.holder(only);
    DatanodeInfoWithStorage[] places = locate(block.getBlockId()).getLocations();
    assertThat(places).hasSize(4);
    assertThat(places[0].getStorageID()).isEqualTo(only);
    holder.kill();
    f.seconds(15);
    assertThat(f.hintedStripes).contains(f.blocks.get(block.getBlockId()).getStripeId());
    places = locate(block.getBlockId()).getLocations();
    assertThat(places).hasSize(3).noneMatch(p -> p.getDatanodeUuid().equals(holder.uuid));
    assertThat(f.physical(block.getBlockId())).hasSize(1); // never copied here
  }

  @Test
  void keepOnlyRefusesADiskWithoutAGoodReplica() throws IOException {
    BlockRow block = f.writeFile(2);
    f.deliverAll();
    long owner = f.ownerOf(block.getBlockId());
    assertThatThrownBy(
            () -> f.store.transact(owner, t -> f.manager.keepOnly(t, owner, block, "DS-none")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("DS-none");
  }

  @Test
  void aPinnedBlockKeepsItsExcessReplicas() throws IOException {
    BlockRow block = f.writeFile(3);
    f.second();
    long owner = f.ownerOf(block.getBlockId());
    BlockRow pinned = block.toBuilder().setReplication(1).setTransitionId(5).build();
    f.store.transact(
        owner,
        t -> {
          t.put(Tables.BLOCK, Tables.block(owner, 0), pinned);
          return null;
        });
    f.seconds(10);
    assertThat(f.physical(block.getBlockId())).hasSize(3);
    f.store.transact(
        owner,
        t -> {
          t.put(
              Tables.BLOCK, Tables.block(owner, 0), pinned.toBuilder().clearTransitionId().build());
          return null;
        });
    f.seconds(10);
    assertThat(f.physical(block.getBlockId())).hasSize(1);
  }

  @Test
  void afterARestartNothingIsConcludedBeforeServersHadTheirTime() throws IOException {
    BlockRow block = f.writeFile(3);
    f.second();
    f.startNamenode();
    assertThat(f.cluster.inSafeMode()).isTrue();
    f.manager.tick();
    assertThat(f.manager.underReplicatedBlocks()).isZero();
    List<SimulatedServer> all = List.copyOf(f.servers.values());
    all.get(0).kill();
    f.second();
    assertThat(f.cluster.inSafeMode()).isTrue();
    assertThat(f.manager.underReplicatedBlocks()).isZero();
    f.seconds(30);
    assertThat(f.cluster.inSafeMode()).isFalse();
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(3);
    all.get(0).up = true;
    f.seconds(10);
    f.startNamenode();
    f.second();
    assertThat(f.cluster.inSafeMode()).as("all disks have reported").isFalse();
  }

  @Test
  void aStallOfTheNamenodeKillsNobody() throws IOException {
    f.clock.advance(60_000);
    f.manager.tick();
    assertThat(f.cluster.liveServers()).hasSize(6);
    f.clock.advance(1_000);
    f.manager.tick();
    assertThat(f.cluster.liveServers()).isEmpty();
  }

  @Test
  void theGraceCountsFromTheFirstRegistration() throws IOException {
    f.startNamenode();
    f.clock.advance(600_000);
    assertThat(f.cluster.inSafeMode()).isTrue();
    f.servers.get("server-00").register(f.frontEnd);
    assertThat(f.cluster.inSafeMode()).isTrue();
    f.manager.tick(); // there is no block, so every block is readable
    f.clock.advance(19_999);
    assertThat(f.cluster.inSafeMode()).isTrue();
    f.clock.advance(1);
    assertThat(f.cluster.inSafeMode()).isFalse();
  }

  @Test
  void anIdentityThatLivesTwiceIsRefusedAndMovesOnceTheOldOneIsSilent() throws IOException {
    DatanodeRegistration copy =
        new DatanodeRegistration(
            new DatanodeID("127.0.0.1", "localhost", "server-00", 7, 0, 0, 8),
            f.servers.get("server-00").registration().getStorageInfo(),
            null,
            "3.5.0");
    assertThatThrownBy(() -> f.frontEnd.registerDatanode(copy))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("server-00")
        .hasMessageContaining("live one");
    f.clock.advance(3_500);
    f.frontEnd.registerDatanode(copy);
    assertThat(f.cluster.server("server-00").orElseThrow().transferPort()).isEqualTo(7);
  }

  @Test
  void aServerOfAnotherClusterIsRefused() {
    DatanodeRegistration stranger =
        new DatanodeRegistration(
            new DatanodeID("127.0.0.1", "localhost", "stranger", 7, 0, 0, 8),
            new StorageInfo(-57, 1, "CID-other", 0, NodeType.DATA_NODE),
            null,
            "3.5.0");
    assertThatThrownBy(() -> f.frontEnd.registerDatanode(stranger))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("CID-other")
        .hasMessageContaining(f.identity.clusterId());
  }

  @Test
  void noPlaceIsSaidInTheWordsOfHdfsWithReasons() {
    assertThatThrownBy(
            () ->
                f.manager.chooseTargets(
                    new WriteRequest("/x", 3, 1L << 40, "c", Set.of("server-00"), Set.of())))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(
            "File /x could only be written to 0 of the 1 minReplication nodes. There are 6"
                + " datanode(s) running and 1 node(s) are excluded in this operation.")
        .hasMessageContaining("no disk with");
  }

  @Test
  void targetsAreSpreadOverAllDisks() throws IOException {
    Set<String> used = new HashSet<>();
    Set<Set<String>> combinations = new HashSet<>();
    for (int i = 0; i < 60; i++) {
      Set<String> servers = new TreeSet<>();
      for (Target target :
          f.manager.chooseTargets(
              new WriteRequest("/x", 3, 1 << 20, "127.0.0.1", Set.of(), Set.of()))) {
        used.add(target.disk().storageUuid());
        servers.add(target.server().uuid());
      }
      assertThat(servers).hasSize(3);
      combinations.add(servers);
    }
    assertThat(used).hasSize(18);
    assertThat(combinations).hasSizeGreaterThan(10);
  }

  @Test
  void aReplicaReservesAFullBlockOfItsFileUntilItsServerReportsIt() throws IOException {
    BlockRow small = f.writeFile(1);
    // Each of the 18 disks has room for two blocks of this size beside any number of small ones.
    WriteRequest large =
        new WriteRequest("/x", 1, SimulatedServer.CAPACITY * 2 / 5, "c", Set.of(), Set.of());
    for (int i = 0; i < 2 * 18; i++) {
      f.manager.chooseTargets(large);
    }
    assertThatThrownBy(() -> f.manager.chooseTargets(large)).hasMessageContaining("no disk with");
    f.deliverAll();
    assertThat(f.manager.chooseTargets(large).get(0).disk().storageUuid())
        .isEqualTo(locate(small.getBlockId()).getStorageIDs()[0]);
    for (SimulatedServer server : f.servers.values()) {
      server.reportAll();
    }
    f.deliverAll();
    assertThatThrownBy(() -> f.manager.chooseTargets(large))
        .as("a replica that was reported before frees nothing")
        .hasMessageContaining("no disk with");
  }

  @Test
  void fewerTargetsThanAskedIfTheClusterHasNoMore() throws IOException {
    Set<String> chosen = Set.of(f.servers.get("server-00").storages().get(0));
    List<Target> targets =
        f.manager.chooseTargets(
            new WriteRequest("/x", 9, 1 << 20, "c", Set.of("server-01"), chosen));
    assertThat(targets).hasSize(4);
  }

  @Test
  void aWaitForAReplicaEndsWithItsReport() throws Exception {
    BlockRow block = f.writeFile(2);
    long owner = f.ownerOf(block.getBlockId());
    CompletableFuture<Void> waiting = f.manager.firstReplica(owner, block, LONG_MILLIS);
    CompletableFuture<Void> other = f.manager.firstReplica(owner, block, LONG_MILLIS);
    assertThat(waiting).isNotDone();
    f.deliverAll();
    assertThat(waiting).isCompleted();
    assertThat(other).isCompleted();
    assertThat(f.manager.firstReplica(owner, block, LONG_MILLIS)).isCompleted();
  }

  @Test
  void aWaitForAReplicaEndsWithItsTime() throws Exception {
    BlockRow block = f.writeFile(2);
    long owner = f.ownerOf(block.getBlockId());
    f.manager.firstReplica(owner, block, 1).get(1, TimeUnit.MINUTES);
  }

  @Test
  void aReleasedFileLeavesNoRowsAndNoReplicas() throws IOException {
    BlockRow block = f.writeFile(3);
    f.second();
    f.deleteFile(block.getBlockId());
    f.seconds(3);
    assertThat(f.physical(block.getBlockId())).isEmpty();
    List<Row<?>> left = new java.util.ArrayList<>();
    for (var table : List.of(Tables.REPLICA, Tables.STORAGE_REPLICA, Tables.BLOCK)) {
      left.addAll(f.store.scanAll(table, null, 10));
    }
    assertThat(left).isEmpty();
  }

  @Test
  void anOpenBlockIsLeftAloneAndFoundInItsPipeline() throws IOException {
    BlockRow block = f.writeFile(3);
    f.deliverAll();
    long id = block.getBlockId();
    long owner = f.ownerOf(id);
    List<String> pipeline = List.copyOf(f.physical(id));
    BlockRow open =
        block.toBuilder()
            .setState(BlockStateProto.UNDER_CONSTRUCTION)
            .addAllPipelineStorageUuids(pipeline)
            .build();
    f.store.transact(
        owner,
        t -> {
          t.put(Tables.BLOCK, Tables.block(owner, 0), open);
          return null;
        });
    f.blocks.put(id, open);
    assertThat(locate(id).getStorageIDs()).containsExactlyElementsOf(pipeline);
    f.holder(pipeline.get(0)).kill();
    f.seconds(20);
    assertThat(f.physical(id)).hasSize(3);
  }
}
