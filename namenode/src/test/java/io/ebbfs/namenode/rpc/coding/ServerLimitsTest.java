package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.namenode.datanodes.ByteRate;
import io.ebbfs.namenode.tasks.lifecycle.BackgroundLimits;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the namenode hands out, to however many raid-nodes, has room on each chunk server. */
final class ServerLimitsTest {
  private static final int BLOCK = 64;
  private static final List<String> RAID_NODES = List.of("raid-a", "raid-b", "raid-c");

  private final long seed = Long.getLong("ebbfs.seed", 20_261_123L);
  private CodingCluster cluster;

  private static BackgroundLimits combines(int combines, int reads) {
    return new BackgroundLimits(combines, reads, ByteRate.UNLIMITED, ByteRate.UNLIMITED);
  }

  /** A cluster with planned encodings. */
  private void planned(int servers, int stripes, BackgroundLimits limits) throws Exception {
    System.out.println("ServerLimitsTest seed " + seed);
    cluster = new CodingCluster(servers, 6, seed, CodingCluster.SETTINGS.withLimits(limits));
    for (int i = 0; i < stripes; i++) {
      long file = cluster.createFile(6, BLOCK, true);
      cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(file), List.of());
    }
  }

  /** Encodes everything, and loses a server. */
  private void damaged(int servers, int stripes, BackgroundLimits limits) throws Exception {
    planned(servers, stripes, limits);
    while (!cluster.active().isEmpty()) {
      cluster.runAll();
    }
    cluster.advance(1_000_000);
    cluster.servers.kill(cluster.servers.servers().get(0));
    cluster.coding.tick();
    assertThat(cluster.active()).isNotEmpty();
  }

  /** All raid-nodes claim whatever they get, and run nothing. */
  private List<ClaimedTransitionProto> claimAll() throws Exception {
    List<ClaimedTransitionProto> claimed = new ArrayList<>();
    for (int idle = 0; idle < 10; idle++) {
      for (String name : RAID_NODES) {
        List<ClaimedTransitionProto> more = cluster.claim(name, 16);
        claimed.addAll(more);
        idle = more.isEmpty() ? idle : 0;
      }
      cluster.advance(200);
    }
    return claimed;
  }

  private static Map<String, Integer> combiners(List<ClaimedTransitionProto> claimed) {
    Map<String, Integer> count = new HashMap<>();
    for (ClaimedTransitionProto one : claimed) {
      for (StepProto step : one.getStepsList()) {
        count.merge(step.getExecutor().getDatanodeUuid(), 1, Integer::sum);
      }
    }
    return count;
  }

  private static Map<String, Integer> readers(List<ClaimedTransitionProto> claimed) {
    Map<String, Integer> count = new HashMap<>();
    for (ClaimedTransitionProto one : claimed) {
      for (StepProto step : one.getStepsList()) {
        Set<String> servers = new HashSet<>();
        for (SourceProto source : step.getCombine().getSourcesList()) {
          servers.add(source.getLocations(0).getServer().getDatanodeUuid());
        }
        servers.forEach(server -> count.merge(server, 1, Integer::sum));
      }
    }
    return count;
  }

  private void whole() throws Exception {
    cluster.runAll();
    assertThat(cluster.active()).isEmpty();
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }

  @Test
  void raidNodesTogetherRespectTheLimitsOfEachServer() throws Exception {
    damaged(14, 25, combines(2, 5));
    List<ClaimedTransitionProto> claimed = claimAll();
    assertThat(claimed).hasSizeGreaterThan(5);
    assertThat(combiners(claimed).values()).allMatch(count -> count <= 2);
    assertThat(readers(claimed).values()).allMatch(count -> count <= 5);
    cluster.advance(CodingCluster.LEASE_MILLIS + 60_000);
    whole();
  }

  /** Four combines in the whole cluster, whatever its size, was the limit of one raid-node. */
  @Test
  void aLargerClusterRepairsMoreAtOnce() throws Exception {
    damaged(9, 10, combines(1, 2));
    int few = claimAll().size();
    damaged(18, 20, combines(1, 2));
    int many = claimAll().size();
    assertThat(many).as("repairs at once on 18 servers, and %d on 9", few).isGreaterThan(few);
  }

  @Test
  void conversionsLeaveRoomForRepairs() throws Exception {
    planned(14, 20, combines(4, 8));
    assertThat(combiners(claimAll()).values()).allMatch(count -> count <= 2);
  }

  @Test
  void anEndedAttemptFreesItsServers() throws Exception {
    damaged(14, 20, combines(1, 1));
    List<ClaimedTransitionProto> claimed = claimAll();
    assertThat(cluster.claim(16)).isEmpty();
    cluster.execute("raid-a", claimed.get(0));
    cluster.execute("raid-b", claimed.get(0));
    cluster.execute("raid-c", claimed.get(0));
    cluster.advance(200);
    assertThat(cluster.claim(16)).isNotEmpty();
  }

  @Test
  void aRestartedNamenodeKnowsWhichServersAreBusy() throws Exception {
    damaged(14, 20, combines(1, 2));
    List<ClaimedTransitionProto> claimed = claimAll();
    cluster.restart();
    claimed.addAll(claimAll());
    assertThat(combiners(claimed).values()).allMatch(count -> count <= 1);
    assertThat(readers(claimed).values()).allMatch(count -> count <= 2);
  }

  /** An expired claim frees its servers as well. */
  @Test
  void aDeadRaidNodeFreesItsServers() throws Exception {
    damaged(14, 20, combines(1, 2));
    assertThat(claimAll()).isNotEmpty();
    cluster.advance(CodingCluster.LEASE_MILLIS + 1);
    cluster.coding.tick();
    cluster.advance(60_000);
    assertThat(claimAll()).isNotEmpty();
  }

  /** Encoding of RS(6,3) reads six blocks: more than a server ever has slots for. */
  @Test
  void aTransitionLargerThanTheLimitRunsAlone() throws Exception {
    planned(3, 4, combines(1, 1));
    whole();
    assertThat(cluster.stripeIds()).isNotEmpty();
  }

  /**
   * Raid-nodes claim and run as fast as they can, each second. What they got to move stays within
   * the rates of the servers and of the cluster.
   */
  private void moveWithin(ByteRate rate) throws Exception {
    Map<String, Long> moved = new HashMap<>();
    Deque<ClaimedTransitionProto> toRun = new ArrayDeque<>();
    long total = 0;
    long largest = 0;
    int seconds = 0;
    while (!cluster.active().isEmpty()) {
      assertThat(seconds++).as("it ends").isLessThan(3_000);
      cluster.coding.tick();
      for (int part = 0; part < 4; part++) {
        toRun.addAll(cluster.claim(16));
        cluster.advance(250);
      }
      for (ClaimedTransitionProto one : toRun) {
        long bytes = 0;
        for (StepProto step : one.getStepsList()) {
          bytes += add(moved, step);
        }
        total += bytes;
        largest = Math.max(largest, bytes);
        assertThat(cluster.commit(one, cluster.run(one)).getCommitted()).isTrue();
      }
      toRun.clear();
      if (rate.cluster() > 0) {
        assertThat(total).isLessThanOrEqualTo((seconds + 11) * rate.cluster() + largest);
      }
      for (long bytes : moved.values()) {
        assertThat(rate.perServer() == 0 || bytes <= (seconds + 11) * rate.perServer() + largest)
            .as("%d bytes after %d s", bytes, seconds)
            .isTrue();
      }
    }
    assertThat(seconds).as("it had to wait").isGreaterThan(3);
  }

  private static long add(Map<String, Long> moved, StepProto step) {
    String combiner = step.getExecutor().getDatanodeUuid();
    long total = 0;
    for (SourceProto source : step.getCombine().getSourcesList()) {
      String server = source.getLocations(0).getServer().getDatanodeUuid();
      long length = source.getBlock().getNumBytes();
      moved.merge(server, length, Long::sum);
      moved.merge(combiner, server.equals(combiner) ? 0 : length, Long::sum);
      total += length;
    }
    for (TargetProto target : step.getCombine().getTargetsList()) {
      String server = target.getLocation().getServer().getDatanodeUuid();
      long length = target.getBlock().getNumBytes();
      moved.merge(server, length, Long::sum);
      moved.merge(combiner, server.equals(combiner) ? 0 : length, Long::sum);
      total += length;
    }
    return total;
  }

  @Test
  void encodingsKeepToTheirBytesPerSecond() throws Exception {
    ByteRate rate = new ByteRate(2 * BLOCK, 10 * BLOCK);
    planned(14, 15, new BackgroundLimits(0, 0, ByteRate.UNLIMITED, rate));
    moveWithin(rate);
    cluster.assertConsistent();
  }

  @Test
  void repairsKeepToTheBytesPerSecondOfEachServer() throws Exception {
    ByteRate rate = new ByteRate(BLOCK, 0);
    damaged(14, 15, new BackgroundLimits(0, 0, rate, ByteRate.UNLIMITED));
    moveWithin(rate);
    cluster.assertConsistent();
  }

  @Test
  void repairsKeepToTheBytesPerSecondOfTheCluster() throws Exception {
    ByteRate rate = new ByteRate(0, 8 * BLOCK);
    damaged(14, 15, new BackgroundLimits(0, 0, rate, ByteRate.UNLIMITED));
    moveWithin(rate);
    cluster.assertConsistent();
  }
}
