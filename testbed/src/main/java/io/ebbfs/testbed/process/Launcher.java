package io.ebbfs.testbed.process;

import io.ebbfs.common.failpoint.FailPoints;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Starts processes that outlive this one. Each process runs in a session of its own, so that the
 * end of a terminal does not end it. Its environment names the directory of the cluster, so that it
 * is found even if this process dies before it writes down the pid.
 */
public record Launcher(Path clusterDirectory) {
  /** The environment variable with the directory of the cluster. */
  public static final String MARK = "EBBFS_CLUSTER";

  /** The environment variable by which './ebb test' finds the processes of a run. */
  public static final String TEST_RUN = "EBB_TEST_RUN";

  /** The path of this JVM's {@code java}. */
  public static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /** The directory of the cluster's fail points. Processes have fail points if it exists. */
  public Path failPoints() {
    return clusterDirectory.resolve("fail-points");
  }

  /** The clocks of the cluster's processes. */
  public ShiftedClocks clocks() {
    return new ShiftedClocks(clusterDirectory.resolve("clocks"));
  }

  /** Starts a command and returns its process once it can be found by {@link #running}. */
  public ProcessId start(String name, List<String> command, Path workDirectory, ServerLog log)
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
      clocks().addTo(builder.environment(), name);
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
   * Waits until the process can be found by its mark. The environment reads as empty for a moment
   * while setsid replaces itself by the command.
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

  /** All running processes that any launcher has started for this cluster. */
  public List<ProcessId> running() throws IOException {
    return ProcessId.withEnvironment(MARK, clusterDirectory.toString());
  }

  /**
   * Kills all running processes of this cluster, also those that others still start meanwhile.
   *
   * @throws IOException if a process still runs after this time; names the processes
   */
  public void killAll(long timeoutMillis) throws IOException, InterruptedException {
    ConditionWaiter.within(timeoutMillis)
        .until(
            "the end of the processes of " + clusterDirectory,
            () -> {
              List<ProcessId> running = running();
              running.forEach(process -> process.signal(true));
              return running.isEmpty() ? null : "these still run: " + running;
            });
  }

  /** The directory of the cluster that a process belongs to; empty if to none. */
  public static Optional<Path> clusterOf(long pid) {
    return ProcessId.of(pid).flatMap(process -> process.environment(MARK)).map(Path::of);
  }
}
