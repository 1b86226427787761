package io.ebbfs.cli.system;

import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.process.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A cluster whose roles run from unpacked releases: a raid-node, three chunk servers, three nodes
 * of the metadata store and two namenodes. Each store node and namenode has an address of its own
 * on the loopback device. A namenode sees all chunk servers at one address, so they have ports of
 * their own. Not thread-safe.
 */
final class ReleasedCluster implements AutoCloseable {
  private static final Path EXAMPLES = Path.of("..", "conf");
  private static final int MACHINES = 3;
  private static final int NAMENODES = 2;
  private static final long START_MILLIS = 120_000;
  private static final int STOP_SECONDS = 30;
  private static final Pattern ALL_REPLICATED =
      Pattern.compile("(?m)^ebbfs_namenode_under_replicated_blocks 0$");
  private static final String NAME_SERVICE = "ebbfs";

  /** A role at its machine: the words that start it, and the port where it tells its state. */
  private record Role(int machine, String host, int httpPort, List<String> words) {}

  private record Running(Process process, Path release) {}

  private final Path directory;
  private final int storePort;
  private final int storeHttpPort;
  private final int namenodePort;
  private final int namenodeHttpPort;
  private final int controlHttpPort;
  private final List<Integer> chunkServerPorts;
  private final Map<String, Role> roles = new LinkedHashMap<>();
  private final Map<String, Running> running = new LinkedHashMap<>();
  private final HttpClient http = HttpClient.newHttpClient();

  private ReleasedCluster(Path directory) throws Exception {
    this.directory = directory;
    List<Integer> triples = FreePorts.findTriples(2 + MACHINES);
    storePort = triples.get(0);
    storeHttpPort = storePort + 2;
    namenodePort = triples.get(1);
    namenodeHttpPort = namenodePort + 1;
    controlHttpPort = namenodePort + 2;
    chunkServerPorts = triples.subList(2, 2 + MACHINES);
    for (int machine = 0; machine < MACHINES; machine++) {
      configure(machine);
    }
    addRoles();
  }

  /** The roles in the order of an upgrade. */
  private void addRoles() {
    add("raid-node", 0, host(0), controlHttpPort, "control", "--only", "raid-node");
    for (int machine = 0; machine < MACHINES; machine++) {
      int httpPort = chunkServerPorts.get(machine) + 2;
      add("chunkserver-" + machine, machine, host(0), httpPort, "chunkserver");
    }
    for (int machine = 0; machine < MACHINES; machine++) {
      String host = host(machine);
      String node = host + ":" + storePort;
      add("store-" + machine, machine, host, storeHttpPort, "store", "--node", node);
    }
    for (int machine = 0; machine < NAMENODES; machine++) {
      String host = host(machine);
      add("namenode-" + machine, machine, host, namenodeHttpPort, "namenode", "--host", host);
    }
  }

  private void add(String name, int machine, String host, int httpPort, String... words) {
    roles.put(name, new Role(machine, host, httpPort, List.of(words)));
  }

  /** Starts all roles from one release; the cluster serves when the method returns. */
  static ReleasedCluster start(Path release, Path directory) throws Exception {
    ReleasedCluster cluster = new ReleasedCluster(directory);
    try {
      for (String role : cluster.roles.keySet()) {
        cluster.launch(role, release);
      }
      cluster.awaitWhole();
      return cluster;
    } catch (Exception e) {
      cluster.close();
      throw e;
    }
  }

  /** The names of the roles in the order of an upgrade. */
  List<String> roles() {
    return List.copyOf(roles.keySet());
  }

  /** The roles that run in a release. */
  List<String> runningIn(Path release) {
    return running.entrySet().stream()
        .filter(entry -> entry.getValue().release().equals(release))
        .map(Map.Entry::getKey)
        .sorted((a, b) -> roles().indexOf(a) - roles().indexOf(b))
        .toList();
  }

  /** What a stock client needs, as docs/deploy.md says. */
  Map<String, String> clientSettings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("fs.defaultFS", "hdfs://" + NAME_SERVICE);
    settings.put("dfs.nameservices", NAME_SERVICE);
    settings.put(
        "dfs.ha.namenodes." + NAME_SERVICE,
        IntStream.range(0, NAMENODES).mapToObj(i -> "nn" + i).collect(Collectors.joining(",")));
    for (int i = 0; i < NAMENODES; i++) {
      settings.put(
          "dfs.namenode.rpc-address.%s.nn%d".formatted(NAME_SERVICE, i),
          host(i) + ":" + namenodePort);
    }
    settings.put(
        "dfs.client.failover.proxy.provider." + NAME_SERVICE,
        "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider");
    settings.put("dfs.client.failover.random.order", "true");
    settings.put("dfs.replication", "2");
    return settings;
  }

  /** Stops a role, starts it from another release, and waits until another role may stop. */
  void upgrade(String role, Path release) throws Exception {
    Process old = running.get(role).process();
    old.destroy();
    if (!old.waitFor(STOP_SECONDS, TimeUnit.SECONDS) || old.exitValue() != 0) {
      throw new IOException(role + " did not stop in order; " + said(role));
    }
    launch(role, release);
    awaitWhole();
  }

  private void launch(String name, Path release) throws IOException {
    Role role = roles.get(name);
    List<String> command = new ArrayList<>(List.of(release.resolve("ebb").toString()));
    command.addAll(role.words());
    command.addAll(List.of("--conf", machine(role.machine()).toString()));
    Process process =
        new ProcessBuilder(command)
            .directory(machine(role.machine()).toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log(name).toFile()))
            .start();
    running.put(name, new Running(process, release));
  }

  /** Waits until all roles are ready and each block has all its replicas. */
  private void awaitWhole() throws Exception {
    for (Map.Entry<String, Role> role : roles.entrySet()) {
      String name = role.getKey();
      ConditionWaiter.within(START_MILLIS)
          .until(name + " is ready", () -> isReady(role.getValue()) ? null : said(name));
    }
    ConditionWaiter.within(START_MILLIS)
        .until(
            "replication",
            () -> {
              for (int i = 0; i < NAMENODES; i++) {
                if (get(host(i), namenodeHttpPort, "/metrics")
                    .filter(text -> ALL_REPLICATED.matcher(text).find())
                    .isPresent()) {
                  return null;
                }
              }
              return "no namenode says that all blocks have their replicas";
            });
  }

  private boolean isReady(Role role) throws InterruptedException {
    return get(role.host(), role.httpPort(), "/ready").isPresent();
  }

  /** The text of an answer; empty if the answer is not 200, or if there is none. */
  private Optional<String> get(String host, int port, String path) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://%s:%d%s".formatted(host, port, path)))
            .timeout(Duration.ofSeconds(5))
            .build();
    try {
      HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
      return answer.statusCode() == 200 ? Optional.of(answer.body()) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static String host(int machine) {
    return "127.0.0." + (1 + machine);
  }

  private static String all(int machines, int port) {
    return IntStream.range(0, machines)
        .mapToObj(machine -> host(machine) + ":" + port)
        .collect(Collectors.joining(","));
  }

  private Path machine(int machine) {
    return directory.resolve("machine-" + machine);
  }

  private Path log(String role) {
    return directory.resolve(role + ".log");
  }

  private String said(String role) throws IOException {
    String text = Files.readString(log(role));
    return role + " said: " + text.substring(Math.max(0, text.length() - 3_000));
  }

  private void configure(int machine) throws IOException {
    Path conf = Files.createDirectories(machine(machine));
    for (String file : List.of("manager.yaml", "policies.yaml", "raid-node.yaml")) {
      Files.copy(EXAMPLES.resolve(file), conf.resolve(file));
    }
    Files.writeString(
        conf.resolve("cluster.yaml"),
        """
        namenodes: %s
        store: %s
        host: %s
        control: {httpPort: %d}
        """
            .formatted(
                all(NAMENODES, namenodePort), all(MACHINES, storePort), host(0), controlHttpPort));
    Files.writeString(
        conf.resolve("store.yaml"),
        "{httpPort: %d, memory: 128MiB, log: 128MiB, partitions: 16}".formatted(storeHttpPort));
    Files.writeString(
        conf.resolve("namenode.yaml"),
        "{httpPort: %d, repairDelay: 1s, safeModeGrace: 2s}".formatted(namenodeHttpPort));
    Files.writeString(
        conf.resolve("chunk-server.yaml"),
        "{disks: [%s], transferPort: %d, ipcPort: %d, httpPort: %d}"
            .formatted(
                Files.createDirectories(conf.resolve("disk")),
                chunkServerPorts.get(machine),
                chunkServerPorts.get(machine) + 1,
                chunkServerPorts.get(machine) + 2));
  }

  @Override
  public void close() {
    running.values().forEach(role -> role.process().destroyForcibly());
    for (Running role : running.values()) {
      role.process().onExit().join();
    }
  }
}
