package io.ebbfs.cli.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.cli.monitoring.MonitoringFiles;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.process.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The roles of a cluster, each started by itself from one configuration directory. */
@Tag("process")
class RolesSystemTest {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
  private static final long START_MILLIS = 240_000;

  /** This cluster has one namenode, and its manager has not seen a file or stripe yet. */
  private static final Set<String> OF_SEVERAL_NAMENODES_OR_STRIPES =
      Set.of(
          "ebbfs_namenode_leader",
          "ebbfs_namenode_serves",
          "ebbfs_files_by_state",
          "ebbfs_packing_bytes",
          "ebbfs_stripes_at_risk");

  @TempDir Path directory;
  private final Map<String, Process> processes = new LinkedHashMap<>();

  @AfterEach
  void killAll() {
    processes.values().forEach(Process::destroyForcibly);
  }

  private static String word(Path file) {
    return file.toString();
  }

  /** One directory for all roles. */
  private List<Integer> writeConfiguration() throws Exception {
    List<Integer> ports = FreePorts.find(9);
    Path logs = Files.createDirectories(directory.resolve("logs"));
    for (String file : List.of("manager.yaml", "policies.yaml", "raid-node.yaml")) {
      Files.copy(HOME.resolve("conf").resolve(file), directory.resolve(file));
    }
    write(
        "cluster.yaml",
        """
        namenodes: 127.0.0.1:%d
        kafka: 127.0.0.1:%d
        log: json
        logDirectory: %s
        control: {data: control, httpPort: %d}
        """
            .formatted(ports.get(0), ports.get(1), logs, ports.get(3)));
    write("namenode.yaml", "{httpPort: %d, data: names}".formatted(ports.get(4)));
    Path disk = Files.createDirectories(directory.resolve("disk"));
    write(
        "chunk-server.yaml",
        "{disks: [%s], transferPort: %d, ipcPort: %d, httpPort: %d}"
            .formatted(disk, ports.get(5), ports.get(6), ports.get(7)));
    return ports;
  }

  private void write(String file, String text) throws IOException {
    Files.writeString(directory.resolve(file), text);
  }

  private void start(String name, String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of(word(HOME.resolve("ebb"))));
    command.addAll(List.of(words));
    command.addAll(List.of("--conf", word(directory)));
    ProcessBuilder process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(name + ".out").toFile());
    process.environment().put("EBB_NO_BUILD", "1");
    processes.put(name, process.start());
  }

  private static int get(int port, String path) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    try {
      return HttpClient.newHttpClient()
          .send(request, HttpResponse.BodyHandlers.discarding())
          .statusCode();
    } catch (IOException e) {
      return -1;
    }
  }

  private static String text(int port, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  private void awaitReady(String name, int port) throws Exception {
    ConditionWaiter.within(START_MILLIS)
        .until(
            name + " is ready",
            () -> {
              assertThat(processes.get(name).isAlive()).as(said(name)).isTrue();
              return get(port, "/ready") == 200 ? null : said(name);
            });
    assertThat(get(port, "/live")).isEqualTo(200);
    assertThat(get(port, "/metrics")).isEqualTo(200);
  }

  private String said(String name) throws IOException {
    return name + " said: " + Files.readString(directory.resolve(name + ".out"));
  }

  private int stop(String name) throws InterruptedException {
    Process process = processes.remove(name);
    process.destroy();
    assertThat(process.waitFor(2, TimeUnit.MINUTES)).as(name + " stops").isTrue();
    return process.exitValue();
  }

  @Test
  void eachRoleStartsByItselfAndStopsInOrder() throws Exception {
    List<Integer> ports = writeConfiguration();
    start("kafka", "kafka");
    start("namenode", "namenode");
    start("chunkserver", "chunkserver");
    start("manager", "control", "--only", "manager");
    int raidPort = ports.get(8);
    start(
        "raid-node",
        "control",
        "--only",
        "raid-node",
        "--data",
        word(directory.resolve("raid")),
        "--http-port",
        String.valueOf(raidPort));
    awaitReady("namenode", ports.get(4));
    awaitReady("chunkserver", ports.get(7));
    awaitReady("manager", ports.get(3));
    awaitReady("raid-node", raidPort);

    String text = writeAndRead(ports.get(0));
    requireMonitoredMetrics(List.of(ports.get(4), ports.get(7), ports.get(3), raidPort));
    requireRightQuotas();

    assertThat(text).isEqualTo("written by a stock client");
    for (String name : List.of("raid-node", "manager", "chunkserver", "namenode")) {
      assertThat(stop(name)).as(said(name)).isZero();
      Path log = directory.resolve("logs").resolve(name + ".log");
      assertThat(Files.readAllLines(log)).isNotEmpty().allMatch(line -> line.startsWith("{\"time"));
    }
    assertThat(stop("kafka")).isEqualTo(143);
  }

  /**
   * The dashboard and the alerts name nothing that no process exports; the manager exports what it
   * knows after its first run. Nodes of a shared store do not run here.
   */
  private static void requireMonitoredMetrics(List<Integer> ports) throws Exception {
    ConditionWaiter.within(START_MILLIS)
        .until(
            "all metrics are exported",
            () -> {
              Set<String> missing = MonitoringFiles.metrics();
              missing.removeAll(exported(ports));
              missing.removeAll(OF_SEVERAL_NAMENODES_OR_STRIPES);
              missing.removeIf(name -> name.startsWith("ebbfs_store_"));
              return missing.isEmpty() ? null : "nobody exports " + missing;
            });
  }

  private static Set<String> exported(List<Integer> ports) throws Exception {
    Set<String> names = new TreeSet<>();
    for (int port : ports) {
      text(port, "/metrics")
          .lines()
          .filter(line -> !line.startsWith("#"))
          .forEach(line -> names.add(line.split("[{ ]")[0]));
    }
    return names;
  }

  private void requireRightQuotas() throws Exception {
    start("quotas", "quotas", "--mend");
    assertThat(processes.get("quotas").waitFor(3, TimeUnit.MINUTES)).isTrue();
    assertThat(processes.remove("quotas").exitValue()).as(said("quotas")).isZero();
    assertThat(said("quotas")).contains("the sums of all quotas are right.");
  }

  private static String writeAndRead(int port) throws IOException {
    Configuration client = new Configuration();
    client.setInt("dfs.replication", 1);
    var file = new org.apache.hadoop.fs.Path("/a");
    try (FileSystem files =
        FileSystem.newInstance(URI.create("hdfs://127.0.0.1:" + port), client)) {
      try (var out = files.create(file)) {
        out.write("written by a stock client".getBytes(StandardCharsets.UTF_8));
      }
      try (var in = files.open(file)) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    }
  }

  @Test
  void aWrongConfigurationTellsTheSupervisorNotToTryAgain() throws Exception {
    write("cluster.yaml", "namenodes: ''\n");
    for (String role : List.of("chunkserver", "control", "kafka")) {
      start(role, role);
      Process process = processes.get(role);
      assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).as(said(role)).isEqualTo(2);
      assertThat(said(role)).contains("cluster.yaml").doesNotContain("\tat ");
    }
  }
}
