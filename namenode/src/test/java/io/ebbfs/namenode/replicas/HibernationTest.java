package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.ExcludedServers;
import io.ebbfs.namenode.datanodes.HostLists;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.peers.ClusterViews;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.rpc.coding.HibernateServiceAccess;
import io.ebbfs.protocol.proto.CodingProtos.HibernateResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.AdminStates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that hibernates may be away, and nothing is repaired for it meanwhile. */
class HibernationTest {
  private static final String AWAY = "server-00";
  private static final long HOUR = 3_600_000;

  @TempDir Path directory;

  private BlockFixture f;

  private void start(int servers, int files, int replication) throws IOException {
    f = new BlockFixture(7, servers, 2);
    begin(files, replication);
  }

  private void begin(int files, int replication) throws IOException {
    f.registerAll();
    f.seconds(20);
    for (int i = 0; i < files; i++) {
      f.writeFile(replication);
    }
    f.deliverAll();
    f.seconds(3);
  }

  private Server server() {
    return f.cluster.server(AWAY).orElseThrow();
  }

  private HibernateResponseProto order(String uuid, long millis) throws IOException {
    return HibernateServiceAccess.start(f.cluster, f.manager, uuid, millis, false);
  }

  private void stop() throws IOException {
    f.servers.get(AWAY).kill();
    f.seconds(30);
    assertThat(server().live()).isFalse();
  }

  private long copiesOutside(long blockId) {
    return f.physical(blockId).stream().filter(d -> !f.holder(d).uuid.equals(AWAY)).count();
  }

  private long copiesOutside() {
    return f.blocks.keySet().stream().mapToLong(this::copiesOutside).sum();
  }

  @Test
  void nothingIsCopiedForAServerThatHibernatesAndAllIsOnceItsTimeIsOver() throws IOException {
    start(6, 100, 3);
    long before = copiesOutside();
    assertThat(before).isLessThan(300);
    assertThat(order(AWAY, HOUR).hasRefusal()).isFalse();
    assertThat(BlockLocator.adminState(server())).isEqualTo(AdminStates.ENTERING_MAINTENANCE);
    f.seconds(5);
    assertThat(BlockLocator.adminState(server())).isEqualTo(AdminStates.IN_MAINTENANCE);
    stop();
    f.seconds(300);
    assertThat(copiesOutside()).isEqualTo(before);
    assertThat(f.manager.underReplicatedBlocks()).isZero();
    f.clock.advance(HOUR);
    f.seconds(200);
    assertThat(server().isHibernating()).isFalse();
    assertThat(copiesOutside()).isEqualTo(300);
  }

  @Test
  void aServerThatComesBackEarlyGoesOnWithItsBlocks() throws IOException {
    start(6, 100, 3);
    order(AWAY, HOUR);
    f.seconds(5);
    stop();
    f.servers.get(AWAY).up = true;
    f.servers.get(AWAY).register(f.frontEnd);
    f.seconds(20);
    assertThat(server().live()).isTrue();
    for (long blockId : f.blocks.keySet()) {
      assertThat(f.physical(blockId)).hasSize(3);
      assertThat(f.liveReplicas(blockId)).isEqualTo(3);
    }
    f.cluster.hibernations().end(AWAY);
    f.seconds(30);
    assertThat(copiesOutside()).isLessThan(300);
    assertThat(f.manager.pendingReplications()).isZero();
  }

  @Test
  void anotherLossBeginsRepairsOfWhatIsAtRisk() throws IOException {
    start(6, 150, 3);
    order(AWAY, HOUR);
    f.seconds(5);
    stop();
    f.servers.get("server-01").kill();
    f.seconds(200);
    for (long blockId : f.blocks.keySet()) {
      assertThat(f.liveReplicas(blockId)).isGreaterThanOrEqualTo(2);
    }
    // What only the server that hibernates lacks is still not copied.
    assertThat(f.blocks.keySet().stream().filter(id -> copiesOutside(id) == 2).count())
        .isPositive();
  }

  @Test
  void theStateOutlivesARestartAndFollowersSeeIt() throws IOException {
    start(5, 20, 3);
    order(AWAY, HOUR);
    f.seconds(5);
    long before = copiesOutside();
    stop();
    f.startNamenode();
    assertThat(server().isHibernating()).isTrue();
    assertThat(BlockLocator.adminState(server())).isEqualTo(AdminStates.IN_MAINTENANCE);
    for (SimulatedServer other : f.servers.values()) {
      if (!other.uuid.equals(AWAY)) {
        other.register(f.frontEnd);
      }
    }
    f.seconds(120);
    assertThat(f.cluster.inSafeMode()).isFalse();
    assertThat(copiesOutside()).isEqualTo(before);
    Server seen =
        ClusterViews.servers(ClusterViews.of(f.cluster, f.clock), f.clock).stream()
            .filter(server -> server.uuid().equals(AWAY))
            .findFirst()
            .orElseThrow();
    assertThat(seen.hibernation()).isEqualTo(server().hibernation());
  }

  /** The clock of the process that begins now is behind by a day. */
  @Test
  void aClockThatIsBehindDoesNotMakeAHibernationLonger() throws IOException {
    start(5, 1, 3);
    f.cluster.hibernations().start(AWAY, f.clock.millis() + HOUR);
    f.startNamenode();
    f.clock.advance(-24 * HOUR);
    f.cluster.hibernations().endExpired();
    f.clock.advance(HOUR - 1_000);
    f.cluster.hibernations().endExpired();
    assertThat(server().isHibernating()).isTrue();
    f.clock.advance(1_000);
    f.cluster.hibernations().endExpired();
    assertThat(server().isHibernating()).isFalse();
  }

  @Test
  void newReplicasGoElsewhere() throws IOException {
    start(4, 5, 3);
    order(AWAY, HOUR);
    for (int i = 0; i < 20; i++) {
      assertThat(
              f.manager.chooseTargets(
                  new WriteRequest("/new", 3, 1 << 20, null, Set.of(), Set.of())))
          .extracting(target -> target.server().uuid())
          .doesNotContain(AWAY);
    }
  }

  @Test
  void aBlockThatWouldNotSurviveAnotherLossIsNamedWithItsFile() throws IOException {
    start(6, 30, 3);
    BlockRow lonely = f.writeFile(1);
    f.deliverAll();
    f.seconds(3);
    String holder = f.holder(f.physical(lonely.getBlockId()).iterator().next()).uuid;
    HibernateResponseProto answer = order(holder, HOUR);
    assertThat(answer.getRefusal())
        .contains("block " + lonely.getBlockId(), "file /f", "is on 0 other servers", "-setrep");
    assertThat(f.cluster.server(holder).orElseThrow().isHibernating()).isFalse();
  }

  @Test
  void aStripeThatWouldNotSurviveAnotherLossIsNamed() throws IOException {
    start(3, 0, 3);
    StripeRow.Builder stripe =
        StripeRow.newBuilder()
            .setId(f.ids().inodes().next())
            .setCode("PC(2x5)")
            .setUnitLengthBytes(BlockFixture.BLOCK_BYTES)
            .setGeneration(1)
            .setPolicy("test")
            .setCreatedMillis(f.clock.millis());
    for (int position = 0; position < 10; position++) {
      f.addMember(stripe, position); // without parities nothing is decoded
    }
    f.seconds(3);
    String holder = f.holder(f.physical(stripe.getMembers(0).getBlockId()).iterator().next()).uuid;
    assertThat(order(holder, HOUR).getRefusal())
        .contains("stripe " + stripe.getId(), "would not survive", "file /f");
  }

  @Test
  void oneServerHibernatesAtATimeAndWithRacksOneRack() throws IOException {
    start(6, 10, 3);
    assertThat(order(AWAY, HOUR).hasRefusal()).isFalse();
    assertThat(order("server-01", HOUR).getRefusal())
        .contains("localhost:10000", "one server hibernates at a time");
    // The same server gets a new end.
    assertThat(order(AWAY, 2 * HOUR).getUntilMillis()).isEqualTo(f.clock.millis() + 2 * HOUR);

    Path racks = directory.resolve("racks");
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 6; i++) {
      lines.append("127.0.0.1:").append(10_000 + i).append(" /r").append(i % 3).append('\n');
    }
    Files.writeString(racks, lines);
    f = new BlockFixture(7, 6, 2);
    f.topology = RackTopology.of(racks.toString(), "");
    f.startNamenode();
    begin(0, 3);
    assertThat(order(AWAY, HOUR).hasRefusal()).isFalse();
    assertThat(order("server-03", HOUR).hasRefusal()).isFalse();
    assertThat(order("server-01", HOUR).getRefusal()).contains("one rack hibernates at a time");
  }

  @Test
  void aServerThatIsDrainedOrATimeThatIsNoneIsRefused() throws IOException {
    start(5, 0, 3);
    assertThat(order(AWAY, 0).getRefusal()).contains("0 ms", "30 days");
    f.cluster.startDrain(AWAY);
    assertThat(order(AWAY, HOUR).getRefusal()).contains("being drained");
  }

  @Test
  void aFileOfHostsLetsServersHibernateAndWakesThem() throws IOException {
    start(5, 30, 3);
    long until = f.clock.millis() + HOUR;
    f.cluster.apply(
        new HostLists(Set.of(), ExcludedServers.NONE, Map.of("localhost:10000", until)));
    assertThat(server().hibernation().orElseThrow().untilMillis()).isEqualTo(until);
    f.seconds(5);
    assertThat(BlockLocator.adminState(server())).isEqualTo(AdminStates.IN_MAINTENANCE);
    assertThat(HibernateServiceAccess.wake(f.cluster, f.manager, AWAY).getRefusal())
        .contains("refreshNodes");
    f.startNamenode();
    f.registerAll();
    assertThat(server().isHibernating()).isTrue();
    f.cluster.apply(HostLists.NONE);
    assertThat(server().isHibernating()).isFalse();
    f.cluster.apply(new HostLists(Set.of(), ExcludedServers.NONE, Map.of("localhost:10000", 1L)));
    assertThat(server().isHibernating()).as("its time is over").isFalse();
  }
}
