package io.ebbfs.cli.options;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option {@code --dir} of commands that work on a local cluster. */
public final class ClusterDirectory {
  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The directory of the cluster (default: ~/.ebbfs).")
  private Path directory;

  /** Whether the command line names a directory. */
  public boolean isGiven() {
    return directory != null;
  }

  public Path path() {
    Path chosen =
        directory == null ? Path.of(System.getProperty("user.home"), ".ebbfs") : directory;
    return chosen.toAbsolutePath().normalize();
  }

  /** The cluster of the directory, running or not. */
  public LocalCluster open() throws ClusterException {
    return LocalCluster.open(Build.find(), path());
  }
}
