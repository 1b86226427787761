package io.ebbfs.workloads.demo;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.workloads.demo.DataSet.Family;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * The demo's cluster, a connection to its namenode, and stock clients in processes of their own.
 * The probe may be asked for from any thread; everything else is for one thread.
 */
final class DemoCluster implements AutoCloseable {
  private static final int CLIENT_THREADS = 4;
  private static final int HEARTBEAT_MILLIS = 500;

  private final Build build;
  private final LocalCluster cluster;
  private volatile ClusterProbe probe;
  private StockProcess client;
  private StockProcess readers;

  DemoCluster(Build build, DemoOptions options) throws ClusterException {
    this.build = build;
    cluster =
        LocalCluster.create(
            build,
            ClusterSpec.of(options.clusterDirectory())
                .withServers(options.servers(), options.disks())
                .withBlockSize(DemoConfiguration.BLOCK_BYTES)
                .withHeartbeat(HEARTBEAT_MILLIS)
                .withPorts(0, options.httpPort())
                .withConfFiles(DemoConfiguration.files()));
  }

  LocalCluster local() {
    return cluster;
  }

  /** The namenode; null while there is none. */
  ClusterProbe probe() {
    return probe;
  }

  /** The client of the demo's own steps. */
  StockProcess client() {
    return client;
  }

  /** The client of background readers. */
  StockProcess readers() {
    return readers;
  }

  /** Starts all processes, with the data that an earlier run left on the disks, if any. */
  void start() throws IOException, ClusterException, InterruptedException {
    cluster.start();
    probe = new ClusterProbe(CodeRegistry.builtIn(), cluster.namenodeClient());
    client = newClient();
    readers = newClient();
  }

  private StockProcess newClient() throws IOException {
    return new StockProcess(
        build.home(),
        CLIENT_THREADS,
        Map.of(
            "fs.defaultFS", cluster.stockClient().uri(),
            "dfs.blocksize", Integer.toString(DemoConfiguration.BLOCK_BYTES)),
        cluster.directory().resolve("logs/stock-client.log"));
  }

  /** Ends the clients and kills all processes of the cluster. */
  void killAll() throws ClusterException, InterruptedException {
    disconnect();
    cluster.killAll();
  }

  private void disconnect() {
    ClusterProbe old = probe;
    probe = null;
    if (old != null) {
      old.close();
    }
    if (client != null) {
      client.close();
      client = null;
    }
    if (readers != null) {
      readers.close();
      readers = null;
    }
  }

  long residentBytes() {
    return cluster.running().values().stream().mapToLong(ProcessId::residentBytes).sum();
  }

  /** Of the largest chunk server. */
  long chunkServerResidentBytes() {
    return cluster.running().entrySet().stream()
        .filter(process -> isServer(process.getKey()))
        .mapToLong(process -> process.getValue().residentBytes())
        .max()
        .orElse(0);
  }

  /** Whether the namenode has noticed which servers are gone. */
  boolean deadServersAreKnown() throws IOException {
    long live =
        probe.cluster().getServersList().stream().filter(server -> server.getLive()).count();
    return live == cluster.running().keySet().stream().filter(DemoCluster::isServer).count();
  }

  private static boolean isServer(String process) {
    return process.startsWith("server-");
  }

  List<TransitionRow> activeTransitions() throws IOException {
    return probe.transitions(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING);
  }

  Map<TransitionKindProto, Long> doneByKind() throws IOException {
    return ClusterProbe.countBy(
        probe.transitions(TransitionStateProto.DONE), TransitionRow::getKind);
  }

  /** The sum of the monotonic counters whose names start with the prefix. */
  long counted(String prefix) throws IOException {
    return probe.counters(prefix).values().stream().mapToLong(Long::longValue).sum();
  }

  boolean isWithinBounds() throws IOException {
    for (Map.Entry<Family, ClusterProbe.Usage> usage : FamilyUsage.of(probe).entrySet()) {
      if (usage.getValue().overhead() > DemoConfiguration.bound(usage.getKey())) {
        return false;
      }
    }
    return true;
  }

  /** Ends the clients; the processes of the cluster stay. */
  @Override
  public void close() {
    disconnect();
  }
}
