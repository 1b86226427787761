package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.lab.Laboratory;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.workloads.experiment.Experiment.Cluster;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * The cluster of one system, with two clients: the link of one is as slow as a server's, and the
 * other one stores and opens files at full speed. The clients and the probe are thread-safe, the
 * bench is not.
 */
final class Bench implements AutoCloseable {
  private static final int CLIENT_THREADS = 16;

  private final Build build;
  private final LocalCluster cluster;
  private final ClusterProbe probe;
  private final FileSystem files;
  private final StockProcess client;
  private final StockProcess loader;
  private final Thread killer = new Thread(this::discardQuietly);

  private Bench(Build build, LocalCluster cluster) throws IOException {
    this.build = build;
    this.cluster = cluster;
    Runtime.getRuntime().addShutdownHook(killer);
    probe = new ClusterProbe(CodeRegistry.builtIn(), cluster.namenodeClient());
    files = FileSystem.newInstance(URI.create(cluster.stockClient().uri()), new Configuration());
    ShapedNetwork lab = cluster.layout().lab();
    client = stock("client", lab == null ? UnaryOperator.identity() : lab::clientCommand);
    loader = stock("loader", lab == null ? UnaryOperator.identity() : lab::unshapedCommand);
  }

  /**
   * Starts a cluster.
   *
   * @param directory of the cluster; files that an interrupted run left in it are removed
   * @param loopback without links of a rate
   */
  static Bench start(
      Path directory, Cluster shape, Map<String, String> configuration, boolean loopback)
      throws ClusterException, IOException, InterruptedException {
    Build build = Build.find();
    if (LocalCluster.exists(directory)) {
      Laboratory.discard(LocalCluster.open(build, directory));
    }
    ClusterSpec spec =
        ClusterSpec.of(directory)
            .withServers(shape.servers(), shape.disks())
            .withRacks(shape.racks())
            .withBlockSize(shape.blockBytes())
            .withHeartbeat(300)
            .withPorts(0, 0)
            .withConfFiles(configuration);
    LocalCluster cluster;
    if (loopback) {
      cluster = LocalCluster.create(build, spec);
      cluster.start();
    } else {
      cluster = Laboratory.start(build, spec, shape.rate());
    }
    try {
      return new Bench(build, cluster);
    } catch (IOException | RuntimeException e) {
      Laboratory.discard(cluster);
      throw e;
    }
  }

  private StockProcess stock(String name, UnaryOperator<List<String>> place) throws IOException {
    return new StockProcess(
        build.home(),
        CLIENT_THREADS,
        Map.of(
            "fs.defaultFS", cluster.stockClient().uri(),
            "dfs.blocksize", Long.toString(cluster.layout().blockSizeBytes())),
        cluster.directory().resolve(name + ".log"),
        place);
  }

  LocalCluster cluster() {
    return cluster;
  }

  ClusterProbe probe() {
    return probe;
  }

  /** A client in this process, which asks for block locations. */
  FileSystem files() {
    return files;
  }

  /** The client whose reads are measured. */
  StockProcess client() {
    return client;
  }

  /** A client whose link has no rate. */
  StockProcess loader() {
    return loader;
  }

  /** The number of the server with this address and IPC port. */
  int server(String address, int ipcPort) {
    var ports = cluster.layout().ports().ipc();
    for (int i = 0; i < ports.size(); i++) {
      if (ports.get(i) == ipcPort && cluster.hostOf(i).equals(address)) {
        return i;
      }
    }
    throw new IllegalArgumentException("no server at %s:%d".formatted(address, ipcPort));
  }

  /** Whether the namenode considers a server live. */
  boolean isLive(int server) throws IOException {
    return isLive(probe.cluster(), server);
  }

  /** The same by an answer of the namenode. */
  boolean isLive(GetClusterResponseProto cluster, int server) {
    for (ServerStatusProto status : cluster.getServersList()) {
      var id = status.getServer();
      if (server(id.getIpAddr(), id.getIpcPort()) == server) {
        return status.getLive();
      }
    }
    return false;
  }

  /** Gives the links of all servers another rate. Does nothing on loopback. */
  void setServerRate(String rate) throws ClusterException, InterruptedException {
    ShapedNetwork lab = cluster.layout().lab();
    for (int server = 0; lab != null && server < cluster.layout().servers(); server++) {
      lab.setRate(server, rate);
    }
  }

  /** Bytes that all servers have received; 0 on loopback. */
  long serverBytes() throws IOException {
    ShapedNetwork lab = cluster.layout().lab();
    return lab == null ? 0 : lab.receivedByServers(cluster.layout().servers());
  }

  /** Bytes that the clients behind links have received; 0 on loopback. */
  long clientBytes() throws IOException {
    ShapedNetwork lab = cluster.layout().lab();
    return lab == null ? 0 : lab.receivedByClients();
  }

  private void discardQuietly() {
    try {
      Laboratory.discard(cluster);
    } catch (ClusterException e) {
      System.err.println("ebb experiment: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Kills everything and removes it. */
  @Override
  public void close() throws IOException, ClusterException, InterruptedException {
    try {
      Runtime.getRuntime().removeShutdownHook(killer);
    } catch (IllegalStateException e) {
      return; // the hook is running, and does all this
    }
    client.close();
    loader.close();
    files.close();
    probe.close();
    Laboratory.discard(cluster);
  }
}
