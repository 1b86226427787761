package io.ebbfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.rpc.NamenodeAddresses;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the control plane says, and exits with, when it cannot start. */
class ControlPlaneTest {
  @TempDir Path directory;
  private final PrintStream before = System.err;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final ControlPlane controlPlane = new ControlPlane();

  @BeforeEach
  void prepare() throws Exception {
    for (String file : new String[] {"manager.yaml", "policies.yaml", "raid-node.yaml"}) {
      Files.copy(Path.of("..", "conf", file), directory.resolve(file));
    }
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void restore() {
    System.setErr(before);
    controlPlane.close();
  }

  private int run(int httpPort) throws Exception {
    return controlPlane.run(
        new ControlPlaneOptions(
            directory,
            Optional.empty(),
            NamenodeAddresses.of(new InetSocketAddress("127.0.0.1", 1)),
            "127.0.0.1:1",
            "127.0.0.1",
            httpPort,
            directory.resolve("data"),
            null,
            null,
            directory.resolve("ready")));
  }

  @Test
  void refusesABrokenConfigurationWithEveryProblem() throws Exception {
    Files.writeString(
        directory.resolve("policies.yaml"),
        """
        policies:
          - name: a
            paths: [/a]
            family: product
            storageBound: 1.2
            readHot: {perMiB: lots}
        """);
    assertThat(run(0)).isEqualTo(2);
    assertThat(said.toString(StandardCharsets.UTF_8))
        .contains("policies.yaml:5: storageBound 1.2 of policy 'a' is below")
        .contains("policies.yaml:6: 'readHot.perMiB: lots' is not a number");
  }

  @Test
  void namesAPortInUse() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      assertThat(run(taken.getLocalPort())).isEqualTo(4);
      assertThat(said.toString(StandardCharsets.UTF_8))
          .contains("127.0.0.1:" + taken.getLocalPort())
          .contains("--http-port");
    }
  }

  @Test
  void exitsIfTheClusterDoesNotComeUp() throws Exception {
    Files.writeString(
        directory.resolve("manager.yaml"),
        "startup: {requireFailureDomains: true, clusterWait: 200ms}\n");
    assertThat(run(0)).isEqualTo(3);
    assertThat(said.toString(StandardCharsets.UTF_8)).contains("the namenode did not answer");
    assertThat(directory.resolve("ready")).doesNotExist();
  }
}
