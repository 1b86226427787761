package io.ebbfs.testbed.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real processes: namenode, broker, control plane, chunk servers, and the stock shell. */
@Timeout(900)
@Tag("process")
final class LocalClusterSystemTest {
  private static final int SERVERS = 4;
  private static final long SEED = 20_260_101;

  @TempDir Path temp;
  private LocalCluster cluster;

  @AfterEach
  void leaveNothingBehind() throws Exception {
    if (cluster != null) {
      cluster.killAll();
    }
  }

  private ClusterSpec spec() {
    return ClusterSpec.of(temp.resolve("cluster"))
        .withServers(SERVERS, 2)
        .withBlockSize(1 << 20)
        .withPorts(0, null)
        .withHeartbeat(200)
        .withConfFiles(LocalClusterTest.NO_POLICY);
  }

  @Test
  void stateSurvivesDownKillAndRestart() throws Exception {
    System.out.println("seed " + SEED);
    byte[] data = new byte[3_500_000];
    new Random(SEED).nextBytes(data);
    Path file = Files.write(temp.resolve("file"), data);
    cluster = LocalCluster.create(Build.find(), spec());
    cluster.startWithout(Set.of(3));
    assertThat(cluster.running()).hasSize(SERVERS + 2).doesNotContainKey("server-03");
    cluster.startServer(3);
    assertThat(cluster.running()).hasSize(SERVERS + 3);
    shell("-put", file.toString(), "/file");
    assertSame(data, "before anything");

    assertThat(new StatusReport(cluster).text())
        .contains("7 of 7 processes run", "server-03    /default-rack  live", "1 files");
    assertCapacityIsThatOfTheFileSystem();
    assertThatThrownBy(cluster::start)
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("is already running (7 of 7 processes)");

    assertThat(cluster.killServer(1)).isTrue();
    assertSame(data, "one server killed");
    cluster.startServer(1);

    // A launcher that knows the directory only, like 'down' in another JVM.
    Map<String, ProcessId> before = cluster.running();
    LocalCluster other = LocalCluster.open(Build.find(), cluster.directory());
    assertThat(other.running()).isEqualTo(before);
    other.stop();
    assertThat(before.values()).noneMatch(ProcessId::isAlive);

    cluster = LocalCluster.open(Build.find(), cluster.directory());
    cluster.start();
    assertSame(data, "after down and up");
    cluster.killAll();
    assertThat(new Launcher(cluster.directory()).running()).isEmpty();
    cluster.start();
    assertSame(data, "after SIGKILL of everything");
  }

  @Test
  void aStartThatFailsLeavesNothingRunning() throws Exception {
    cluster =
        LocalCluster.create(
            Build.find(), spec().withConfFiles(Map.of("manager.yaml", "sheddule: {}\n")));
    assertThatThrownBy(cluster::start)
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("control ended before it was ready")
        .hasMessageContaining("sheddule");
    assertThat(new Launcher(cluster.directory()).running()).isEmpty();

    try (ServerSocket taken =
        new ServerSocket(
            cluster.layout().ports().transfer().get(2), 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(cluster::start)
          .isInstanceOf(ClusterException.class)
          .hasMessageContaining("port " + taken.getLocalPort() + " (data transfer of server 2)");
    }
    assertThat(new Launcher(cluster.directory()).running()).isEmpty();
  }

  /** All disks lie on one file system, which counts once: for the namenode and for clients. */
  private void assertCapacityIsThatOfTheFileSystem() throws Exception {
    long fileSystem = Files.getFileStore(cluster.directory()).getTotalSpace();
    try (NamenodeClient namenode = cluster.namenodeClient()) {
      long disks =
          namenode.cluster().getServersList().stream()
              .flatMap(server -> server.getStoragesList().stream())
              .mapToLong(StorageStatusProto::getCapacityBytes)
              .sum();
      assertThat(disks).isBetween(fileSystem / 2, fileSystem);
      assertThat(new StatusReport(cluster).text())
          .contains("capacity " + StatusReport.bytes(disks) + ", ");
      shell("-df", "/");
      assertThat(read(temp.resolve("shell.log"))).contains(" " + disks + " ");
    }
  }

  private void assertSame(byte[] data, String when) throws Exception {
    Path back = temp.resolve("back");
    Files.deleteIfExists(back);
    shell("-get", "/file", back.toString());
    assertThat(Arrays.equals(Files.readAllBytes(back), data)).as(when).isTrue();
  }

  private void shell(String... arguments) throws Exception {
    Path output = temp.resolve("shell.log");
    List<String> command = cluster.stockClient().shell(arguments);
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(String.join(" ", arguments)).isTrue();
      assertThat(process.exitValue()).as(read(output)).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file);
  }
}
