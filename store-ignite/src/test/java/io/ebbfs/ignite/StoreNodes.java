package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.jvm.JavaOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Nodes of a store, each a process of its own. */
final class StoreNodes implements AutoCloseable {
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(90);

  /** The quick compiler alone, for tests; 4 for measurements. */
  private static final int COMPILERS = Integer.getInteger("storeCompilers", 1);

  /** Of each row; fewer to see what the copies cost and what they are good for. */
  private static final int COPIES =
      Integer.getInteger("storeCopies", StoreNodeConfig.defaults().copies());

  private final Path directory;
  private final List<Integer> ports = new ArrayList<>();
  private final List<Process> processes = new ArrayList<>();

  private StoreNodes(Path directory, int nodes) throws IOException {
    this.directory = directory;
    List<ServerSocket> taken = new ArrayList<>();
    for (int i = 0; i < 2 * nodes; i++) {
      taken.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      ports.add(taken.get(i).getLocalPort());
    }
    for (ServerSocket one : taken) {
      one.close();
    }
    for (int i = 0; i < nodes; i++) {
      processes.add(null);
    }
  }

  /** Starts nodes with empty disks and waits until they serve. */
  static StoreNodes start(Path directory, int nodes) throws Exception {
    StoreNodes all = new StoreNodes(directory, nodes);
    boolean started = false;
    try {
      for (int i = 0; i < nodes; i++) {
        all.start(i);
      }
      for (int i = 0; i < nodes; i++) {
        all.awaitServing(i);
      }
      started = true;
      return all;
    } finally {
      if (!started) {
        all.close();
      }
    }
  }

  List<String> peers() {
    List<String> peers = new ArrayList<>();
    for (int i = 0; i < processes.size(); i++) {
      peers.add("127.0.0.1:" + ports.get(2 * i));
    }
    return peers;
  }

  StoreClientConfig client() {
    return StoreClientConfig.of(directory.resolve("client"), "127.0.0.1", peers());
  }

  /** Starts a node that does not run. */
  void start(int node) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JavaOptions.OPENS);
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=" + COMPILERS));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(StoreNodeMain.class.getName());
    command.add(directory.resolve("node-" + node).toString());
    command.add(ports.get(2 * node).toString());
    command.add(ports.get(2 * node + 1).toString());
    command.add(String.join(",", peers()));
    command.add(String.valueOf(COPIES));
    processes.set(
        node,
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log(node).toFile())
            .start());
  }

  private Path log(int node) {
    return directory.resolve("node-" + node + ".log");
  }

  List<Long> pids() {
    return processes.stream().map(Process::pid).toList();
  }

  /** Kills a node as a broken machine would. */
  void kill(int node) throws InterruptedException {
    processes.get(node).destroyForcibly().waitFor();
  }

  /** Takes the disk of a node that does not run away. */
  void empty(int node) throws IOException {
    try (Stream<Path> all = Files.walk(directory.resolve("node-" + node))) {
      for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(one);
      }
    }
  }

  /** Freezes a node ("STOP"), or lets it go on ("CONT"). */
  void signal(int node, String signal) throws Exception {
    String pid = String.valueOf(processes.get(node).pid());
    assertThat(new ProcessBuilder("kill", "-" + signal, pid).start().waitFor()).isZero();
  }

  /** Asks a node to stop, and returns its exit code. */
  int stop(int node) throws InterruptedException {
    processes.get(node).destroy();
    return processes.get(node).waitFor();
  }

  /** Waits until a node has ended by itself, and returns its log. */
  String awaitEnd(int node) throws Exception {
    assertThat(processes.get(node).waitFor(60, TimeUnit.SECONDS)).as("it has ended").isTrue();
    return Files.readString(log(node));
  }

  /** Waits until a node tells that the store serves. */
  void awaitServing(int node) throws Exception {
    awaitLine(node, StoreNodeMain.SERVES);
  }

  /** Waits until a node tells that each row has so many complete copies. */
  void awaitCopies(int node, int copies) throws Exception {
    awaitLine(node, "copies " + copies);
  }

  /** Waits until all nodes tell that each row has all its copies. */
  void awaitAllCopies() throws Exception {
    for (int node = 0; node < processes.size(); node++) {
      awaitCopies(node, Math.min(COPIES, processes.size()));
    }
  }

  /** Waits for the last line of the log of a node. */
  private void awaitLine(int node, String line) throws Exception {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (!last(node, line)) {
      if (System.nanoTime() > deadline || !processes.get(node).isAlive()) {
        throw new IOException(
            "node %d does not tell '%s': %s".formatted(node, line, Files.readString(log(node))));
      }
      Thread.sleep(20);
    }
  }

  private boolean last(int node, String line) throws IOException {
    List<String> told =
        Files.readAllLines(log(node)).stream()
            .filter(one -> one.startsWith(line.split(" ")[0]))
            .toList();
    return !told.isEmpty() && told.get(told.size() - 1).equals(line);
  }

  @Override
  public void close() {
    for (Process process : processes) {
      if (process != null) {
        process.destroyForcibly();
      }
    }
  }
}
