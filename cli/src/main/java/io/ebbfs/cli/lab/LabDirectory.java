package io.ebbfs.cli.lab;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.lab.Laboratory;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option {@code --dir} of commands that work on a lab. */
final class LabDirectory {
  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The directory of the lab (default: ~/.ebbfs-lab).")
  private Path directory = Path.of(System.getProperty("user.home"), ".ebbfs-lab");

  Path path() {
    return directory.toAbsolutePath().normalize();
  }

  /** The cluster of the lab, running or not. */
  LocalCluster open() throws ClusterException {
    return Laboratory.open(Build.find(), path());
  }
}
