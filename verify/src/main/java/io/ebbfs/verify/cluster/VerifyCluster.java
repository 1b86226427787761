package io.ebbfs.verify.cluster;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.definitions.CodesFile;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HdfsBlockLocation;

/**
 * A real cluster for a verification. It has small blocks, fast clocks, fail points and no policies,
 * and a stock HDFS client in this process. Not thread-safe.
 */
public final class VerifyCluster implements AutoCloseable {
  public static final int BLOCK_BYTES = 384 << 10;

  private static final int INTERRUPTED = 130;

  private final Path directory;
  private final LocalCluster local;
  private final ClusterProbe probe;
  private final NamenodeClient namenode;
  private final FileSystem files;
  private final CodeRegistry codes;
  private final ChunkServerCalls chunkServers;
  private final RestCondition rest;
  private final Runnable cleanUp;
  private final Thread killer = new Thread(this::killQuietly);

  private VerifyCluster(Path directory, LocalCluster local, CodeRegistry codes, Runnable cleanUp)
      throws IOException {
    this.cleanUp = cleanUp;
    this.directory = directory;
    this.local = local;
    this.codes = codes;
    this.namenode = local.namenodeClient();
    this.probe = new ClusterProbe(codes, namenode);
    this.chunkServers = new ChunkServerCalls(local);
    this.rest = new RestCondition(local, probe);
    Configuration conf = new Configuration();
    conf.setLong("dfs.blocksize", BLOCK_BYTES);
    conf.setInt("ipc.client.connect.max.retries", 50);
    conf.setInt("ipc.client.connect.retry.interval", 100);
    conf.setInt("dfs.client.retry.window.base", 100);
    this.files = FileSystem.newInstance(URI.create(local.stockClient().uri()), conf);
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** Kills all processes when the user ends the verification by Ctrl-C. */
  private void killQuietly() {
    try {
      local.killAll();
    } catch (ClusterException e) {
      System.err.println("processes of " + directory + " may be left: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    cleanUp.run();
    // Otherwise the main thread would restart the processes that it finds dead.
    Runtime.getRuntime().halt(INTERRUPTED);
  }

  /**
   * Starts a cluster.
   *
   * @param codes the text of {@code codes.yaml}; may be empty
   */
  public static VerifyCluster start(Path directory, int servers, int disks, String codes)
      throws ClusterException, IOException, InterruptedException {
    return start(
        directory, servers, disks, codes.isEmpty() ? Map.of() : Map.of(CodesFile.FILE, codes));
  }

  /** Starts a cluster with configuration files, by name, instead of or besides the usual ones. */
  public static VerifyCluster start(
      Path directory, int servers, int disks, Map<String, String> files)
      throws ClusterException, IOException, InterruptedException {
    LocalCluster local =
        LocalCluster.create(
            Build.find(),
            ClusterSpec.of(directory)
                .withServers(servers, disks)
                .withBlockSize(BLOCK_BYTES)
                .withHeartbeat(200)
                .withPorts(0, 0)
                .withConfFiles(VerifyConfiguration.with(files)));
    CodeRegistry codes = codes(directory.resolve("conf"));
    local.withFailPoints();
    local.start();
    return new VerifyCluster(directory, local, codes, () -> {});
  }

  /**
   * A cluster that runs already. It is killed when the verification ends.
   *
   * @param cleanUp runs after its processes were killed by Ctrl-C
   */
  public static VerifyCluster of(LocalCluster running, Runnable cleanUp) throws IOException {
    Path directory = running.directory();
    return new VerifyCluster(directory, running, codes(directory.resolve("conf")), cleanUp);
  }

  private static CodeRegistry codes(Path conf) throws IOException {
    try {
      return CodesFile.readIn(conf);
    } catch (ConfigException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** The codes that the processes of the cluster know. */
  public CodeRegistry codes() {
    return codes;
  }

  public LocalCluster local() {
    return local;
  }

  public Path directory() {
    return directory;
  }

  public ClusterProbe probe() {
    return probe;
  }

  // ---- files ------------------------------------------------------------------------------------

  public void write(String path, byte[] bytes) throws IOException {
    try (FSDataOutputStream out = files.create(new org.apache.hadoop.fs.Path(path))) {
      out.write(bytes);
    }
  }

  /** Reads a whole file by the stock client, which checks every byte against its checksum. */
  public byte[] read(String path) throws IOException {
    try (var in = files.open(new org.apache.hadoop.fs.Path(path))) {
      return in.readAllBytes();
    }
  }

  /**
   * Waits until the stock client has a connection that works. Without high availability it gives up
   * a call if its connection is older than the namenode's restart.
   */
  public void reconnect() throws InterruptedException {
    await(
        "an answer of the namenode",
        20_000,
        () -> {
          files.getFileStatus(new org.apache.hadoop.fs.Path("/"));
          return null;
        });
  }

  public boolean delete(String path) throws IOException {
    return files.delete(new org.apache.hadoop.fs.Path(path), true);
  }

  public long fileId(String path) throws IOException {
    return probe.files(path).stream()
        .filter(file -> file.getPath().equals(path))
        .findFirst()
        .orElseThrow(() -> new IOException("no file " + path))
        .getFileId();
  }

  /** The id of the block pool, asked by a file that has a block. */
  public String blockPool(String path) throws IOException {
    BlockLocation location =
        files.getFileBlockLocations(new org.apache.hadoop.fs.Path(path), 0, 1)[0];
    return ((HdfsBlockLocation) location).getLocatedBlock().getBlock().getBlockPoolId();
  }

  /** Puts another {@code policies.yaml} in force: the control plane reads it again by itself. */
  public void replacePolicies(String text) throws IOException {
    Path policies = directory.resolve("conf/policies.yaml");
    Path next = policies.resolveSibling("policies.yaml.new");
    Files.writeString(next, text);
    Files.move(next, policies, StandardCopyOption.REPLACE_EXISTING);
  }

  // ---- transitions ------------------------------------------------------------------------------

  public ProposedProto propose(DecisionProto decision) throws IOException {
    ProposeRequestProto request = ProposeRequestProto.newBuilder().addDecisions(decision).build();
    return RemoteCall.answerOf(() -> namenode.coding().propose(null, request)).getResults(0);
  }

  /** All transitions with a higher id, the oldest first. */
  public List<TransitionRow> transitionsAfter(long id) throws IOException {
    return probe.transitions(TransitionStateProto.values()).stream()
        .filter(row -> row.getId() > id)
        .sorted(Comparator.comparingLong(TransitionRow::getId))
        .toList();
  }

  public long lastTransition() throws IOException {
    return transitionsAfter(0).stream().mapToLong(TransitionRow::getId).max().orElse(0);
  }

  public static boolean isActive(TransitionRow row) {
    return row.getState() == TransitionStateProto.PLANNED
        || row.getState() == TransitionStateProto.RUNNING;
  }

  /** What keeps the cluster from being at rest; null if all servers are live and nothing runs. */
  public String whyNotAtRest() throws IOException {
    return whyNotAtRest(0);
  }

  /** The same while this number of servers is meant to be down. */
  public String whyNotAtRest(int serversAway) throws IOException {
    return rest.objection(serversAway);
  }

  /** What a lost disk could hurt now; null if all blocks have all replicas or a whole stripe. */
  public String whyNotRedundant() throws IOException {
    return whyNotRedundant(0);
  }

  /** The same while this number of servers is meant to be down. */
  public String whyNotRedundant(int serversAway) throws IOException {
    return rest.underProtection(serversAway);
  }

  /** How the number of blocks on disks differs from the metadata; null if it does not. */
  public String blockCountMismatch() throws IOException {
    return rest.blockCountMismatch();
  }

  /** Waits until a condition has no objection. An error of a call is an objection, too. */
  public static void await(
      String what, long timeoutMillis, ConditionWaiter.Objection<IOException> condition)
      throws InterruptedException {
    await(what, ConditionWaiter.within(timeoutMillis).every(20), condition);
  }

  /** The same with a waiter of the caller's. */
  public static void await(
      String what, ConditionWaiter waiter, ConditionWaiter.Objection<IOException> condition)
      throws InterruptedException {
    Optional<String> objection =
        waiter.objection(
            () -> {
              try {
                return condition.now();
              } catch (IOException e) {
                return e.toString();
              }
            });
    if (objection.isPresent()) {
      throw new VerifyException(waiter.message(what, objection.get()));
    }
  }

  // ---- servers ----------------------------------------------------------------------------------

  /** Lets a server compare blocks with their checksums. */
  public VerifyResponseProto verify(int server, VerifyRequestProto request) throws IOException {
    return chunkServers.verify(server, request);
  }

  /** Makes every server send a full block report now. */
  public void triggerReports() throws IOException {
    chunkServers.triggerReports();
  }

  /** Starts a process that has died. */
  public void restart(String process) throws ClusterException, InterruptedException {
    switch (process) {
      case "namenode" -> local.startNamenode();
      case "control" -> local.startControl();
      default -> local.startServer(Integer.parseInt(process.substring("server-".length())));
    }
  }

  @Override
  public void close() throws IOException, ClusterException, InterruptedException {
    chunkServers.close();
    try {
      files.close();
    } finally {
      probe.close();
      local.killAll();
      Runtime.getRuntime().removeShutdownHook(killer);
    }
  }

  public static void deleteTree(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> all = Files.walk(directory)) {
        for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }
}
