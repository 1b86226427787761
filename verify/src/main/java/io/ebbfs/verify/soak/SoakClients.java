package io.ebbfs.verify.soak;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.ToolProcess;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.verify.cluster.ClientSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/** The processes of the stock clients, each shared by several users. Thread-safe. */
final class SoakClients implements AutoCloseable {
  /** Longer than any time-out of a client together with all of its retries. */
  private static final long PATIENCE_SECONDS = 240;

  private final Build build;
  private final LocalCluster cluster;
  private final List<ToolProcess> processes = new ArrayList<>();

  SoakClients(LocalCluster cluster, int processes) throws ClusterException, IOException {
    this.build = Build.find();
    this.cluster = cluster;
    for (int i = 0; i < processes; i++) {
      this.processes.add(start(i));
    }
  }

  private ToolProcess start(int index) throws IOException {
    Path log = cluster.directory().resolve("logs").resolve("client-" + index + ".log");
    UnaryOperator<List<String>> place =
        cluster.layout().lab() == null
            ? UnaryOperator.identity()
            : cluster.layout().lab()::clientCommand;
    java.util.Map<String, String> settings = new java.util.TreeMap<>(ClientSettings.UNDER_FAULTS);
    settings.put("fs.defaultFS", cluster.stockClient().uri());
    return new ToolProcess(build.home(), "SoakTool", List.of(), settings, log, place);
  }

  int count() {
    return processes.size();
  }

  /** An operation that did not end, neither well nor badly, although it had a lot of time. */
  static final class StuckException extends IOException {
    private static final long serialVersionUID = 1;

    StuckException(String message) {
      super(message);
    }
  }

  /**
   * Runs a request in one of the processes.
   *
   * @throws StuckException if there is no answer in time
   * @throws IOException with the client's message if it fails
   */
  List<String> call(int process, String verb, String... fields)
      throws IOException, InterruptedException {
    ToolProcess tool;
    synchronized (this) {
      tool = processes.get(process);
    }
    try {
      return tool.request(verb, fields).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new StuckException(
          "%s %s has not ended after %d s; its process is %d"
              .formatted(verb, String.join(" ", fields), PATIENCE_SECONDS, tool.pid()));
    }
  }

  /** Kills a process with SIGKILL, with all its open files, and starts another in its place. */
  synchronized void kill(int process) throws IOException, InterruptedException {
    processes.get(process).kill();
    processes.set(process, start(process));
  }

  @Override
  public synchronized void close() {
    processes.forEach(ToolProcess::close);
  }
}
