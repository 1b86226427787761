package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.peers.ClusterViews;
import io.ebbfs.namenode.rpc.datanode.QueuedCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.DatanodeRegistrationProto;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeStorageProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.StorageReportProto;
import org.apache.hadoop.thirdparty.protobuf.UnknownFieldSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** New replicas go around disks at which many more calls are queued than at the others. */
class BusyDiskPlacementTest {
  private BlockFixture f;

  @BeforeEach
  void start() throws IOException {
    f = new BlockFixture(1, 4, 2, BlockFixture.settings());
    f.registerAll();
    for (int server = 0; server < 4; server++) {
      String disk = "DS-%02d-".formatted(server);
      queued("server-%02d".formatted(server), Map.of(disk + 0, 0.0, disk + 1, 0.0));
    }
  }

  /** What a heartbeat of the server says about its queues; the next one shows the effect. */
  private void queued(String server, Map<String, Double> calls) throws IOException {
    HeartbeatRequestProto.Builder heartbeat = heartbeat(server);
    calls.forEach((disk, queued) -> heartbeat.addReports(report(disk, QueuedCalls.FIELD, queued)));
    send(heartbeat);
  }

  static HeartbeatRequestProto.Builder heartbeat(String server) {
    return HeartbeatRequestProto.newBuilder()
        .setRegistration(
            DatanodeRegistrationProto.newBuilder()
                .setDatanodeID(
                    DatanodeIDProto.newBuilder()
                        .setDatanodeUuid(server)
                        .setIpAddr("")
                        .setHostName("")
                        .setXferPort(0)
                        .setInfoPort(0)
                        .setIpcPort(0))
                .buildPartial());
  }

  private void send(HeartbeatRequestProto.Builder heartbeat) throws IOException {
    f.frontEnd.noteFigures(heartbeat.buildPartial());
    f.second();
  }

  /** A report of a disk with a figure in a field that HDFS does not have. */
  static StorageReportProto report(String disk, int field, double figure) {
    UnknownFieldSet.Field hundredths =
        UnknownFieldSet.Field.newBuilder().addVarint((long) (100 * figure)).build();
    return StorageReportProto.newBuilder()
        .setStorageUuid(disk)
        .setStorage(DatanodeStorageProto.newBuilder().setStorageUuid(disk))
        .setUnknownFields(UnknownFieldSet.newBuilder().addField(field, hundredths).build())
        .build();
  }

  /** The disks of many choices of targets. */
  private Set<String> disks(int replication) throws IOException {
    Set<String> disks = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      List<BlockService.Target> targets = targets(replication);
      assertThat(targets).hasSize(replication);
      targets.forEach(target -> disks.add(target.disk().storageUuid()));
      f.manager.giveBack(targets);
    }
    return disks;
  }

  @Test
  void aBusyDiskIsLeftOutAndItsNeighbourIsNot() throws IOException {
    queued("server-01", Map.of("DS-01-0", 30.0, "DS-01-1", 0.5));
    assertThat(disks(3)).doesNotContain("DS-01-0").contains("DS-01-1").hasSize(7);
    queued("server-01", Map.of("DS-01-0", 3.0));
    assertThat(disks(3)).contains("DS-01-0");
  }

  @Test
  void aServerWhoseDisksAreAllBusyIsTakenIfNoOtherIsLeft() throws IOException {
    queued("server-01", Map.of("DS-01-0", 60.0, "DS-01-1", 60.0));
    assertThat(disks(3)).doesNotContain("DS-01-0", "DS-01-1");
    assertThat(disks(4)).as("if no other server is left").contains("DS-01-0", "DS-01-1");
  }

  /** A small rack has more replicas on each disk than a large one, so its disks are busier. */
  @Test
  void aBlockGoesToABusyDiskRatherThanToOneRackAlone(@TempDir Path directory) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 10; i++) {
      lines.append("127.0.0.1:").append(10_000 + i).append(i < 2 ? " /small\n" : " /large\n");
    }
    Path racks = Files.writeString(directory.resolve("racks"), lines);
    f = new BlockFixture(1, 10, 1, BlockFixture.settings());
    f.topology = RackTopology.of(racks.toString(), "");
    f.startNamenode();
    f.registerAll();
    for (int i = 0; i < 10; i++) {
      double calls = i < 2 ? 40 : 2;
      queued("server-%02d".formatted(i), Map.of("DS-%02d-0".formatted(i), calls));
    }
    for (int i = 0; i < 50; i++) {
      List<BlockService.Target> targets = targets(3);
      List<String> racksOfBlock = targets.stream().map(t -> t.server().rack()).toList();
      assertThat(racksOfBlock).contains("/small", "/large");
      assertThat(racksOfBlock.get(0))
          .as("without need no disk is taken that is busy")
          .isEqualTo("/large");
      f.manager.giveBack(targets);
    }
    for (int i = 0; i < 2; i++) {
      f.servers.get("server-%02d".formatted(i)).up = false;
    }
    f.seconds(4);
    assertThat(targets(3))
        .as("a server that is silent is no better than one rack")
        .hasSize(3)
        .allMatch(target -> target.server().rack().equals("/large"));
  }

  private List<BlockService.Target> targets(int replication) throws IOException {
    return f.manager.chooseTargets(
        new BlockService.WriteRequest(
            "/new", replication, BlockFixture.BLOCK_BYTES, "192.0.2.1", Set.of(), Set.of()));
  }

  @Test
  void noDiskIsBusyIfAllAre() throws IOException {
    for (int server = 0; server < 4; server++) {
      String disk = "DS-%02d-".formatted(server);
      queued("server-%02d".formatted(server), Map.of(disk + 0, 60.0, disk + 1, 60.0));
    }
    assertThat(disks(3)).hasSize(8);
  }

  /** A server that goes back to an older version does not tell any more. */
  @Test
  void aFigureDoesNotOutliveTheHeartbeatsThatTellIt() throws IOException {
    queued("server-01", Map.of("DS-01-0", 60.0, "DS-01-1", 60.0));
    assertThat(disks(3)).doesNotContain("DS-01-0", "DS-01-1");
    send(
        heartbeat("server-01")
            .addReports(
                StorageReportProto.newBuilder()
                    .setStorageUuid("DS-01-0")
                    .setStorage(DatanodeStorageProto.newBuilder().setStorageUuid("DS-01-0"))));
    assertThat(disks(3)).contains("DS-01-0").doesNotContain("DS-01-1");
  }

  @Test
  void onlyAServerThatIsRegisteredAndAllowedIsHeard() throws IOException {
    f.startNamenode();
    queued("server-01", Map.of("DS-01-0", 60.0, "DS-01-1", 60.0));
    assertThat(queue("DS-01-0")).isEqualTo(ClusterView.Disk.NOT_TOLD);
    f.registerAll();
    queued("server-01", Map.of("DS-01-0", 60.0));
    assertThat(queue("DS-01-0")).isEqualTo(60);
  }

  @Test
  void aFollowerLearnsWhichDisksAreToldOf() throws IOException {
    queued("server-01", Map.of("DS-01-0", 7.0));
    f.frontEnd.noteFigures(
        heartbeat("server-01")
            .addReports(
                StorageReportProto.newBuilder()
                    .setStorageUuid("DS-01-1")
                    .setStorage(DatanodeStorageProto.newBuilder().setStorageUuid("DS-01-1")))
            .buildPartial());
    Map<String, Double> seen =
        ClusterViews.servers(ClusterViews.of(f.cluster, f.clock), f.clock).stream()
            .flatMap(server -> server.disks().stream())
            .collect(
                Collectors.toMap(ClusterView.Disk::storageUuid, ClusterView.Disk::queuedCalls));
    assertThat(seen).containsEntry("DS-01-0", 7.0).containsEntry("DS-02-0", 0.0);
    assertThat(seen).containsEntry("DS-01-1", ClusterView.Disk.NOT_TOLD);
  }

  private double queue(String disk) {
    return f.cluster.disk(disk).orElseThrow().queuedCalls();
  }

  @Test
  void aServerTellsOfItsOwnDisksOnly() throws IOException {
    queued("server-02", Map.of("DS-01-0", 30.0, "unknown", 30.0));
    assertThat(disks(3)).contains("DS-01-0");
    queued("server-01", Map.of("DS-01-0", -1.0));
    assertThat(queue("DS-01-0")).isZero();
  }
}
