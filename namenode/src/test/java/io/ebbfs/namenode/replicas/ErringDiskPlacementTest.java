package io.ebbfs.namenode.replicas;

import static io.ebbfs.namenode.replicas.BusyDiskPlacementTest.heartbeat;
import static io.ebbfs.namenode.replicas.BusyDiskPlacementTest.report;
import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.peers.ClusterViews;
import io.ebbfs.namenode.rpc.datanode.QueuedCalls;
import io.ebbfs.namenode.rpc.datanode.RecentErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.protocol.Block;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** New replicas go around disks whose calls have failed lately. */
class ErringDiskPlacementTest {
  private BlockFixture f;

  @BeforeEach
  void start() throws IOException {
    start(4, 2);
  }

  private void start(int servers, int disks) throws IOException {
    f = new BlockFixture(1, servers, disks, BlockFixture.settings());
    f.registerAll();
    f.second();
  }

  /** What the next heartbeat of the server shows. */
  private void errors(String server, Map<String, Double> errors) throws IOException {
    f.cluster.noteRecentErrors(server, errors);
    f.second();
  }

  private List<BlockService.Target> targets(int replication) throws IOException {
    List<BlockService.Target> targets =
        f.manager.chooseTargets(
            new BlockService.WriteRequest(
                "/new", replication, BlockFixture.BLOCK_BYTES, "192.0.2.1", Set.of(), Set.of()));
    assertThat(targets).hasSize(replication);
    f.manager.giveBack(targets);
    return targets;
  }

  /** The disks of many choices of targets. */
  private Set<String> disks(int replication) throws IOException {
    Set<String> disks = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      targets(replication).forEach(target -> disks.add(target.disk().storageUuid()));
    }
    return disks;
  }

  @Test
  void aDiskThatErrsIsLeftOutAndItsNeighbourIsNot() throws IOException {
    errors("server-01", Map.of("DS-01-0", 0.5));
    assertThat(disks(4)).doesNotContain("DS-01-0").contains("DS-01-1").hasSize(7);
    errors("server-01", Map.of("DS-01-0", 0.49));
    assertThat(disks(4)).contains("DS-01-0");
  }

  @Test
  void noDiskIsLeftOutIfAllErr() throws IOException {
    for (int server = 0; server < 4; server++) {
      String disk = "DS-%02d-".formatted(server);
      errors("server-%02d".formatted(server), Map.of(disk + 0, 9.0, disk + 1, 1.0));
    }
    assertThat(disks(3)).hasSize(8);
  }

  @Test
  void theLeastBadDisksAreTakenFirst() throws IOException {
    start(6, 1);
    f.servers.get("server-01").activeTransfers = 200;
    f.servers.get("server-02").writeQuietly("DS-02-0", new Block(999, 990L << 20, 1));
    errors("server-03", Map.of("DS-03-0", 1.0));
    assertThat(disks(3)).containsExactlyInAnyOrder("DS-00-0", "DS-04-0", "DS-05-0");
    assertThat(disks(4)).contains("DS-01-0").hasSize(4);
    assertThat(disks(5)).contains("DS-02-0").hasSize(5);
    assertThat(disks(6)).contains("DS-03-0").hasSize(6);
  }

  @Test
  void aBlockGoesToADiskThatErrsRatherThanToOneRackAlone(@TempDir Path directory)
      throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 10; i++) {
      lines.append("127.0.0.1:").append(10_000 + i).append(i < 2 ? " /small\n" : " /large\n");
    }
    Path racks = Files.writeString(directory.resolve("racks"), lines);
    f = new BlockFixture(1, 10, 1, BlockFixture.settings());
    f.topology = RackTopology.of(racks.toString(), "");
    f.startNamenode();
    f.registerAll();
    f.servers.get("server-01").activeTransfers = 200;
    errors("server-00", Map.of("DS-00-0", 1.0));
    assertThat(inSmallRack()).as("busy is less bad").containsExactly("DS-01-0");
    f.servers.get("server-01").activeTransfers = 0;
    errors("server-01", Map.of("DS-01-0", 1.0));
    assertThat(inSmallRack()).containsExactlyInAnyOrder("DS-00-0", "DS-01-0");
  }

  /** The disks in the small rack of many blocks, each of which is in both racks. */
  private Set<String> inSmallRack() throws IOException {
    Set<String> disks = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      List<BlockService.Target> targets = targets(3);
      assertThat(targets.stream().map(target -> target.server().rack()))
          .contains("/small", "/large");
      targets.stream()
          .filter(target -> target.server().rack().equals("/small"))
          .forEach(target -> disks.add(target.disk().storageUuid()));
    }
    return disks;
  }

  /** The disk that errs is the emptiest one: it got no new blocks. */
  @Test
  void theExcessReplicaOnADiskThatErrsGoesFirst() throws IOException {
    start(3, 1);
    long block = f.writeFile(3).getBlockId();
    f.servers.get("server-00").writeQuietly("DS-00-0", new Block(998, 500L << 20, 1));
    f.servers.get("server-02").writeQuietly("DS-02-0", new Block(999, 500L << 20, 1));
    errors("server-01", Map.of("DS-01-0", 1.0));
    f.setReplication(block, 2);
    for (int i = 0; i < 60 && f.physical(block).size() > 2; i++) {
      f.second();
      f.deliverAll();
    }
    assertThat(f.physical(block)).containsExactlyInAnyOrder("DS-00-0", "DS-02-0");
  }

  /** A server that goes back to an older version does not tell any more. */
  @Test
  void aHeartbeatWithoutTheFieldTellsOfNoErrors() throws IOException {
    f.frontEnd.noteFigures(
        heartbeat("server-01")
            .addReports(report("DS-01-0", RecentErrors.FIELD, 2.5))
            .buildPartial());
    assertThat(recentErrors("DS-01-0")).isEqualTo(2.5);
    f.second();
    assertThat(disks(4)).doesNotContain("DS-01-0");
    f.frontEnd.noteFigures(
        heartbeat("server-01").addReports(report("DS-01-0", QueuedCalls.FIELD, 1)).buildPartial());
    assertThat(recentErrors("DS-01-0")).isZero();
  }

  private double recentErrors(String disk) {
    return f.cluster.disk(disk).orElseThrow().recentErrors();
  }

  @Test
  void aFollowerLearnsOfErrors() throws IOException {
    errors("server-01", Map.of("DS-01-0", 2.5));
    Map<String, Double> seen =
        ClusterViews.servers(ClusterViews.of(f.cluster, f.clock), f.clock).stream()
            .flatMap(server -> server.disks().stream())
            .collect(
                Collectors.toMap(ClusterView.Disk::storageUuid, ClusterView.Disk::recentErrors));
    assertThat(seen).containsEntry("DS-01-0", 2.5).containsEntry("DS-01-1", 0.0);
  }

  @Test
  void errorsAreKeptWhenTheServerRegistersAgain() throws IOException {
    errors("server-01", Map.of("DS-01-0", 2.5));
    f.servers.get("server-01").register(f.frontEnd);
    assertThat(recentErrors("DS-01-0")).isEqualTo(2.5);
  }
}
