package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.ExcludedServers;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.peers.ClusterViews;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.AdminStates;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

/** Replicated blocks leave a server that is drained. */
class ReplicaDrainTest {
  private static final String LEAVING = "server-00";

  private BlockFixture f;

  private void start(int servers, int files, int replication) throws IOException {
    f = new BlockFixture(7, servers, 2);
    f.registerAll();
    f.seconds(20);
    for (int i = 0; i < files; i++) {
      f.writeFile(replication);
    }
    f.deliverAll();
    f.seconds(3);
  }

  private DrainState state() {
    return f.cluster.server(LEAVING).orElseThrow().drain();
  }

  private void drainedWithin(int seconds) throws IOException {
    for (int i = 0; i < seconds && state() != DrainState.DRAINED; i++) {
      f.second();
    }
    assertThat(state()).isEqualTo(DrainState.DRAINED);
  }

  /** Replicas on servers that stay, as the disks say. */
  private long staying(long blockId) {
    return f.physical(blockId).stream()
        .filter(disk -> !f.holder(disk).uuid.equals(LEAVING))
        .count();
  }

  private long onLeaving() {
    return f.servers.get(LEAVING).disks.values().stream().mapToLong(d -> d.size()).sum();
  }

  @Test
  void blocksAreCopiedAndTheServerKeepsItsReplicasUntilItIsGone() throws IOException {
    start(6, 200, 3);
    long held = onLeaving();
    assertThat(held).isPositive();
    assertThat(f.cluster.startDrain(LEAVING)).isTrue();
    assertThat(state()).isEqualTo(DrainState.DRAINING);
    f.seconds(1);
    DrainProgress progress = f.manager.drain(LEAVING).orElseThrow();
    assertThat(progress.blocks()).isEqualTo(held);
    assertThat(progress.blocksLeft()).isEqualTo(held);
    assertThat(progress.bytesLeft()).isEqualTo(held * BlockFixture.BLOCK_BYTES);
    assertThat(progress.onlyHere()).isZero();
    drainedWithin(120);
    for (long blockId : f.blocks.keySet()) {
      assertThat(staying(blockId)).isEqualTo(3);
    }
    assertThat(onLeaving()).isEqualTo(held);
    f.servers.get(LEAVING).kill();
    f.seconds(30);
    assertThat(f.manager.underReplicatedBlocks()).isZero();
    assertThat(f.manager.pendingReplications()).isZero();
    for (long blockId : f.blocks.keySet()) {
      assertThat(f.liveReplicas(blockId)).isEqualTo(3);
    }
  }

  @Test
  void theEstimateFollowsTheCopiesAndEndsAtNothing() throws IOException {
    start(6, 400, 3);
    f.cluster.startDrain(LEAVING);
    boolean estimated = false;
    for (int i = 0; i < 200 && state() == DrainState.DRAINING; i++) {
      f.second();
      estimated |=
          f.manager
              .drain(LEAVING)
              .filter(p -> p.blocksLeft() > 0 && p.bytesPerSecond() > 0)
              .filter(p -> p.secondsLeft().isPresent())
              .isPresent();
    }
    assertThat(estimated).isTrue();
    assertThat(state()).isEqualTo(DrainState.DRAINED);
    f.second();
    assertThat(f.manager.drain(LEAVING)).isEmpty();
  }

  /** Twenty blocks are looked at in a second, and a server sends one. */
  @Test
  void blocksThatHaveLostReplicasAreCopiedBeforeThoseThatOnlyLeave() throws IOException {
    f =
        new BlockFixture(
            7,
            6,
            2,
            new RedundancySettings(
                10_000, 3_000, 20_000, 15_000, 1, 100, 5_000, 4_000, 20, 10_000));
    f.registerAll();
    f.seconds(20);
    while (onLeaving() < 200) {
      f.writeFile(1);
    }
    List<Long> wanted = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      wanted.add(f.writeFile(3).getBlockId());
    }
    f.deliverAll();
    f.seconds(3);
    f.cluster.startDrain(LEAVING);
    f.seconds(40);
    f.servers.get("server-05").kill();
    f.seconds(60);
    for (long blockId : wanted) {
      assertThat(f.liveReplicas(blockId)).isGreaterThanOrEqualTo(3);
    }
    assertThat(f.manager.drain(LEAVING).orElseThrow().blocksLeft()).isGreaterThan(30);
  }

  @Test
  void newReplicasGoElsewhere() throws IOException {
    start(4, 0, 3);
    f.cluster.startDrain(LEAVING);
    for (int i = 0; i < 50; i++) {
      f.writeFile(3);
    }
    assertThat(onLeaving()).isZero();
    assertThat(
            f.manager.chooseTargets(
                new WriteRequest("/w", 4, BlockFixture.BLOCK_BYTES, "x", Set.of(), Set.of())))
        .hasSize(3);
  }

  @Test
  void readersAreSentToTheServerAfterOthers() throws IOException {
    start(3, 20, 3);
    f.cluster.startDrain(LEAVING);
    for (BlockRow block : f.blocks.values()) {
      long owner = f.ownerOf(block.getBlockId());
      // The reader runs on the same machine as all servers.
      DatanodeInfo[] places =
          f.store
              .transact(owner, t -> f.manager.locate(t, owner, block, 0, "127.0.0.1"))
              .getLocations();
      assertThat(places).hasSize(3);
      assertThat(places[2].getDatanodeUuid()).isEqualTo(LEAVING);
      assertThat(places[2].getAdminState()).isEqualTo(AdminStates.DECOMMISSION_INPROGRESS);
      assertThat(places[0].getAdminState()).isEqualTo(AdminStates.NORMAL);
    }
  }

  @Test
  void theStateOutlivesARestart() throws IOException {
    start(5, 100, 3);
    f.cluster.startDrain(LEAVING);
    f.seconds(2);
    f.startNamenode();
    f.registerAll();
    assertThat(state()).isEqualTo(DrainState.DRAINING);
    drainedWithin(200);
    f.startNamenode();
    assertThat(state()).isEqualTo(DrainState.DRAINED);
    f.registerAll();
    assertThat(state()).isEqualTo(DrainState.DRAINED);
    for (long blockId : f.blocks.keySet()) {
      assertThat(staying(blockId)).isEqualTo(3);
    }
  }

  @Test
  void aServerIsNotDrainedBeforeItHasReported() throws IOException {
    start(5, 20, 3);
    f.cluster.startDrain(LEAVING);
    f.startNamenode();
    for (SimulatedServer server : f.servers.values()) {
      server.register(f.frontEnd);
      server.heartbeat(f.frontEnd);
    }
    f.cluster.setSafeMode(false);
    for (int i = 0; i < 20; i++) {
      f.clock.advance(1_000);
      f.manager.tick();
      f.cluster.heardFrom(LEAVING);
    }
    assertThat(state()).isEqualTo(DrainState.DRAINING);
  }

  /** The rows of a server that has not reported yet may name replicas that it has lost. */
  @Test
  void replicasThatNobodyHasConfirmedSinceTheRestartDoNotCount() throws IOException {
    start(5, 20, 3);
    f.cluster.startDrain(LEAVING);
    drainedWithin(60);
    // All blocks have three replicas elsewhere when the next drain begins.
    f.cluster.endDrain(LEAVING);
    f.cluster.startDrain(LEAVING);
    f.startNamenode();
    for (SimulatedServer server : f.servers.values()) {
      server.register(f.frontEnd);
      server.heartbeat(f.frontEnd);
    }
    SimulatedServer leaving = f.servers.get(LEAVING);
    while (leaving.hasFull()) {
      leaving.deliverFull(f.frontEnd);
    }
    f.cluster.setSafeMode(false);
    for (int i = 0; i < 20; i++) {
      f.clock.advance(1_000);
      f.manager.tick();
      f.servers.keySet().forEach(f.cluster::heardFrom);
    }
    assertThat(state()).isEqualTo(DrainState.DRAINING);
    f.deliverAll();
    drainedWithin(60);
  }

  @Test
  void aServerThatIsTakenBackInTheMiddleCountsAgain() throws IOException {
    start(6, 200, 3);
    f.cluster.startDrain(LEAVING);
    f.seconds(4);
    assertThat(f.manager.drain(LEAVING).orElseThrow().blocksLeft()).isPositive();
    assertThat(f.cluster.endDrain(LEAVING)).isTrue();
    assertThat(f.cluster.endDrain(LEAVING)).isFalse();
    f.seconds(60);
    assertThat(state()).isEqualTo(DrainState.NONE);
    assertThat(f.manager.drain(LEAVING)).isEmpty();
    for (long blockId : f.blocks.keySet()) {
      assertThat(f.physical(blockId)).as("copies in excess are gone").hasSize(3);
    }
    for (int i = 0; i < 30; i++) {
      f.writeFile(6);
    }
    assertThat(onLeaving()).isGreaterThanOrEqualTo(30);
  }

  @Test
  void ordinaryReplicationTakesOverWhenTheServerDies() throws IOException {
    start(6, 200, 3);
    f.cluster.startDrain(LEAVING);
    f.seconds(3);
    f.servers.get(LEAVING).kill();
    drainedWithin(200);
    for (long blockId : f.blocks.keySet()) {
      assertThat(f.liveReplicas(blockId)).isEqualTo(3);
      assertThat(staying(blockId)).isEqualTo(3);
    }
  }

  @Test
  void aDrainThatCannotEndNamesABlockAndEndsOnceAServerJoins() throws IOException {
    start(3, 10, 3);
    f.cluster.startDrain(LEAVING);
    f.seconds(60);
    assertThat(state()).isEqualTo(DrainState.DRAINING);
    DrainProgress progress = f.manager.drain(LEAVING).orElseThrow();
    assertThat(progress.blocksLeft()).isEqualTo(10);
    assertThat(progress.secondsLeft()).isEmpty();
    long first = f.blocks.keySet().iterator().next();
    assertThat(progress.stuck())
        .hasValueSatisfying(
            why ->
                assertThat(why)
                    .contains("block " + first + " has 2 of 3 replicas on servers that stay")
                    .contains("of the 2 servers that take blocks, 2 hold it already"));
    new SimulatedServer(9, 2, f.identity, f.servers, (s, d, b) -> {});
    f.servers.get("server-09").register(f.frontEnd);
    drainedWithin(60);
  }

  /** As in HDFS: a file that wants more replicas than are usual does not keep a server. */
  @Test
  void threeReplicasElsewhereSufficeForAFileThatWantsMore() throws IOException {
    start(4, 10, 4);
    f.cluster.startDrain(LEAVING);
    drainedWithin(30);
    for (long blockId : f.blocks.keySet()) {
      assertThat(staying(blockId)).isEqualTo(3);
    }
  }

  @Test
  void theOnlyReplicaIsCopiedBeforeTheServerIsDrained() throws IOException {
    start(4, 60, 1);
    long held = onLeaving();
    assertThat(held).isPositive();
    f.cluster.startDrain(LEAVING);
    f.seconds(1);
    assertThat(f.manager.drain(LEAVING).orElseThrow().onlyHere()).isEqualTo(held);
    drainedWithin(60);
    for (long blockId : f.blocks.keySet()) {
      assertThat(staying(blockId)).isEqualTo(1);
    }
  }

  /** Fewer replicas are wanted: those that go are on servers that stay. */
  @Test
  void aDrainedServerKeepsItsReplicaWhenOthersBecomeTooMany() throws IOException {
    start(6, 30, 3);
    f.cluster.startDrain(LEAVING);
    drainedWithin(60);
    long held = onLeaving();
    for (long blockId : List.copyOf(f.blocks.keySet())) {
      f.setReplication(blockId, 2);
    }
    f.seconds(20);
    for (long blockId : f.blocks.keySet()) {
      assertThat(staying(blockId)).isEqualTo(2);
    }
    assertThat(onLeaving()).isEqualTo(held);
  }

  @Test
  void aBlockThatIsRecoveredOnTheServerKeepsIt() throws IOException {
    start(4, 0, 1);
    BlockRow block;
    do {
      block = f.writeFile(1);
      f.deliverAll();
    } while (f.servers.get(LEAVING).disks.values().stream().allMatch(disk -> disk.isEmpty()));
    f.commitByRecovery(block.getBlockId(), 2);
    f.cluster.startDrain(LEAVING);
    drainedWithin(60);
    assertThat(staying(block.getBlockId())).isEqualTo(2);
  }

  /** Opens a file whose last block a client writes to these disks; the file has three blocks. */
  private long openFile(List<String> pipeline) throws IOException {
    long fileId = f.ids().inodes().next();
    byte[] name = ("open" + fileId).getBytes(StandardCharsets.UTF_8);
    BlockRow block =
        BlockRow.newBuilder()
            .setBlockId(f.ids().blocks().next())
            .setGenerationStamp(2002)
            .setLengthBytes(0)
            .setState(BlockStateProto.UNDER_CONSTRUCTION)
            .setReplication(pipeline.size())
            .addAllPipelineStorageUuids(pipeline)
            .build();
    f.store.transact(
        fileId,
        t -> {
          t.put(
              Tables.INODE_NAME,
              Tables.inodeName(fileId),
              InodeNameRow.newBuilder().setParentId(1).setName(ByteString.copyFrom(name)).build());
          t.put(
              Tables.INODE,
              Tables.inode(1, name),
              InodeRow.newBuilder()
                  .setId(fileId)
                  .setKind(InodeKindProto.FILE)
                  .setOwner("o")
                  .setGroup("g")
                  .setPermission(0644)
                  .setModifiedMillis(1)
                  .setBlocks(3)
                  .build());
          t.put(Tables.BLOCK, Tables.block(fileId, 2), block);
          LeaseRows.add(t, "client", fileId, f.clock.millis());
          return null;
        });
    return fileId;
  }

  private List<String> disksOf(String... servers) {
    return Stream.of(servers)
        .map(uuid -> f.cluster.server(uuid).orElseThrow().disks().get(0).storageUuid())
        .toList();
  }

  /** After a repair of its pipeline the block has a stamp that no row of a replica has. */
  @Test
  void aBlockThatIsWrittenToTheServerKeepsItUntilTheBlockIsComplete() throws IOException {
    start(5, 20, 3);
    for (int i = 0; i < 1_100; i++) {
      openFile(disksOf("server-01", "server-02"));
    }
    long other = openFile(disksOf("server-01", "server-02"));
    long fileId = openFile(disksOf(LEAVING, "server-01"));
    assertThat(f.manager.writtenToLeavingServers(List.of(other, fileId))).isEmpty();
    f.cluster.startDrain(LEAVING);
    assertThat(f.manager.writtenToLeavingServers(List.of(other))).isEmpty();
    assertThat(f.manager.writtenToLeavingServers(List.of(other, fileId))).containsExactly(fileId);
    f.seconds(60);
    assertThat(state()).isEqualTo(DrainState.DRAINING);
    DrainProgress progress = f.manager.drain(LEAVING).orElseThrow();
    assertThat(progress.blocksLeft()).isEqualTo(1);
    assertThat(progress.openLeft()).isEqualTo(1);
    assertThat(progress.stuck())
        .hasValueSatisfying(
            why ->
                assertThat(why)
                    .contains("is being written to the server")
                    .contains("its file " + fileId + " is closed"));
    f.store.transact(
        fileId,
        t -> {
          BlockRow open = t.get(Tables.BLOCK, Tables.block(fileId, 2)).orElseThrow();
          t.put(
              Tables.BLOCK,
              Tables.block(fileId, 2),
              open.toBuilder()
                  .setState(BlockStateProto.COMPLETE)
                  .clearPipelineStorageUuids()
                  .build());
          return null;
        });
    drainedWithin(30);
  }

  @Test
  void theListOfExcludedServersDrainsAndTakesBack() throws IOException {
    start(5, 20, 3);
    // All simulated servers are on one host: only a name with the port fits one of them.
    ExcludedServers list = new ExcludedServers(Set.of("localhost:10000", "unheard.example"));
    assertThat(f.cluster.exclude(list)).containsExactly("unheard.example");
    assertThat(state()).isEqualTo(DrainState.DRAINING);
    assertThatThrownBy(() -> f.cluster.endDrain(LEAVING))
        .hasMessageContaining("take it out of the file")
        .hasMessageContaining("localhost:10000");
    drainedWithin(60);
    assertThat(f.cluster.exclude(list)).containsExactly("unheard.example");
    assertThat(state()).isEqualTo(DrainState.DRAINED);
    f.startNamenode();
    f.registerAll();
    assertThat(state()).isEqualTo(DrainState.DRAINED);
    f.cluster.exclude(ExcludedServers.NONE);
    assertThat(state()).isEqualTo(DrainState.NONE);
  }

  @Test
  void aServerThatTheListNamesIsDrainedWhenItRegisters() throws IOException {
    start(4, 0, 3);
    f.cluster.exclude(new ExcludedServers(Set.of("127.0.0.1:10009")));
    f.startNamenode();
    f.registerAll();
    new SimulatedServer(9, 1, f.identity, f.servers, (s, d, b) -> {});
    f.servers.get("server-09").register(f.frontEnd);
    assertThat(f.cluster.server("server-09").orElseThrow().drain()).isEqualTo(DrainState.DRAINING);
    assertThat(state()).isEqualTo(DrainState.NONE);
  }

  @Test
  void aListLeavesADrainAloneThatAnOperatorBegan() throws IOException {
    start(4, 0, 3);
    f.cluster.startDrain(LEAVING);
    assertThat(f.cluster.startDrain(LEAVING)).isFalse();
    f.cluster.exclude(ExcludedServers.NONE);
    assertThat(state()).isEqualTo(DrainState.DRAINING);
    assertThatThrownBy(() -> f.cluster.startDrain("nobody"))
        .hasMessageContaining("no chunk server has the uuid 'nobody'");
  }

  @Test
  void aDrainThatBeganAnewIsNotEndedByTheWalksBefore() throws IOException {
    start(4, 0, 3);
    f.cluster.startDrain(LEAVING);
    long started = f.cluster.drainStartedMillis(LEAVING);
    f.second();
    f.cluster.endDrain(LEAVING);
    f.cluster.startDrain(LEAVING);
    assertThat(f.cluster.finishDrain(LEAVING, started)).isFalse();
    f.second();
    assertThat(state()).as("after one walk").isEqualTo(DrainState.DRAINING);
    f.second();
    assertThat(state()).as("after two walks").isEqualTo(DrainState.DRAINED);
  }

  /** Makes stripe members of blocks with one replica until the server has so many. */
  private List<Long> membersOnLeaving(int count) throws IOException {
    while (onLeaving() < count) {
      f.writeFile(1);
      f.deliverAll();
    }
    List<Long> members = new ArrayList<>();
    for (long blockId : List.copyOf(f.blocks.keySet())) {
      assertThat(f.encode(blockId)).isTrue();
      if (staying(blockId) == 0) {
        members.add(blockId);
      }
    }
    return members;
  }

  @Test
  void aMemberOfAStripeKeepsTheServerAsLongAsItIsThere() throws IOException {
    start(5, 0, 1);
    long member = membersOnLeaving(1).get(0);
    f.cluster.startDrain(LEAVING);
    f.seconds(30);
    assertThat(state()).isEqualTo(DrainState.DRAINING);
    assertThat(f.manager.drain(LEAVING).orElseThrow().onlyHere()).isEqualTo(1);
    assertThat(f.hintedStripes).containsExactly(f.row(member).getStripeId());
    f.deleteFile(member);
    drainedWithin(30);
  }

  @Test
  void stripesThatLeaveTakeNoRoomFromDamagedOnes() throws IOException {
    f = new BlockFixture(7, 5, 2);
    f.maxHints = 5;
    f.startNamenode();
    f.registerAll();
    f.seconds(20);
    membersOnLeaving(20);
    f.cluster.startDrain(LEAVING);
    f.seconds(3);
    assertThat(f.stripes.takeHints(false, 100)).isEmpty();
    assertThat(f.stripes.takeLeaving(100)).as("bounded").hasSize(5);
  }

  @Test
  void aListThatNamesTheServerMeanwhileDoesNotEndTheDrainOfAnAction() throws IOException {
    start(4, 0, 3);
    f.cluster.startDrain(LEAVING);
    f.cluster.exclude(new ExcludedServers(Set.of("localhost:10000")));
    f.startNamenode();
    f.registerAll();
    f.cluster.exclude(ExcludedServers.NONE);
    assertThat(state()).isNotEqualTo(DrainState.NONE);
    assertThat(f.cluster.endDrain(LEAVING)).isTrue();
    assertThat(state()).isEqualTo(DrainState.NONE);
  }

  @Test
  void aServerThatRegistersUnderAnotherNameStaysInTheDrainOfAnAction() throws IOException {
    start(4, 0, 3);
    f.cluster.startDrain(LEAVING);
    Server server = f.cluster.server(LEAVING).orElseThrow();
    f.cluster.exclude(new ExcludedServers(Set.of(server.hostName() + ":10000")));
    f.cluster.register(
        new DatanodeID(
            server.ipAddress(),
            "other.example",
            LEAVING,
            server.transferPort(),
            server.infoPort(),
            0,
            server.ipcPort()));
    assertThat(state()).isNotEqualTo(DrainState.NONE);
    assertThat(f.cluster.endDrain(LEAVING)).isTrue();
  }

  /** Rows of earlier versions tell only whether the file asks for the drain. */
  @Test
  void theRowOfAnEarlierVersionIsTheDrainOfAnActionIfTheFileDoesNotAskForIt() throws IOException {
    start(4, 0, 3);
    f.cluster.startDrain(LEAVING);
    Key key = Tables.named(LEAVING);
    f.store.transact(
        key.partition(),
        t -> {
          ServerRow.Builder row = t.get(Tables.SERVER, key).orElseThrow().toBuilder();
          row.getDrainBuilder().clearByAction();
          t.put(Tables.SERVER, key, row.build());
          return null;
        });
    f.startNamenode();
    f.cluster.exclude(new ExcludedServers(Set.of("localhost:10000")));
    f.cluster.exclude(ExcludedServers.NONE);
    assertThat(state()).isEqualTo(DrainState.DRAINING);
  }

  @Test
  void safeModeDoesNotWaitForAServerThatIsDrained() throws IOException {
    start(5, 20, 3);
    f.cluster.startDrain(LEAVING);
    drainedWithin(60);
    f.servers.get(LEAVING).kill();
    f.startNamenode();
    for (SimulatedServer server : f.servers.values()) {
      if (server.up) {
        server.register(f.frontEnd);
        server.heartbeat(f.frontEnd);
      }
    }
    f.deliverAll();
    assertThat(f.cluster.inSafeMode()).isFalse();
  }

  @Test
  void otherNamenodesLearnOfADrain() throws IOException {
    start(3, 0, 1);
    f.cluster.startDrain(LEAVING);
    assertThat(ClusterViews.servers(ClusterViews.of(f.cluster, f.clock), f.clock))
        .filteredOn(server -> server.drain() == DrainState.DRAINING)
        .extracting(server -> server.uuid())
        .containsExactly(LEAVING);
    f.cluster.finishDrain(LEAVING, f.cluster.drainStartedMillis(LEAVING));
    assertThat(ClusterViews.servers(ClusterViews.of(f.cluster, f.clock), f.clock))
        .filteredOn(server -> server.drain() == DrainState.DRAINED)
        .hasSize(1);
  }
}
