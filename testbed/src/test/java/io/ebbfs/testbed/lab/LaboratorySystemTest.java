package io.ebbfs.testbed.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real namespaces, links and processes. */
@Timeout(600)
@Tag("process")
final class LaboratorySystemTest {
  private static final int SERVERS = 3;
  // The last byte of the address of server 0, and the number of its link.
  private static final int FIRST_SERVER = 10;
  private static final long SEED = 20_261_121;
  private static final int BYTES = 4 << 20;
  private static final double BYTES_PER_SECOND = 20e6 / 8;

  @TempDir Path temp;
  private ShapedNetwork lab;

  @AfterEach
  void leaveNothingBehind() throws Exception {
    if (lab != null) {
      lab.down();
    }
  }

  @Test
  void linksHaveTheRateAndNothingIsLeftAfterACrash() throws Exception {
    assumeThat(System.getProperty("user.name")).as("a lab needs root").isEqualTo("root");
    System.out.println("seed " + SEED);
    byte[] data = new byte[BYTES];
    new Random(SEED).nextBytes(data);
    Path file = Files.write(temp.resolve("file"), data);
    lab = ShapedNetwork.choose("20mbit");
    LocalCluster cluster =
        LocalCluster.create(
            Build.find(),
            ClusterSpec.of(temp.resolve("lab"))
                .withServers(SERVERS, 1)
                .withHeartbeat(200)
                .withConfFiles(
                    Map.of(
                        "policies.yaml",
                        "policies: [{name: none, paths: [/nothing], code: 'XOR(2,1)'}]\n"))
                .in(lab));
    cluster.start();

    long before = lab.receivedByServers(SERVERS);
    long start = System.nanoTime();
    client(cluster, "-put", file.toString(), "/file");
    double seconds = (System.nanoTime() - start) / 1e9;
    // Three replicas.
    assertThat(lab.receivedByServers(SERVERS) - before).isBetween(3L * BYTES, 33L * BYTES / 10);
    assertThat(seconds).isGreaterThan(0.9 * BYTES / BYTES_PER_SECOND);
    long received = lab.receivedByClients();
    client(cluster, "-get", "/file", temp.resolve("back").toString());
    assertThat(lab.receivedByClients() - received).isBetween((long) BYTES, 11L * BYTES / 10);
    assertThat(Files.readAllBytes(temp.resolve("back"))).isEqualTo(data);

    // A slow link is slow in both directions. Restored, it has its old rate.
    for (int server = 0; server < SERVERS; server++) {
      lab.setRate(server, "8mbit");
      assertThat(rates(server)).containsExactly("8Mbit", "8Mbit");
    }
    start = System.nanoTime();
    client(cluster, "-get", "/file", temp.resolve("slow").toString());
    assertThat((System.nanoTime() - start) / 1e9).isGreaterThan(0.9 * BYTES / 1e6);
    for (int server = 0; server < SERVERS; server++) {
      lab.setRate(server, lab.rate());
      assertThat(rates(server)).containsExactly("20Mbit", "20Mbit");
    }
    client(cluster, "-get", "/file", temp.resolve("again").toString());
    assertThat(Files.readAllBytes(temp.resolve("again"))).isEqualTo(data);
    assertThatThrownBy(() -> lab.setRate(0, "slow")).hasMessageContaining("no rate of a link");

    // The launcher is gone, and somebody has removed the directory: the processes run on.
    assertThat(lab.isAbandoned(LocalCluster::exists)).isFalse();
    List<ProcessId> processes = List.copyOf(cluster.running().values());
    Files.delete(cluster.directory().resolve("cluster.json"));
    assertThat(lab.isAbandoned(LocalCluster::exists)).isTrue();
    assertThat(ShapedNetwork.all()).contains(new ShapedNetwork(lab.number(), "100mbit"));
    lab.down();
    assertThat(processes).noneMatch(ProcessId::isAlive);
    assertThat(ShapedNetwork.all()).extracting(ShapedNetwork::number).doesNotContain(lab.number());
    // The links are gone at once, so that a new lab can use their names.
    assertThat(Path.of("/sys/class/net"))
        .isDirectoryNotContaining("glob:**/ebb" + lab.number() + "{,v*}");
  }

  @Test
  void aNewLabRemovesTheNetworkThatAKilledOneHasLeft() throws Exception {
    assumeThat(System.getProperty("user.name")).as("a lab needs root").isEqualTo("root");
    lab = ShapedNetwork.choose("20mbit");
    lab.up(1);
    assertThat(ShapedNetwork.all()).extracting(ShapedNetwork::number).contains(lab.number());
    assertThatThrownBy(
            () -> Laboratory.start(Build.find(), ClusterSpec.of(temp.resolve("lab")), "fast"))
        .hasMessageContaining("--rate fast");
    assertThat(ShapedNetwork.all()).extracting(ShapedNetwork::number).doesNotContain(lab.number());
  }

  @Test
  void aRateThatIsNoneIsRefused() {
    assertThatThrownBy(() -> ShapedNetwork.choose("fast"))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("--rate fast")
        .hasMessageContaining("100mbit");
  }

  /** The rates of a server's link in the kernel, one for each direction. */
  private List<String> rates(int server) throws Exception {
    String name = "ebb" + lab.number();
    String rates = "";
    for (String show :
        List.of(
            "tc qdisc show dev " + name + "v" + (FIRST_SERVER + server),
            "tc -n " + name + "-" + ProcessNames.server(server) + " qdisc show dev eth0")) {
      Process tc = new ProcessBuilder(show.split(" ")).redirectErrorStream(true).start();
      rates += new String(tc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
    return Pattern.compile(" rate (\\S+)").matcher(rates).results().map(m -> m.group(1)).toList();
  }

  private void client(LocalCluster cluster, String... arguments) throws Exception {
    Process process =
        new ProcessBuilder(lab.clientCommand(cluster.stockClient().shell(arguments)))
            .redirectErrorStream(true)
            .redirectOutput(temp.resolve("client.log").toFile())
            .start();
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(temp.resolve("client.log"))).isZero();
  }
}
