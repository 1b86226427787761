package io.ebbfs.verify.system;

import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A real cluster for a test, in a temporary directory that is deleted when the test ends. */
final class TestCluster implements AutoCloseable {
  static final int BLOCK_BYTES = 1 << 20;

  private final Path directory;
  private final Build build;
  private final LocalCluster cluster;
  private final List<AutoCloseable> clients = new ArrayList<>();

  private TestCluster(Path directory, Build build, LocalCluster cluster) {
    this.directory = directory;
    this.build = build;
    this.cluster = cluster;
  }

  static TestCluster start(int servers, int disks) throws Exception {
    return start(servers, disks, Map.of());
  }

  static TestCluster start(int servers, int disks, Map<String, String> configuration)
      throws Exception {
    return start(servers, disks, configuration, 1);
  }

  static TestCluster start(int servers, int disks, Map<String, String> configuration, int racks)
      throws Exception {
    return start(servers, disks, configuration, racks, false);
  }

  /** With a process that serves WebHDFS. */
  static TestCluster startWithWebHdfs(int servers, int disks) throws Exception {
    return start(servers, disks, Map.of(), 1, true);
  }

  private static TestCluster start(
      int servers, int disks, Map<String, String> configuration, int racks, boolean webHdfs)
      throws Exception {
    Path directory = Files.createTempDirectory("ebbfs-test");
    Build build = Build.find();
    ClusterSpec spec =
        ClusterSpec.of(directory.resolve("cluster"))
            .withServers(servers, disks)
            .withRacks(racks)
            .withBlockSize(BLOCK_BYTES)
            .withHeartbeat(300)
            .withPorts(0, 0)
            .withConfFiles(withPolicies(configuration));
    LocalCluster cluster = LocalCluster.create(build, spec);
    if (webHdfs) {
      cluster.withWebHdfs();
    }
    TestCluster test = new TestCluster(directory, build, cluster);
    try {
      cluster.start();
    } catch (ClusterException e) {
      test.close();
      throw e;
    }
    return test;
  }

  /** Unless a test gives policies, no policy applies to its files. */
  private static Map<String, String> withPolicies(Map<String, String> configuration) {
    Map<String, String> files = new HashMap<>(configuration);
    files.putIfAbsent(
        "policies.yaml", "policies: [{name: none, paths: [/nothing], code: 'XOR(2,1)'}]\n");
    return files;
  }

  LocalCluster cluster() {
    return cluster;
  }

  Path directory() {
    return directory;
  }

  /** A stock client that is closed with the cluster. */
  StockProcess client(int threads) throws IOException {
    return closedWithCluster(
        new StockProcess(
            build.home(),
            threads,
            Map.of(
                "fs.defaultFS", cluster.stockClient().uri(),
                "dfs.blocksize", Integer.toString(BLOCK_BYTES)),
            directory.resolve("stock-client.log")));
  }

  /** A client of the namenode that is closed with the cluster. */
  NamenodeClient namenode() throws IOException {
    return closedWithCluster(cluster.namenodeClient());
  }

  private <T extends AutoCloseable> T closedWithCluster(T client) {
    clients.add(client);
    return client;
  }

  record ShellResult(int exitCode, String output) {}

  /** Runs the stock file system shell; standard error is part of the output. */
  ShellResult shell(String... arguments) throws Exception {
    List<String> command = cluster.stockClient().shell(arguments);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes());
    return new ShellResult(process.waitFor(), output);
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable client : clients) {
      client.close();
    }
    cluster.stop();
    try (Stream<Path> all = Files.walk(directory)) {
      all.sorted(Comparator.reverseOrder())
          .forEach(
              path -> {
                try {
                  Files.delete(path);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    }
  }
}
