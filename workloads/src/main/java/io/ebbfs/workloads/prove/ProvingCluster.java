package io.ebbfs.workloads.prove;

import io.ebbfs.cluster.Build;
import io.ebbfs.cluster.ClusterException;
import io.ebbfs.cluster.ClusterSpec;
import io.ebbfs.cluster.LocalCluster;
import io.ebbfs.cluster.NamenodeClient;
import io.ebbfs.protocol.ChunkProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.settings.ConfigException;
import io.ebbfs.settings.codes.CodesFile;
import io.ebbfs.workloads.demo.ClusterProbe;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HdfsBlockLocation;
import org.apache.hadoop.hdfs.DFSUtilClient;
import org.apache.hadoop.hdfs.client.BlockReportOptions;
import org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * A real cluster for a proof: small blocks, fast clocks, fail points, no policies, and a stock HDFS
 * client in this process. Not thread-safe.
 */
final class ProvingCluster implements AutoCloseable {
  static final int BLOCK_BYTES = 384 << 10;

  private static final int RPC_TIMEOUT_MILLIS = 20_000;
  private static final int REPLICATION = 3;
  private static final int INTERRUPTED = 130;

  /** The configuration of the namenode but for what it does by itself. */
  static final String NAMENODE = "minBlockSize: 64KiB\ndeadAfter: 6s\nsafeModeGrace: 10s\n";

  /** The same of one that mends placements, as by default, and soon knows that servers are away. */
  static final String MENDING_NAMENODE = NAMENODE.replace("deadAfter: 6s", "deadAfter: 3s");

  private static final Map<String, String> CONFIGURATION =
      Map.of(
          "policies.yaml",
          """
          policies:
            - name: nothing
              paths: [/nothing]
              family: rs
              writeColdAfter: 1000d
              readHot: {perFile: 5}
          """,
          "manager.yaml",
          "schedule:\n  evaluateEvery: 1h\n  sampleEvery: 1h\n",
          "namenode.yaml",
          // Nothing goes on but what a proof asks for.
          "mendPlacements: false\n" + NAMENODE,
          "raid-node.yaml",
          "lease: 1s\npoll: 50ms\ncombineTimeout: 10s\n");

  private final Path directory;
  private final LocalCluster local;
  private final ClusterProbe probe;
  private final NamenodeClient namenode;
  private final FileSystem files;
  private final Map<InetSocketAddress, ChunkProtocol> chunks = new HashMap<>();
  private final Thread killer = new Thread(this::killQuietly);

  private ProvingCluster(Path directory, LocalCluster local) throws IOException {
    this.directory = directory;
    this.local = local;
    this.namenode = local.namenodeClient();
    this.probe = new ClusterProbe(namenode);
    Configuration conf = new Configuration();
    conf.setLong("dfs.blocksize", BLOCK_BYTES);
    conf.setInt("ipc.client.connect.max.retries", 50);
    conf.setInt("ipc.client.connect.retry.interval", 100);
    conf.setInt("dfs.client.retry.window.base", 100);
    this.files = FileSystem.newInstance(URI.create(local.stockClient().uri()), conf);
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** Who ends a proof by Ctrl-C wants no processes left. */
  private void killQuietly() {
    try {
      local.killAll();
    } catch (ClusterException e) {
      System.err.println("processes of " + directory + " may be left: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    // The main thread still runs, and would start again what it finds dead.
    Runtime.getRuntime().halt(INTERRUPTED);
  }

  /**
   * Starts a cluster.
   *
   * @param codes of a user's own, as in {@code codes.yaml}; may be empty
   */
  static ProvingCluster start(Path directory, int servers, int disks, String codes)
      throws ClusterException, IOException, InterruptedException {
    return start(
        directory, servers, disks, codes.isEmpty() ? Map.of() : Map.of(CodesFile.FILE, codes));
  }

  /** Starts a cluster; some configuration files are these instead of a proof's. */
  static ProvingCluster start(Path directory, int servers, int disks, Map<String, String> files)
      throws ClusterException, IOException, InterruptedException {
    Map<String, String> configuration = new HashMap<>(CONFIGURATION);
    configuration.putAll(files);
    LocalCluster local =
        LocalCluster.create(
            Build.find(),
            ClusterSpec.of(directory)
                .withServers(servers, disks)
                .withBlockSize(BLOCK_BYTES)
                .withHeartbeat(200)
                .withPorts(0, 0)
                .withConfFiles(configuration));
    define(directory.resolve("conf"));
    local.withFailPoints();
    local.start();
    return new ProvingCluster(directory, local);
  }

  /** This process plans with them, too. */
  private static void define(Path conf) throws IOException {
    try {
      CodesFile.defineIn(conf);
    } catch (ConfigException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  LocalCluster local() {
    return local;
  }

  Path directory() {
    return directory;
  }

  ClusterProbe probe() {
    return probe;
  }

  // ---- files ------------------------------------------------------------------------------------

  void write(String path, byte[] bytes) throws IOException {
    try (FSDataOutputStream out = files.create(new org.apache.hadoop.fs.Path(path))) {
      out.write(bytes);
    }
  }

  /** The whole file, by a stock client, every byte checked against its checksum. */
  byte[] read(String path) throws IOException {
    try (var in = files.open(new org.apache.hadoop.fs.Path(path))) {
      return in.readAllBytes();
    }
  }

  /**
   * A stock client without high availability gives up a call whose connection turns out to be from
   * before the namenode's death. Afterwards it has one that works.
   */
  void reconnect() throws InterruptedException {
    await(
        "an answer of the namenode",
        20_000,
        () -> {
          files.getFileStatus(new org.apache.hadoop.fs.Path("/"));
          return null;
        });
  }

  boolean delete(String path) throws IOException {
    return files.delete(new org.apache.hadoop.fs.Path(path), true);
  }

  long fileId(String path) throws IOException {
    return probe.files(path).stream()
        .filter(file -> file.getPath().equals(path))
        .findFirst()
        .orElseThrow(() -> new IOException("no file " + path))
        .getFileId();
  }

  /** The name of all blocks' pool, once there is a block. */
  String blockPool(String path) throws IOException {
    BlockLocation location =
        files.getFileBlockLocations(new org.apache.hadoop.fs.Path(path), 0, 1)[0];
    return ((HdfsBlockLocation) location).getLocatedBlock().getBlock().getBlockPoolId();
  }

  // ---- transitions ------------------------------------------------------------------------------

  ProposedProto propose(DecisionProto decision) throws IOException {
    try {
      return namenode
          .coding()
          .propose(null, ProposeRequestProto.newBuilder().addDecisions(decision).build())
          .getResults(0);
    } catch (ServiceException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e);
    }
  }

  /** All transitions with a higher id, the oldest first. */
  List<TransitionRow> transitionsAfter(long id) throws IOException {
    return probe.transitions(TransitionStateProto.values()).stream()
        .filter(row -> row.getId() > id)
        .sorted(Comparator.comparingLong(TransitionRow::getId))
        .toList();
  }

  long lastTransition() throws IOException {
    return transitionsAfter(0).stream().mapToLong(TransitionRow::getId).max().orElse(0);
  }

  static boolean isActive(TransitionRow row) {
    return row.getState() == TransitionStateProto.PLANNED
        || row.getState() == TransitionStateProto.RUNNING;
  }

  /** Why the cluster is not at rest: null if nothing is running, lost or away. */
  String unrest() throws IOException {
    return unrest(0);
  }

  /** The same with so many servers away. */
  String unrest(int away) throws IOException {
    GetClusterResponseProto cluster = probe.cluster();
    long live = cluster.getServersList().stream().filter(ServerStatusProto::getLive).count();
    if (cluster.getSafeMode() || live < local.layout().servers() - away) {
      return "%d servers are live%s".formatted(live, cluster.getSafeMode() ? ", safe mode" : "");
    }
    if (cluster.getStripesByLossCount() > 0) {
      return "stripes by lost blocks: " + cluster.getStripesByLossList();
    }
    if (cluster.getUnderReplicatedBlocks() > 0 || cluster.getMissingBlocks() > 0) {
      return "%d blocks are under-replicated, %d missing"
          .formatted(cluster.getUnderReplicatedBlocks(), cluster.getMissingBlocks());
    }
    for (TransitionRow row :
        probe.transitions(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING)) {
      return "transition %d %s is %s, attempt %d: %s"
          .formatted(
              row.getId(), row.getKind(), row.getState(), row.getAttempt(), row.getFailure());
    }
    return null;
  }

  /** Why disks do not hold as many blocks as the metadata wants; null if they do. */
  String imbalance() throws IOException {
    Disks disks;
    try {
      disks = Disks.read(local);
    } catch (ClusterException e) {
      throw new IOException(e);
    }
    if (!disks.loose().isEmpty()) {
      return "left over: " + disks.loose();
    }
    long onDisks = disks.byStorage().values().stream().mapToLong(Map::size).sum();
    long wanted = 0;
    for (StripeStatusProto stripe : probe.stripes()) {
      wanted += stripe.getStripe().getMembersCount();
    }
    for (FileStatusProto file : probe.files("/")) {
      wanted += (long) REPLICATION * (file.getBlocks() - file.getStripedBlocks());
    }
    return onDisks == wanted ? null : "%d blocks on disks, %d wanted".formatted(onDisks, wanted);
  }

  /** Waits until a condition has no objection any more; errors of a call are objections too. */
  static void await(String what, long timeoutMillis, Objection objection)
      throws InterruptedException {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000;
    String last;
    do {
      try {
        last = objection.now();
      } catch (IOException e) {
        last = e.toString();
      }
      if (last == null) {
        return;
      }
      Thread.sleep(20);
    } while (System.nanoTime() < deadline);
    throw new ProveException(
        "%s did not come about within %d s: %s".formatted(what, timeoutMillis / 1000, last));
  }

  /** What still keeps a condition from being true; null if nothing does. */
  interface Objection {
    String now() throws IOException;
  }

  void awaitRest() throws InterruptedException {
    await("rest", 60_000, this::unrest);
  }

  // ---- servers ----------------------------------------------------------------------------------

  VerifyResponseProto verify(int server, VerifyRequestProto request) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress("127.0.0.1", local.layout().ports().ipc().get(server));
    ChunkProtocol chunk = chunks.get(address);
    if (chunk == null) {
      Configuration conf = new Configuration(false);
      conf.setInt("ipc.client.rpc-timeout.ms", RPC_TIMEOUT_MILLIS);
      RPC.setProtocolEngine(conf, ChunkProtocol.class, ProtobufRpcEngine2.class);
      chunk = RPC.getProxy(ChunkProtocol.class, ChunkProtocol.VERSION, address, conf);
      chunks.put(address, chunk);
    }
    IOException failure = null;
    for (int tries = 0; tries < 3; tries++) {
      try {
        return chunk.verify(null, request);
      } catch (ServiceException e) {
        // A connection that is kept from before the server died says so once.
        failure = e.getCause() instanceof IOException io ? io : new IOException(e);
      }
    }
    throw failure;
  }

  /** Makes every server send a full block report now. */
  void triggerReports() throws IOException {
    for (int server = 0; server < local.layout().servers(); server++) {
      int ipc = local.layout().ports().ipc().get(server);
      int transfer = local.layout().ports().transfer().get(server);
      ClientDatanodeProtocol datanode =
          DFSUtilClient.createClientDatanodeProtocolProxy(
              new DatanodeID("127.0.0.1", "127.0.0.1", "", transfer, 0, 0, ipc),
              new Configuration(),
              RPC_TIMEOUT_MILLIS,
              false);
      try {
        datanode.triggerBlockReport(new BlockReportOptions.Factory().setIncremental(false).build());
      } finally {
        RPC.stopProxy(datanode);
      }
    }
  }

  /** Starts again what has died. */
  void restart(String process) throws ClusterException, InterruptedException {
    switch (process) {
      case "namenode" -> local.startNamenode();
      case "control" -> local.startControl();
      default -> local.startServer(Integer.parseInt(process.substring("server-".length())));
    }
  }

  @Override
  public void close() throws IOException, ClusterException, InterruptedException {
    chunks.values().forEach(RPC::stopProxy);
    try {
      files.close();
    } finally {
      probe.close();
      local.killAll();
      Runtime.getRuntime().removeShutdownHook(killer);
    }
  }

  static void deleteTree(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> all = Files.walk(directory)) {
        for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }
}
