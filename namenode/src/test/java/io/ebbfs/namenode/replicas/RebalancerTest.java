package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.datanodes.RebalanceSettings;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.StorageType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replicas move from full disks to empty ones, and no block is less safe at any time. */
class RebalancerTest {
  private static final RebalanceSettings ON = new RebalanceSettings(true, 0.02, 200L << 20, 16);

  @TempDir Path directory;

  private BlockFixture f;
  private final Map<Long, Integer> racksBefore = new TreeMap<>();

  /** Fills some servers of three racks, and then adds empty ones. */
  private void start(int files) throws IOException {
    Path racks = directory.resolve("racks");
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 9; i++) {
      lines.append("127.0.0.1:").append(10_000 + i).append(" /r").append(i % 3).append('\n');
    }
    Files.writeString(racks, lines);
    f = new BlockFixture(7, 6, 2);
    f.topology = RackTopology.of(racks.toString(), "");
    f.startNamenode();
    f.registerAll();
    f.seconds(20);
    for (int i = 0; i < files; i++) {
      f.writeFile(3);
    }
    f.deliverAll();
    f.seconds(3);
    for (int i = 6; i < 9; i++) {
      SimulatedServer added =
          new SimulatedServer(i, 2, f.identity, f.servers, (s, d, b) -> f.witness.deleted(s, d, b));
      added.register(f.frontEnd);
    }
    f.seconds(3);
    f.blocks.keySet().forEach(id -> racksBefore.put(id, racks(id)));
  }

  private int racks(long blockId) {
    return f.physical(blockId).stream()
        .map(disk -> f.cluster.server(f.holder(disk).uuid).orElseThrow().rack())
        .collect(Collectors.toSet())
        .size();
  }

  private long on(String server) {
    return f.servers.get(server).disks.values().stream().mapToLong(Map::size).sum();
  }

  private double widest() {
    return f.manager.rebalancer().progress(ON).flows().stream()
        .mapToDouble(flow -> Math.abs(flow.disk().share() - meanShare()))
        .max()
        .orElse(0);
  }

  private double meanShare() {
    return f.manager.rebalancer().progress(ON).meanShare();
  }

  private void nobodyIsLessSafe() {
    for (long blockId : f.blocks.keySet()) {
      Set<String> servers =
          f.physical(blockId).stream().map(d -> f.holder(d).uuid).collect(Collectors.toSet());
      assertThat(servers).as("servers of block " + blockId).hasSizeGreaterThanOrEqualTo(3);
      assertThat(racks(blockId)).isGreaterThanOrEqualTo(racksBefore.get(blockId));
    }
  }

  @Test
  void newServersFillAndNoBlockIsEverLessSafe() throws IOException {
    start(600);
    assertThat(on("server-06")).isZero();
    double before = widest();
    assertThat(before).isPositive();
    long planned = f.manager.rebalancer().progress(ON).bytesToMove();
    f.seconds(20);
    assertThat(on("server-06")).as("it is off by default").isZero();
    f.manager.rebalancer().set(ON);
    for (int i = 0; i < 300 && f.manager.rebalancer().progress(ON).bytesToMove() > 0; i++) {
      f.second();
      nobodyIsLessSafe();
    }
    assertThat(f.manager.rebalancer().progress(ON).flows()).isEmpty();
    assertThat(on("server-06")).isPositive();
    f.seconds(60);
    long moved = f.manager.rebalancer().progress(ON).movedBytes();
    System.out.printf("%d bytes planned, %d moved%n", planned, moved);
    assertThat(moved).isLessThanOrEqualTo(planned * 11 / 10);
    for (BlockRow block : f.blocks.values()) {
      assertThat(f.physical(block.getBlockId())).hasSize(3);
    }
    assertThat(f.manager.rebalancer().progress(ON).underWay()).isZero();
  }

  /** A disk that errs is empty because its bad replicas are dropped. */
  @Test
  void aDiskThatErrsIsNotFilledAgain() throws IOException {
    start(600);
    f.cluster.noteRecentErrors("server-06", Map.of("DS-06-0", 1.0));
    f.manager.rebalancer().set(ON);
    f.seconds(60);
    assertThat(f.servers.get("server-06").disks.get("DS-06-0")).isEmpty();
    assertThat(f.servers.get("server-06").disks.get("DS-06-1")).isNotEmpty();
  }

  private void startEncoded() throws IOException {
    start(600);
    encodeAll();
  }

  private void encodeAll() throws IOException {
    for (long blockId : List.copyOf(f.blocks.keySet())) {
      assertThat(f.encode(blockId)).isTrue();
    }
    f.deliverAll();
    f.seconds(30);
  }

  @Test
  void membersOfStripesAreOfferedAFewAtATime() throws IOException {
    startEncoded();
    f.manager.rebalancer().set(new RebalanceSettings(true, 0.005, 200L << 20, 16));
    f.second();
    assertThat(f.levelWishes).hasSize(4);
    for (MemberMove wish : f.levelWishes) {
      assertThat(f.holder(wish.fromStorageUuid()).uuid).isLessThan("server-06");
      assertThat(wish.toStorageUuids()).isNotEmpty().hasSizeLessThanOrEqualTo(8);
      assertThat(f.holder(wish.toStorageUuids().get(0)).uuid).isGreaterThanOrEqualTo("server-06");
    }
    f.seconds(10);
    assertThat(f.levelWishes).as("the others wait").hasSize(4);
    assertThat(f.manager.rebalancer().progress(ON).underWay()).isEqualTo(4);
    f.seconds(130);
    assertThat(f.levelWishes).as("those that nobody carried out are given up").hasSize(8);
    assertThat(f.withdrawnWishes).as("and taken back").hasSize(4);
    f.manager.rebalancer().set(new RebalanceSettings(false, 0.005, 200L << 20, 16));
    assertThat(f.withdrawnWishes).as("as are those of a rebalance that is stopped").hasSize(8);
    f.second();
    assertThat(f.manager.rebalancer().progress(ON).underWay()).isZero();
  }

  /** Moves of members have the last priority: a backlog of other transitions goes first. */
  @Test
  void aMemberWhoseTransitionWaitsForLongIsNotForgotten() throws IOException {
    startEncoded();
    f.levelsRun = true;
    f.manager.rebalancer().set(new RebalanceSettings(true, 0.005, 200L << 20, 4));
    f.second();
    assertThat(f.levelWishes).hasSize(4);
    String source = f.holder(f.levelWishes.iterator().next().fromStorageUuid()).uuid;
    f.seconds(140);
    assertThat(f.levelWishes).as("the transitions end by themselves").hasSize(4);
    assertThat(f.manager.rebalancer().progress(ON).underWay()).isEqualTo(4);
    assertThat(f.manager.rebalancer().progress(ON).stuck()).isEmpty();
    for (int i = 0; i < 100; i++) {
      f.writeFile(3);
    }
    f.deliverAll();
    long before = on(source);
    f.seconds(70); // disks without replicas were left out for a minute
    assertThat(f.manager.rebalancer().progress(ON).movedBlocks()).isPositive();
    assertThat(on(source)).as("replicas do not wait for them").isLessThan(before);
    f.levelsRun = false;
    f.refusesLevels = true; // the transitions are dropped
    f.seconds(70);
    assertThat(f.levelWishes).as("others get their turn").hasSizeGreaterThan(4);
  }

  /** The drain of a server may take hours, and leaves no room for other re-placements. */
  @Test
  void membersForWhichThereIsNoRoomAreAskedForAsSoonAsThereIs() throws IOException {
    startEncoded();
    f.levelsWait = true;
    f.manager.rebalancer().set(new RebalanceSettings(true, 0.005, 200L << 20, 16));
    f.seconds(10);
    assertThat(f.manager.rebalancer().progress(ON).underWay()).isZero();
    assertThat(f.manager.rebalancer().progress(ON).stuck().orElseThrow()).contains("in stripes");
    f.levelsWait = false;
    f.second();
    assertThat(f.levelWishes).as("no disk is left out for a while").hasSize(4);
  }

  @Test
  void replicasOfADiskMoveWhileTheMembersOfEightFullerOnesWait() throws IOException {
    startEncoded();
    f.levelsWait = true;
    RebalanceSettings on = new RebalanceSettings(true, 0.005, 200L << 20, 16);
    writeReplicasBehind(8, on);
    f.manager.rebalancer().set(on);
    f.seconds(20);
    assertThat(f.manager.rebalancer().progress(on).movedBlocks()).isPositive();
  }

  /** Writes a block whose replicas are on none of the fullest disks, and on one that gives some. */
  private void writeReplicasBehind(int disks, RebalanceSettings on) throws IOException {
    for (int i = 0; i < 200; i++) {
      long blockId = f.writeFile(3).getBlockId();
      f.second();
      List<String> sources =
          f.manager.rebalancer().progress(on).flows().stream()
              .filter(flow -> flow.bytes() < 0)
              .map(flow -> flow.disk().storageUuid())
              .toList();
      Set<String> places = f.physical(blockId);
      if (sources.subList(0, disks).stream().noneMatch(places::contains)
          && sources.subList(disks, sources.size()).stream().anyMatch(places::contains)) {
        return;
      }
      f.encode(blockId);
      f.second();
    }
    throw new AssertionError("no block is where it is needed");
  }

  @Test
  void twoMembersOfAStripeDoNotMoveAtATime() throws IOException {
    start(600);
    f.encodesIntoOneStripe = true;
    encodeAll();
    f.manager.rebalancer().set(new RebalanceSettings(true, 0.005, 200L << 20, 16));
    f.seconds(3);
    assertThat(f.levelWishes).hasSize(1);
  }

  /** A cluster with as many servers as a stripe is wide refuses every wish. */
  @Test
  void wishesThatAreRefusedMakeRoomAtOnceAndCostNoBandwidth() throws IOException {
    startEncoded();
    f.refusesLevels = true;
    // The bytes of a block in ten seconds.
    RebalanceSettings slow = new RebalanceSettings(true, 0.005, BlockFixture.BLOCK_BYTES / 10, 16);
    f.manager.rebalancer().set(slow);
    f.seconds(5);
    assertThat(f.levelWishes).as("one in each second").hasSize(5);
    f.seconds(30);
    assertThat(f.manager.rebalancer().progress(slow).underWay()).isZero();
    assertThat(f.manager.rebalancer().progress(slow).stuck()).isPresent();
    int before = f.levelWishes.size();
    assertThat(f.levelWishes).hasSizeLessThanOrEqualTo(12); // one for each disk of six servers
    f.seconds(60);
    assertThat(f.levelWishes).as("other members are asked for").hasSizeGreaterThan(before);
    assertThat(f.manager.rebalancer().progress(slow).stuck()).as("nothing has moved").isPresent();
    assertThat(f.levelWishes.stream().map(wish -> wish.stripeId()).collect(Collectors.toSet()))
        .as("none is asked for twice")
        .hasSameSizeAs(f.levelWishes);
  }

  @Test
  void itKeepsToItsBandwidthAndItsMoves() throws IOException {
    start(300);
    f.manager.rebalancer().set(new RebalanceSettings(true, 0.02, BlockFixture.BLOCK_BYTES, 4));
    int most = 0;
    for (int i = 0; i < 30; i++) {
      f.second();
      most = Math.max(most, f.manager.rebalancer().progress(ON).underWay());
    }
    assertThat(most).isBetween(1, 4);
    assertThat(f.manager.rebalancer().progress(ON).movedBlocks()).isBetween(5L, 33L);
    f.manager.rebalancer().set(new RebalanceSettings(false, 0.02, 1 << 20, 4));
    f.seconds(20);
    long moved = f.manager.rebalancer().progress(ON).movedBlocks();
    f.seconds(20);
    assertThat(f.manager.rebalancer().progress(ON).movedBlocks()).isEqualTo(moved);
  }

  /** A RAM_DISK loses its replicas with the power: the rebalance puts none there. */
  @Test
  void replicasStayOnTheTypeOfTheirDisk() throws IOException {
    f = new BlockFixture(7, 6, 3);
    f.registerAll();
    f.seconds(20);
    for (int i = 0; i < 300; i++) {
      f.writeFile(3);
    }
    f.deliverAll();
    Set<String> filled = new TreeSet<>();
    for (int i = 0; i < 9; i++) {
      SimulatedServer server =
          i < 6
              ? f.servers.get("server-%02d".formatted(i))
              : new SimulatedServer(i, 3, f.identity, f.servers, (s, d, b) -> {});
      server.disks.put("ram" + i, new TreeMap<>());
      server.disks.put("archive" + i, new TreeMap<>());
      server.types.put("ram" + i, StorageType.RAM_DISK);
      server.types.put("archive" + i, StorageType.ARCHIVE);
      server.register(f.frontEnd);
      server.storages().stream().filter(disk -> disk.startsWith("DS")).forEach(filled::add);
    }
    f.seconds(3);
    f.manager.rebalancer().set(ON);
    f.seconds(40);
    assertThat(f.manager.rebalancer().progress(ON).movedBlocks()).isPositive();
    for (long blockId : f.blocks.keySet()) {
      assertThat(filled).containsAll(f.physical(blockId));
    }
  }
}
