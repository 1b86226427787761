package io.ebbfs.testbed.cluster;

import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.testbed.process.ServerLog;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Waits until processes of a cluster are ready. An error holds the end of the process's log. A
 * process that ends is noticed at once; the time limits are for processes that hang, so they are
 * longer than a start on a machine with ten times more work than cores.
 *
 * @param commands of the cluster whose processes are waited for
 */
record ReadinessWaiter(ProcessCommands commands) {
  private static final long JVM_START_MILLIS = 180_000;
  private static final long SERVER_START_MILLIS = 60_000;
  private static final long REGISTER_MILLIS = 120_000;
  private static final long DUMP_MILLIS = 2_000;
  private static final int DUMP_LINES = 150;
  private static final int CONNECT_MILLIS = 1_000;
  private static final int LOG_LINES = 15;

  void namenode(int index) throws ClusterException, InterruptedException {
    awaitReadyFile(ProcessNames.namenode(index), JVM_START_MILLIS);
  }

  void control() throws ClusterException, InterruptedException {
    awaitReadyFile(ProcessNames.CONTROL, JVM_START_MILLIS);
  }

  void server(int index) throws ClusterException, InterruptedException {
    awaitReadyFile(ProcessNames.server(index), SERVER_START_MILLIS);
  }

  /** The broker is ready when it accepts connections. */
  void kafka() throws ClusterException, InterruptedException {
    ClusterLayout layout = commands.layout();
    InetSocketAddress address =
        new InetSocketAddress(layout.host(ProcessNames.KAFKA), layout.ports().kafka());
    await(ProcessNames.KAFKA, JVM_START_MILLIS, () -> accepts(address));
  }

  void webHdfs() throws ClusterException, InterruptedException {
    ClusterLayout layout = commands.layout();
    InetSocketAddress address =
        new InetSocketAddress(layout.host(ProcessNames.HTTPFS), layout.ports().webHdfs());
    await(ProcessNames.HTTPFS, JVM_START_MILLIS, () -> accepts(address));
  }

  private static boolean accepts(InetSocketAddress address) {
    try (Socket socket = new Socket()) {
      socket.connect(address, CONNECT_MILLIS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void awaitReadyFile(String name, long timeoutMillis)
      throws ClusterException, InterruptedException {
    await(name, timeoutMillis, () -> Files.exists(commands.readyFile(name)));
  }

  private void await(String name, long timeoutMillis, BooleanSupplier ready)
      throws ClusterException, InterruptedException {
    ProcessId process = commands.layout().processes().get(name);
    Optional<String> objection =
        ConditionWaiter.within(timeoutMillis)
            .every(20)
            .objection(
                () -> {
                  if (ready.getAsBoolean()) {
                    return null;
                  }
                  if (!process.isAlive()) {
                    throw new ClusterException(failure(name, "ended before it was ready"));
                  }
                  return "not ready";
                });
    if (objection.isPresent()) {
      String what = "was not ready after %d s".formatted(timeoutMillis / 1000);
      if (ProcessNames.serverIndex(name) >= 0) {
        throw new ClusterException(failure(name, what));
      }
      process.dumpThreads();
      Thread.sleep(DUMP_MILLIS);
      throw new ClusterException(failure(name, what, DUMP_LINES));
    }
  }

  /**
   * Waits until the namenode has left safe mode and counts this number of chunk servers as live.
   */
  void registered(NamenodeClient namenode, int servers)
      throws ClusterException, InterruptedException {
    try {
      Optional<String> objection =
          ConditionWaiter.within(REGISTER_MILLIS)
              .objection(() -> unregistered(namenode.cluster(), servers));
      if (objection.isPresent()) {
        throw new ClusterException(
            failure(
                ProcessNames.NAMENODE,
                "says after %d s: %s".formatted(REGISTER_MILLIS / 1000, objection.get())));
      }
    } catch (IOException e) {
      throw new ClusterException(failure(ProcessNames.NAMENODE, "does not answer: " + e), e);
    }
  }

  private static String unregistered(GetClusterResponseProto cluster, int servers) {
    long live = cluster.getServersList().stream().filter(ServerStatusProto::getLive).count();
    return live >= servers && !cluster.getSafeMode()
        ? null
        : "%d of %d servers are live%s"
            .formatted(live, servers, cluster.getSafeMode() ? ", in safe mode" : "");
  }

  private String failure(String name, String what) {
    return failure(name, what, LOG_LINES);
  }

  private String failure(String name, String what, int lines) {
    ServerLog log = commands.log(name);
    return "%s %s; its log %s ends with%s".formatted(name, what, log.file(), log.tail(lines));
  }
}
