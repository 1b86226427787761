package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.files.xattrs.ReportedHeat;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import io.ebbfs.namenode.rpc.coding.CodingService;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.LostDiskPassProto;
import io.ebbfs.protocol.proto.StoreProtos.LostDiskRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.protocol.Block;
import org.junit.jupiter.api.Test;

/**
 * All blocks of lost disks are found by the walk over their rows, though far more are hit than the
 * queues hold. The slow scans are as good as switched off.
 */
class LostDiskWalkTest {
  private static final long DAY_MILLIS = 86_400_000;
  private static final int SERVERS = 12;
  private static final int MEMBERS = 9;
  private static final int MAX_HINTS = 50;
  private static final int DEAD_SECONDS = 10;

  private final long seed = Long.getLong("ebbfs.seed", 20_261_123L);
  private final Random random = new Random(seed);
  // The servers of each stripe.
  private final Map<Long, Set<String>> stripes = new LinkedHashMap<>();
  private BlockFixture f;
  private CodingService coding;
  private TransitionSettings transitions;

  private static RedundancySettings settings(int queueLimit) {
    return new RedundancySettings(
        1_000L * DEAD_SECONDS, 3_000, 20_000, 15_000, 4, 100, 5_000, DAY_MILLIS, 200, queueLimit);
  }

  private void start(RedundancySettings settings, int maxActive) throws IOException {
    System.out.println("LostDiskWalkTest: -Debbfs.seed=" + seed);
    transitions =
        new TransitionSettings(
                6,
                1_000,
                60_000,
                600_000,
                256,
                maxActive,
                10_000,
                10_000,
                40,
                1,
                2.0,
                TransitionSettings.defaults().verification(),
                false)
            .withRepairDelay(settings.repairDelayMillis());
    f = new BlockFixture(seed, SERVERS, 1, settings);
    f.maxHints = MAX_HINTS;
    startNamenode();
    f.seconds(2);
  }

  /** Starts or restarts the namenode; what it had in memory is lost. */
  private void startNamenode() throws IOException {
    f.startNamenode();
    coding =
        new CodingService(
            "BP",
            CodeRegistry.builtIn(),
            f.store,
            IdGenerators.of(f.store),
            f.manager,
            new BlockCounts(() -> 0, () -> 0, disk -> 0),
            f.cluster,
            f.cluster,
            f.stripes,
            new ReportedHeat(f.clock),
            f.clock,
            random,
            transitions);
    for (SimulatedServer server : f.servers.values()) {
      if (server.up) {
        server.register(f.frontEnd);
        server.heartbeat(f.frontEnd);
      }
    }
    f.deliverAll();
  }

  private void tick() throws IOException {
    f.second();
    coding.tick();
  }

  /** Writes stripes of RS(6,3) with each member on another server. */
  private void writeStripes(int count) throws IOException {
    List<SimulatedServer> servers = new ArrayList<>(f.servers.values());
    for (int i = 0; i < count; i++) {
      Collections.shuffle(servers, random);
      long id = f.ids().inodes().next();
      StripeRow.Builder stripe =
          StripeRow.newBuilder()
              .setId(id)
              .setCode("RS(6,3)")
              .setUnitLengthBytes(BlockFixture.BLOCK_BYTES)
              .setGeneration(1)
              .setPolicy("test")
              .setCreatedMillis(1);
      List<BlockRow> blocks = new ArrayList<>();
      Set<String> on = new TreeSet<>();
      for (int position = 0; position < MEMBERS; position++) {
        BlockRow block =
            BlockRow.newBuilder()
                .setBlockId(f.ids().blocks().next())
                .setGenerationStamp(1001)
                .setLengthBytes(BlockFixture.BLOCK_BYTES)
                .setState(BlockStateProto.COMPLETE)
                .setReplication(1)
                .setStripeId(id)
                .setStripePosition(position)
                .build();
        blocks.add(block);
        stripe.addMembers(
            StripeMemberProto.newBuilder()
                .setPosition(position)
                .setBlockId(block.getBlockId())
                .setGenerationStamp(1001)
                .setLengthBytes(BlockFixture.BLOCK_BYTES)
                .setOwnerId(id)
                .setOwnerIndex(position));
      }
      f.store.transact(
          id,
          t -> {
            t.put(Tables.STRIPE, Tables.stripe(id), stripe.build());
            for (int position = 0; position < MEMBERS; position++) {
              BlockRows.putBlock(t, id, position, blocks.get(position));
              BlockRows.addReplica(
                  t,
                  f.cluster,
                  id,
                  blocks.get(position).getBlockId(),
                  1001,
                  BlockFixture.BLOCK_BYTES,
                  disk(servers.get(position)));
            }
            return null;
          });
      for (int position = 0; position < MEMBERS; position++) {
        SimulatedServer server = servers.get(position);
        on.add(server.uuid);
        server.writeQuietly(
            disk(server),
            new Block(blocks.get(position).getBlockId(), BlockFixture.BLOCK_BYTES, 1001));
      }
      stripes.put(id, on);
    }
  }

  private static String disk(SimulatedServer server) {
    return server.disks.keySet().iterator().next();
  }

  /** The stripes that have lost so many members at least. */
  private Set<Long> hit(Set<String> dead, int members) {
    return stripes.entrySet().stream()
        .filter(stripe -> stripe.getValue().stream().filter(dead::contains).count() >= members)
        .map(Map.Entry::getKey)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private Set<Long> inRepair() throws IOException {
    Set<Long> stripesInRepair = new TreeSet<>();
    for (Row<TransitionRow> row : f.store.scanAll(Tables.TRANSITION, null, Integer.MAX_VALUE)) {
      stripesInRepair.add(row.value().getStripes(0).getStripeId());
    }
    return stripesInRepair;
  }

  private Set<String> kill(int count) {
    Set<String> dead = new TreeSet<>();
    for (String uuid : List.copyOf(f.servers.keySet()).subList(0, count)) {
      f.servers.get(uuid).kill();
      dead.add(uuid);
    }
    return dead;
  }

  private List<LostDiskRow> rows() throws IOException {
    return f.store.scanAll(Tables.LOST_DISK, null, 1_000).stream().map(Row::value).toList();
  }

  private void untilWalked() throws IOException {
    untilWalked(1);
  }

  /** With ticks that are some seconds apart. */
  private void untilWalked(int tickSeconds) throws IOException {
    int seconds = 0;
    do {
      f.clock.advance(1_000L * (tickSeconds - 1));
      tick();
      seconds += tickSeconds;
      assertThat(seconds).as("the walks end").isLessThanOrEqualTo(2_000);
    } while (rows().isEmpty()
        || rows().stream().anyMatch(row -> row.getPass() != LostDiskPassProto.WALKED));
    assertThat(f.manager.lostDisksToWalk()).isZero();
  }

  @Test
  void everyStripeOfALostServerIsFoundThoughTheHintsHoldFew() throws IOException {
    start(settings(10_000), 100_000);
    writeStripes(600);
    Set<Long> hit = hit(kill(1), 1);
    assertThat(hit).hasSizeGreaterThan(5 * MAX_HINTS);
    untilWalked();
    assertThat(inRepair()).isEqualTo(hit);
  }

  @Test
  void whatTheNextFailureWouldLoseIsFoundFirst() throws IOException {
    start(settings(10_000).withRepairDelay(60_000), 100_000);
    writeStripes(400);
    Set<String> dead = kill(3);
    Set<Long> atRisk = hit(dead, 3);
    assertThat(atRisk).hasSizeGreaterThan(MAX_HINTS);
    for (int i = 0; i < DEAD_SECONDS + 50; i++) {
      tick();
    }
    assertThat(inRepair()).isEqualTo(atRisk);
    untilWalked();
    assertThat(inRepair()).isEqualTo(hit(dead, 1));
  }

  /** Ordinary repairs do not fill the room of those that follow a second failure. */
  @Test
  void plannedRepairsAreBoundedAndLeaveRoomForStripesAtRisk() throws IOException {
    start(settings(10_000), 100);
    writeStripes(300);
    Set<String> dead = kill(1);
    for (int i = 0; i < DEAD_SECONDS + 30; i++) {
      tick();
    }
    assertThat(inRepair()).hasSize(100);
    assertThat(f.manager.lostDisksToWalk()).isEqualTo(1);
    Set<String> more = kill(3);
    for (int i = 0; i < DEAD_SECONDS + 30; i++) {
      tick();
    }
    Set<Long> atRisk = hit(more, 3);
    atRisk.removeAll(inRepair());
    assertThat(atRisk.isEmpty() || inRepair().size() == 200)
        .as("%d planned, %d stripes at risk are not", inRepair().size(), atRisk.size())
        .isTrue();
    assertThat(inRepair()).hasSizeGreaterThan(150).hasSizeLessThanOrEqualTo(200);
    assertThat(more).containsAll(dead);
  }

  @Test
  void aRestartGoesOnWhereTheWalkWas() throws IOException {
    start(settings(10_000), 100_000);
    writeStripes(600);
    Set<Long> hit = hit(kill(1), 1);
    int blocks = hit.size();
    while (rows().isEmpty()
        || rows().get(0).getPass() != LostDiskPassProto.EVERYTHING
        || rows().get(0).getDoneBlockId() == 0) {
      tick();
    }
    assertThat(inRepair()).as("midway").hasSizeLessThan(blocks);
    long examined = rows().get(0).getExamined();
    assertThat(examined).isBetween((long) blocks, 2L * blocks);
    startNamenode();
    untilWalked();
    assertThat(inRepair()).isEqualTo(hit);
    assertThat(rows().get(0).getExamined()).as("it did not start again").isLessThan(3L * blocks);
  }

  @Test
  void aWalkEndsWhenItsServerComesBack() throws IOException {
    start(settings(10_000), 100_000);
    writeStripes(600);
    Set<String> dead = kill(1);
    while (f.manager.lostDisksToWalk() == 0) {
      tick();
    }
    dead.forEach(uuid -> f.servers.get(uuid).up = true);
    for (int i = 0; i < 5; i++) {
      tick();
    }
    assertThat(f.manager.lostDisksToWalk()).isZero();
    assertThat(rows()).isEmpty();
  }

  @Test
  void everyReplicatedBlockIsCopiedThoughTheQueueHoldsFew() throws IOException {
    start(settings(20), 100_000);
    for (int i = 0; i < 400; i++) {
      f.writeFile(3);
    }
    f.seconds(5);
    kill(1);
    int hit = 0;
    f.seconds(DEAD_SECONDS + 1);
    for (long id : f.blocks.keySet()) {
      hit += f.liveReplicas(id) < 3 ? 1 : 0;
    }
    assertThat(hit).isGreaterThan(3 * 20);
    untilWalked();
    for (long id : f.blocks.keySet()) {
      assertThat(f.liveReplicas(id)).isEqualTo(3);
    }
  }

  private List<Long> writeFiles(int count, int replication) throws IOException {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ids.add(f.writeFile(replication).getBlockId());
    }
    return ids;
  }

  private void untilLive(List<Long> ids, int replicas, int mostSeconds) throws IOException {
    int seconds = 0;
    while (!allLive(ids, replicas)) {
      assertThat(seconds++).as("the blocks have %d replicas", replicas).isLessThan(mostSeconds);
      tick();
    }
  }

  private boolean allLive(List<Long> ids, int replicas) throws IOException {
    for (long id : ids) {
      if (f.liveReplicas(id) < replicas) {
        return false;
      }
    }
    return true;
  }

  @Test
  void blocksWithoutAReplicaLeaveTheQueueToTheOthers() throws IOException {
    start(settings(20), 100_000);
    writeFiles(800, 1);
    List<Long> repairable = writeFiles(200, 3);
    f.seconds(5);
    kill(1);
    f.seconds(DEAD_SECONDS + 5);
    assertThat(allLive(repairable, 3)).isFalse();
    untilLive(repairable, 3, 300);
    assertThat(f.manager.missingBlocks()).as("as many as the queue holds").isEqualTo(20);
    untilWalked();
  }

  @Test
  void aBlockWithoutAReplicaIsForgottenWithItsFile() throws IOException {
    start(settings(10_000), 100_000);
    List<Long> single = writeFiles(400, 1);
    f.seconds(5);
    kill(1);
    untilWalked();
    int missing = f.manager.missingBlocks();
    assertThat(missing).isGreaterThan(10);
    for (long id : single) {
      if (f.liveReplicas(id) == 0) {
        f.deleteFile(id);
      }
    }
    f.seconds(60);
    assertThat(f.manager.missingBlocks()).isZero();
    assertThat(f.manager.underReplicatedBlocks()).isZero();
  }

  @Test
  void aWalkEndsThoughNoServerCanTakeTheReplicas() throws IOException {
    start(settings(20), 100_000);
    writeFiles(60, SERVERS);
    writeFiles(100, 1); // some are lost, and each look at them ends at once
    f.seconds(5);
    kill(1);
    untilWalked(5);
  }

  @Test
  void blocksThatCannotBeCopiedDoNotHoldUpTheNextLostDisk() throws IOException {
    start(settings(20), 100_000);
    writeFiles(60, SERVERS);
    List<Long> pairs = writeFiles(100, 2);
    f.seconds(5);
    List<SimulatedServer> servers = List.copyOf(f.servers.values());
    servers.get(0).kill();
    untilLive(pairs, 2, 100);
    f.seconds(60);
    assertThat(f.manager.lostDisksToWalk()).isEqualTo(1);
    servers.get(1).kill();
    f.seconds(DEAD_SECONDS + 1);
    assertThat(allLive(pairs, 1)).isTrue();
    untilLive(pairs, 2, 100);
    assertThat(f.manager.lostDisksToWalk()).as("the first walk has not ended").isPositive();
  }
}
