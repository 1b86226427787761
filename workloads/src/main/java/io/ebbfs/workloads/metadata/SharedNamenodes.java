package io.ebbfs.workloads.metadata;

import io.ebbfs.common.jvm.JavaOptions;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.FreePorts;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ServerLog;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Namenodes and the nodes of their store, each a process, without chunk servers. Not thread-safe.
 */
final class SharedNamenodes implements AutoCloseable {
  private static final String HOST = "127.0.0.1";
  private static final long END_MILLIS = 30_000;
  private static final long POLL_MILLIS = 100;
  private static final int LOG_LINES = 15;
  private static final Pattern STORE_CALLS =
      Pattern.compile("ebbfs_store_calls_total\\{kind=\"([a-z-]+)\"} ([0-9.eE+]+)");

  private final Build build;
  private final Path directory;
  private final int heapMebibytes;
  private final Launcher launcher;
  private final List<Integer> storePorts;
  private final List<ProcessId> storeNodes = new ArrayList<>();
  private final List<Namenode> namenodes = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();

  /** One of the namenodes. */
  record Namenode(String name, int port, int httpPort, ProcessId process)
      implements ServerUnderLoad {
    @Override
    public String host() {
      return HOST;
    }

    @Override
    public long pid() {
      return process.pid();
    }
  }

  private SharedNamenodes(Build build, Path directory, int heapMebibytes, int storeNodes)
      throws ClusterException, IOException {
    this.build = build;
    this.directory = Files.createDirectories(directory);
    this.heapMebibytes = heapMebibytes;
    this.launcher = new Launcher(directory);
    this.storePorts = FreePorts.findTriples(storeNodes);
  }

  /** Launches all; each namenode serves calls when the method returns. */
  static SharedNamenodes start(
      Build build, Path directory, int heapMebibytes, int namenodes, int storeNodes)
      throws ClusterException, IOException, InterruptedException {
    SharedNamenodes made = new SharedNamenodes(build, directory, heapMebibytes, storeNodes);
    Runtime.getRuntime().addShutdownHook(new Thread(made::closeAtExit, "stop-namenodes"));
    try {
      for (int i = 0; i < storeNodes; i++) {
        made.launchStore(i);
      }
      for (int i = 0; i < namenodes; i++) {
        made.launchNamenode(i);
      }
      for (Namenode namenode : made.namenodes) {
        made.awaitServing(namenode);
      }
      return made;
    } catch (ClusterException | IOException | InterruptedException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  private String storeList() {
    return storePorts.stream().map(port -> HOST + ":" + port).collect(Collectors.joining(","));
  }

  private ServerLog log(String process) {
    return new ServerLog(directory.resolve("logs").resolve(process + ".log"));
  }

  private List<String> ebb(String... arguments) throws ClusterException {
    List<String> command = new ArrayList<>(List.of(Launcher.java()));
    command.addAll(JavaOptions.OPENS);
    command.addAll(NamenodeJvm.flags(heapMebibytes));
    command.add("-Djava.net.preferIPv4Stack=true");
    command.add("-XX:-UseDynamicNumberOfCompilerThreads"); // the time of a thread that ends is lost
    command.addAll(List.of("-cp", build.classPath("cli"), "io.ebbfs.cli.Ebb"));
    command.addAll(List.of(arguments));
    return command;
  }

  private void launchStore(int index) throws ClusterException, IOException {
    String name = "store-" + index;
    Path conf = Files.createDirectories(directory.resolve("conf").resolve(name));
    Files.writeString(conf.resolve("cluster.yaml"), "store: %s%n".formatted(storeList()));
    Files.writeString(
        conf.resolve("store.yaml"), "httpPort: %d%n".formatted(storePorts.get(index) + 2));
    List<String> command =
        ebb(
            "store",
            "--conf",
            conf.toString(),
            "--node",
            HOST + ":" + storePorts.get(index),
            "--data",
            directory.resolve(name).toString());
    storeNodes.add(launcher.start(name, command, directory, log(name)));
  }

  private void launchNamenode(int index) throws ClusterException {
    String name = "namenode-" + index;
    List<Integer> ports = FreePorts.find(2);
    List<String> command =
        ebb(
            "namenode",
            "--data",
            directory.resolve(name).toString(),
            "--host",
            HOST,
            "--port",
            Integer.toString(ports.get(0)),
            "--set",
            "httpPort=" + ports.get(1),
            "--set",
            "leaderTimeout=30s", // on a small machine, a busy leader would lose its leadership
            "--set",
            "storeNodes=" + storeList());
    ProcessId process = launcher.start(name, command, directory, log(name));
    namenodes.add(new Namenode(name, ports.get(0), ports.get(1), process));
  }

  private void awaitServing(Namenode namenode)
      throws ClusterException, IOException, InterruptedException {
    Process await =
        new ProcessBuilder(new GeneratorCommands(build).await(namenode, false, "/"))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    while (!await.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
      if (!namenode.process().isAlive()) {
        await.destroyForcibly();
        throw new ClusterException(
            "%s has ended; its log ends with%s"
                .formatted(namenode.name(), log(namenode.name()).tail(LOG_LINES)));
      }
    }
    if (await.exitValue() != 0) {
      throw new IOException(
          "the start of %s: %s"
              .formatted(namenode.name(), new String(await.getInputStream().readAllBytes())));
    }
  }

  List<Namenode> namenodes() {
    return List.copyOf(namenodes);
  }

  /**
   * Processor time so far, in microseconds.
   *
   * @param namenodes of all namenodes, without their compilers
   * @param store of all nodes of the store, without their compilers
   * @param compilers of the compilers of all these JVMs
   */
  record Spent(long namenodes, long store, long compilers) {
    Spent minus(Spent before) {
      return new Spent(
          namenodes - before.namenodes, store - before.store, compilers - before.compilers);
    }
  }

  Spent spent() throws IOException {
    long ofNamenodes = 0;
    long ofStore = 0;
    long compilers = 0;
    for (Namenode namenode : namenodes) {
      long compiler = namenode.process().compilerMicros();
      ofNamenodes += namenode.process().cpuMicros() - compiler;
      compilers += compiler;
    }
    for (ProcessId node : storeNodes) {
      long compiler = node.compilerMicros();
      ofStore += node.cpuMicros() - compiler;
      compilers += compiler;
    }
    return new Spent(ofNamenodes, ofStore, compilers);
  }

  /** Calls of the store by all namenodes so far, by kind. */
  Map<String, Double> storeCalls() throws IOException, InterruptedException {
    Map<String, Double> sums = new LinkedHashMap<>();
    for (Namenode namenode : namenodes) {
      HttpRequest request =
          HttpRequest.newBuilder(
                  URI.create("http://%s:%d/metrics".formatted(HOST, namenode.httpPort())))
              .build();
      String text = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
      Matcher line = STORE_CALLS.matcher(text);
      while (line.find()) {
        sums.merge(line.group(1), Double.parseDouble(line.group(2)), Double::sum);
      }
    }
    if (sums.isEmpty()) {
      throw new IOException("the metrics of the namenodes count no calls of the store");
    }
    return sums;
  }

  private void closeAtExit() {
    try {
      close();
    } catch (IOException e) {
      System.err.println("the namenodes could not be stopped: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    launcher.killAll(END_MILLIS);
  }
}
