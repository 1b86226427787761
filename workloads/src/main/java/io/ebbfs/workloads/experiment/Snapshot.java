package io.ebbfs.workloads.experiment;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.cluster.LocalCluster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the namenode and the disks of a quiet cluster hold at one moment. Going back to it undoes
 * losses and repairs, so that each repetition of a loss begins with the same blocks on the same
 * disks; a server that comes back after a repair is empty otherwise, and the only one to be filled
 * by the next. The control plane stands still meanwhile; what it knows of the heat stays.
 */
final class Snapshot {
  private static final String NAMENODE = "namenode";

  private final LocalCluster cluster;
  private final Path copy;

  private Snapshot(LocalCluster cluster) {
    this.cluster = cluster;
    this.copy = cluster.directory().resolve("snapshot");
  }

  /** Of a cluster in which nothing is to be done. The namenode and the servers are restarted. */
  static Snapshot take(LocalCluster cluster)
      throws IOException, ClusterException, InterruptedException {
    Snapshot snapshot = new Snapshot(cluster);
    Files.createDirectory(snapshot.copy);
    snapshot.whileDown(
        () -> {
          for (String name : snapshot.names()) {
            run("cp", "-a", snapshot.place(name), snapshot.copy.resolve(name));
          }
        });
    return snapshot;
  }

  /** Puts everything back. All servers run afterwards. */
  void restore() throws IOException, ClusterException, InterruptedException {
    whileDown(
        () -> {
          for (String name : names()) {
            run("rm", "-rf", place(name));
            run("cp", "-a", copy.resolve(name), place(name));
          }
        });
  }

  private List<String> names() throws IOException {
    try (var all = Files.list(cluster.directory())) {
      return all.map(path -> path.getFileName().toString())
          .filter(name -> name.equals(NAMENODE) || name.startsWith("server-"))
          .sorted()
          .toList();
    }
  }

  private Path place(String name) {
    return cluster.directory().resolve(name);
  }

  private interface Step {
    void run() throws IOException, ClusterException, InterruptedException;
  }

  private void whileDown(Step step) throws IOException, ClusterException, InterruptedException {
    cluster.stallControl(true);
    try {
      cluster.killNamenode();
      for (int server = 0; server < cluster.layout().servers(); server++) {
        cluster.killServer(server);
      }
      step.run();
      cluster.startNamenode();
      for (int server = 0; server < cluster.layout().servers(); server++) {
        cluster.startServer(server);
      }
    } finally {
      cluster.stallControl(false);
    }
  }

  private static void run(Object... words) throws IOException, InterruptedException {
    List<String> command = Stream.of(words).map(Object::toString).toList();
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException("%s: %s".formatted(String.join(" ", command), said.strip()));
    }
  }
}
