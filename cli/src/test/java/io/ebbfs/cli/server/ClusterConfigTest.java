package io.ebbfs.cli.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.testbed.Build;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the roles make of one configuration directory. */
class ClusterConfigTest {
  private static final Path EXAMPLES = Path.of("..", "conf");

  @TempDir Path directory;

  private void write(String file, String text) throws IOException {
    Files.writeString(directory.resolve(file), text);
  }

  @Test
  void theExampleShowsTheDefaultsAndEveryKey() throws Exception {
    assertThat(ClusterConfig.read(EXAMPLES)).isEqualTo(ClusterConfig.DEFAULTS);
    assertThat(ClusterConfig.read(directory)).isEqualTo(ClusterConfig.DEFAULTS);
    int keys =
        ClusterConfig.class.getRecordComponents().length
            + ClusterConfig.Control.class.getRecordComponents().length;
    assertThat(Files.readAllLines(EXAMPLES.resolve(ClusterConfig.FILE)))
        .filteredOn(line -> line.matches(" *[a-zA-Z]+:.*"))
        .hasSize(keys);
  }

  @Test
  void allProblemsComeAtOnce() throws Exception {
    write("cluster.yaml", "namenodes: here\nlog: xml\nlogs: /x\ncontrol: {httpPort: 99999}\n");
    assertThatThrownBy(() -> ClusterConfig.read(directory))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("cluster.yaml:1: 'namenodes' holds 'here'")
        .hasMessageContaining("cluster.yaml:2: 'log: xml' is unknown")
        .hasMessageContaining("cluster.yaml:3: unknown key 'logs'")
        .hasMessageContaining("cluster.yaml:4: 'control.httpPort: 99999'");
  }

  private NamenodeConfig namenode(String... more) throws Exception {
    NamenodeCommand command = new NamenodeCommand();
    CommandLine line = new CommandLine(command).setOverwrittenOptionsAllowed(true);
    line.parseArgs(List.of("--conf", directory.toString()).toArray(String[]::new));
    if (more.length > 0) {
      line.parseArgs(
          List.of("--conf", directory.toString(), more[0], more[1]).toArray(String[]::new));
    }
    return command.config();
  }

  @Test
  void theClusterGoesOverTheNamenodesFileAndTheOptionsOverBoth() throws Exception {
    write("namenode.yaml", "port: 1\nserviceKey: other\nreplication: 2\n");
    write("cluster.yaml", "namenodes: 127.0.0.1:7\nkafka: k1:9092,k2:9093\nserviceKey: /e/key\n");
    write("codes.yaml", "codes: []\n");
    NamenodeConfig config = namenode();
    assertThat(config.port()).isEqualTo(7);
    assertThat(config.host()).isEqualTo("127.0.0.1");
    assertThat(config.kafka()).isEqualTo("k1:9092,k2:9093");
    assertThat(config.serviceKey()).isEqualTo("/e/key");
    assertThat(config.replication()).isEqualTo(2);
    assertThat(config.codes()).isEqualTo(directory.resolve("codes.yaml").toString());
    assertThat(namenode("--port", "9").port()).isEqualTo(9);
  }

  @Test
  void theChunkServersCommandLineComesFromTheDirectory() throws Exception {
    Path home = Files.createDirectories(directory.resolve("home"));
    Path binary = home.resolve("chunk-cluster/target/cmake/chunkserver");
    Files.createDirectories(binary.getParent());
    assertThat(Files.createFile(binary).toFile().setExecutable(true)).isTrue();
    write(
        "cluster.yaml",
        "{namenodes: '127.0.0.1:7,127.0.0.1:8', serviceKey: /k, log: json, logDirectory: %s}"
            .formatted(directory));
    write("chunk-server.yaml", "disks: [/d/0, /d/1]\ntransferPort: 11\n");
    ChunkServerCommand command = new ChunkServerCommand();
    new CommandLine(command).parseArgs("--conf", directory.toString());
    assertThat(command.command(new Build(home)))
        .startsWith(
            binary.toString(), "--namenode", "127.0.0.1:7,127.0.0.1:8", "--host", "127.0.0.1")
        .containsSequence("--service-key", "/k", "--data", "/d/0,/d/1", "--transfer-port", "11")
        .containsSequence("--http-port", "9864")
        .endsWith(
            "--log-format", "json", "--log-file", directory.resolve("chunkserver.log").toString());
    write("chunk-server.yaml", "disks: []\n");
    assertThatThrownBy(() -> command.command(new Build(home)))
        .hasMessageContaining("chunk-server.yaml: 'disks' is missing");
  }

  @Test
  void aMachineKnowsWhichAddressIsItsOwn() throws Exception {
    List<InetSocketAddress> elsewhere = List.of(new InetSocketAddress("192.0.2.1", 1));
    assertThat(MachineAddress.ownOf(elsewhere)).isEmpty();
    InetSocketAddress here = new InetSocketAddress("127.0.0.1", 2);
    assertThat(MachineAddress.ownOf(List.of(elsewhere.get(0), here))).contains(here);
    assertThat(MachineAddress.toward(here)).isEqualTo("127.0.0.1");
    assertThatThrownBy(
            () -> MachineAddress.toward(InetSocketAddress.createUnresolved("no.such.host", 1)))
        .hasMessageContaining("no.such.host has no address");
  }
}
