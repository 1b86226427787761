package io.ebbfs.verify.day;

import io.ebbfs.protocol.proto.CodingProtos.DrainRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceOrderProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.verify.cluster.ImageDisks;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The cluster of a day: racks, small disks, fast clocks, and a policy that encodes one directory.
 * For root each disk has a small file system of its own. Not thread-safe.
 */
final class DayCluster implements AutoCloseable {
  static final int BLOCK_BYTES = 1 << 20;
  static final String REPLICATED = "/day/replicated";
  static final String ENCODED = "/day/encoded";
  static final String FILLING = "/day/filling";

  /** Servers that are not there when the day begins, and join in the course of it. */
  static final List<Integer> JOINING = List.of(10, 11);

  private static final int SERVERS = 12;
  private static final int DISKS = 2;
  private static final int RACKS = 4;

  // A chunk server leaves 64 MiB of each disk free.
  private static final long DISK_BYTES = 128L << 20;

  // Of each rack a stripe of this code has at most three blocks, and it survives their loss.
  private static final String POLICIES =
      """
      policies:
        - name: %s
          paths: [%s]
          code: RS(6,3)
          writeColdAfter: 4s
          fillWait: 4s
      """;

  private static final Map<String, String> CONFIGURATION =
      Map.of(
          "policies.yaml",
          POLICIES.formatted("day", ENCODED),
          "manager.yaml",
          """
          heat: {halfLife: 20s}
          schedule: {evaluateEvery: 2s, sampleEvery: 5s, reloadEvery: 1s}
          limits: {retryFailedAfter: 10s}
          """,
          "namenode.yaml",
          "minBlockSize: 64KiB\ndeadAfter: 6s\nrepairDelay: 8s\nsafeModeGrace: 10s\norphanWait: 5s\n",
          "raid-node.yaml",
          "lease: 5s\npoll: 100ms\ncombineTimeout: 20s\n");

  private static final double LEVEL_THRESHOLD = 0.1;
  private static final long LEVEL_BYTES_PER_SECOND = 64L << 20;
  private static final long HIBERNATION_MILLIS = 3_600_000;

  private final VerifyCluster verified;
  private final NamenodeClient namenode;
  private final ImageDisks disks;
  private final Set<Integer> away = new TreeSet<>(JOINING);

  private DayCluster(VerifyCluster verified, NamenodeClient namenode, ImageDisks disks) {
    this.verified = verified;
    this.namenode = namenode;
    this.disks = disks;
  }

  /** Starts all servers but those that join later. */
  static DayCluster start(Path directory)
      throws ClusterException, IOException, InterruptedException {
    LocalCluster local =
        LocalCluster.create(
            Build.find(),
            ClusterSpec.of(directory)
                .withServers(SERVERS, DISKS)
                .withRacks(RACKS)
                .withBlockSize(BLOCK_BYTES)
                .withHeartbeat(300)
                .withPorts(0, 0)
                .withConfFiles(CONFIGURATION));
    ImageDisks disks = ShapedNetwork.isPossible() ? ImageDisks.mount(local, DISK_BYTES) : null;
    try {
      local.startWithout(Set.copyOf(JOINING));
      VerifyCluster verified = VerifyCluster.of(local, () -> unmount(local, disks));
      return new DayCluster(verified, local.namenodeClient(), disks);
    } catch (ClusterException | IOException | InterruptedException e) {
      unmount(local, disks);
      throw e;
    }
  }

  private static void unmount(LocalCluster local, ImageDisks disks) {
    try {
      if (disks != null) {
        disks.close();
      }
    } catch (ClusterException e) {
      System.err.println("mounts of " + local.directory() + " may be left: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  VerifyCluster verified() {
    return verified;
  }

  LocalCluster local() {
    return verified.local();
  }

  /** Whether the disks are so small that they can be filled. */
  boolean hasSmallDisks() {
    return disks != null;
  }

  // ---- servers ----------------------------------------------------------------------------------

  /** The servers that run. */
  List<Integer> present() {
    return IntStream.range(0, SERVERS).filter(server -> !away.contains(server)).boxed().toList();
  }

  /** The servers that do not run, although they have run or will join. */
  List<Integer> missing() {
    return List.copyOf(away);
  }

  /** The servers of a rack that run. */
  List<Integer> presentInRack(int rack) {
    return present().stream().filter(server -> server % RACKS == rack).toList();
  }

  List<Integer> racks() {
    return IntStream.range(0, RACKS).boxed().toList();
  }

  /** Starts servers, all at once. */
  void start(List<Integer> servers) throws ClusterException, InterruptedException {
    local().startServers(servers);
    servers.forEach(away::remove);
  }

  /** Ends a server with SIGTERM. */
  void stop(int server) throws ClusterException, InterruptedException {
    away.add(server);
    local().stopServer(server);
  }

  /** Kills servers with SIGKILL, all at once. */
  void kill(List<Integer> servers) throws ClusterException, InterruptedException {
    away.addAll(servers);
    local().killServers(servers);
  }

  /** A server as the namenode sees it. */
  ServerStatusProto status(int server) throws IOException {
    int port = local().layout().ports().transfer().get(server);
    return verified.probe().cluster().getServersList().stream()
        .filter(known -> known.getServer().getXferPort() == port)
        .findFirst()
        .orElseThrow(() -> new IOException(nameOf(server) + " has not registered"));
  }

  static String nameOf(int server) {
    return ProcessNames.server(server);
  }

  /** Where clients reach servers: HOST:PORT. */
  Set<String> addresses(List<Integer> servers) {
    return servers.stream()
        .map(
            server ->
                local().hostOf(server) + ":" + local().layout().ports().transfer().get(server))
        .collect(Collectors.toSet());
  }

  /** Servers that the namenode does not take for what they are; null if there are none. */
  String whyNotLive(List<Integer> servers, boolean live) throws IOException {
    for (int server : servers) {
      if (status(server).getLive() != live) {
        return "%s is %s to the namenode".formatted(nameOf(server), live ? "dead" : "live");
      }
    }
    return null;
  }

  long blocksOn(int server) throws IOException {
    return status(server).getStoragesList().stream().mapToLong(StorageStatusProto::getBlocks).sum();
  }

  /** The used bytes of all disks that are live, as a share of what they can hold. */
  double fullness() throws IOException {
    long used = 0;
    long room = 0;
    for (ServerStatusProto server : verified.probe().cluster().getServersList()) {
      for (StorageStatusProto disk : server.getStoragesList()) {
        used += server.getLive() ? disk.getUsedBytes() : 0;
        room += server.getLive() ? disk.getUsedBytes() + disk.getRemainingBytes() : 0;
      }
    }
    return room == 0 ? 0 : (double) used / room;
  }

  // ---- orders -----------------------------------------------------------------------------------

  DrainResponseProto drain(int server, boolean end) throws IOException {
    DrainRequestProto request =
        DrainRequestProto.newBuilder()
            .setServerUuid(uuidOf(server))
            .setEnd(end)
            .setDryRun(false)
            .build();
    return RemoteCall.answerOf(() -> namenode.coding().drain(null, request));
  }

  HibernateResponseProto hibernate(int server, boolean end) throws IOException {
    HibernateRequestProto request =
        HibernateRequestProto.newBuilder()
            .setServerUuid(uuidOf(server))
            .setEnd(end)
            .setDryRun(false)
            .setForMillis(HIBERNATION_MILLIS)
            .build();
    return RemoteCall.answerOf(() -> namenode.coding().hibernate(null, request));
  }

  String uuidOf(int server) throws IOException {
    return status(server).getServer().getDatanodeUuid();
  }

  RebalanceResponseProto rebalance(RebalanceOrderProto order) throws IOException {
    RebalanceRequestProto request =
        RebalanceRequestProto.newBuilder()
            .setOrder(order)
            .setThreshold(LEVEL_THRESHOLD)
            .setBytesPerSecond(LEVEL_BYTES_PER_SECOND)
            .build();
    return RemoteCall.answerOf(() -> namenode.coding().rebalance(null, request));
  }

  /** From now on no policy applies to any file, so that the transitions come to an end. */
  void stopAdapting() throws IOException {
    verified.replacePolicies(POLICIES.formatted("none", "/nothing"));
  }

  // ---- conditions -------------------------------------------------------------------------------

  /** Tells what is under-replicated or under repair, apart from the servers that a step stopped. */
  String whyNotSafe() throws IOException {
    String unsafe = verified.whyNotRedundant(away.size());
    if (unsafe != null) {
      return unsafe;
    }
    long disksToWalk = verified.probe().cluster().getLostDisksToWalk();
    if (disksToWalk > 0) {
      return disksToWalk + " lost disks are still to be examined";
    }
    return verified.probe().active().stream()
        .filter(row -> row.getKind() == TransitionKindProto.REPAIR)
        .findFirst()
        .map(row -> "repair %d is %s: %s".formatted(row.getId(), row.getState(), row.getFailure()))
        .orElse(null);
  }

  @Override
  public void close() throws IOException, ClusterException, InterruptedException {
    namenode.close();
    verified.close();
    if (disks != null) {
      disks.close();
    }
  }
}
