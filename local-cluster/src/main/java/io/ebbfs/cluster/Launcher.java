package io.ebbfs.cluster;

import io.ebbfs.settings.FailPoints;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Starts processes that outlive the one that starts them. Each runs in a session of its own, so
 * that no terminal takes it along, and carries the cluster's directory in its environment, so that
 * it is found even if the starter died before it could write down the pid.
 */
record Launcher(Path clusterDirectory) {
  private static final String MARK = "EBBFS_CLUSTER";

  /** Where the fail points of the cluster are armed; if it exists, its processes have them. */
  Path failPoints() {
    return clusterDirectory.resolve("fail-points");
  }

  ProcessId start(String name, List<String> command, Path workDirectory, ServerLog log)
      throws ClusterException {
    List<String> detached = new ArrayList<>(List.of("setsid"));
    detached.addAll(command);
    try {
      log.rotate();
      ProcessBuilder builder =
          new ProcessBuilder(detached)
              .directory(workDirectory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.file().toFile()))
              .redirectInput(new File("/dev/null"));
      builder.environment().put(MARK, clusterDirectory.toString());
      if (Files.isDirectory(failPoints())) {
        builder.environment().put(FailPoints.DIRECTORY, failPoints().toString());
        builder.environment().put(FailPoints.PROCESS, name);
      }
      long pid = builder.start().pid();
      ProcessId process = awaitMark(pid);
      if (process == null) {
        throw new ClusterException(
            command.get(0) + " ended at once; its log ends with" + log.tail(15));
      }
      return process;
    } catch (IOException e) {
      throw new ClusterException(
          "%s could not be started: %s".formatted(command.get(0), e.getMessage()), e);
    }
  }

  /**
   * The process once it is found by its mark. While setsid gives way to the command, the
   * environment reads as empty for a moment: that must be over.
   */
  private ProcessId awaitMark(long pid) {
    while (true) {
      ProcessId process = ProcessId.of(pid).orElse(null);
      if (process == null
          || process.hasReplacedSetsid()
              && process.hasEnvironment(MARK, clusterDirectory.toString())) {
        return process;
      }
      Thread.onSpinWait();
    }
  }

  /** Every process that any launcher has started for this cluster and that still runs. */
  List<ProcessId> running() throws IOException {
    return ProcessId.withEnvironment(MARK, clusterDirectory.toString());
  }

  /** The directory of the cluster that a process was started for; empty if for none. */
  static Optional<Path> clusterOf(long pid) {
    return ProcessId.of(pid).flatMap(process -> process.environment(MARK)).map(Path::of);
  }
}
