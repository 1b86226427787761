package io.ebbfs.workloads.experiment;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A copy of the namenode's store and of all disks of a quiet cluster. Going back to it undoes
 * losses and repairs, so that each repetition of a loss begins with the same blocks on the same
 * disks. Without it, a server that comes back after a repair would be empty, and the next repair
 * would fill this server only. The control plane is stalled meanwhile and keeps the heat of files.
 */
final class DiskSnapshot {
  private static final String NAMENODE = "namenode";

  private final LocalCluster cluster;
  private final Path copy;

  private DiskSnapshot(LocalCluster cluster) {
    this.cluster = cluster;
    this.copy = cluster.directory().resolve("snapshot");
  }

  /** Copies a cluster without pending work, then restarts the namenode and the servers. */
  static DiskSnapshot take(LocalCluster cluster)
      throws IOException, ClusterException, InterruptedException {
    DiskSnapshot snapshot = new DiskSnapshot(cluster);
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
