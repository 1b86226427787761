package io.ebbfs.workloads.data;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.cluster.StockClient;
import io.ebbfs.testbed.lab.Laboratory;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** A cluster of EbbFS on which data changes its code only by order. */
final class EbbfsSystem implements ComparedSystem {
  private static final Map<String, String> CONFIGURATION =
      Map.of(
          "policies.yaml",
          """
          policies:
            - name: nothing
              paths: [/nothing]
              family: lrc
              writeColdAfter: 1000d
              readHot: {perFile: 5}
          """,
          "manager.yaml",
          "schedule: {evaluateEvery: 1h, sampleEvery: 1h}\n",
          "namenode.yaml",
          """
          deadAfter: 32s
          repairDelay: 0s
          safeModeGrace: 20s
          orphanWait: 10s
          mendPlacements: false
          repairBytesPerServer: 0
          repairBytesPerCluster: 0
          copyBytesPerServer: 0
          copyBytesPerCluster: 0
          conversionBytesPerServer: 0
          conversionBytesPerCluster: 0
          """,
          "raid-node.yaml",
          "poll: 50ms\ncombines: 4\ncombinesPerServer: 2\nscrub: {period: 0s}\n",
          "chunk-server.yaml",
          "scrub: {period: 0s}\n");

  /** That of a DataNode. */
  private static final long HEARTBEAT_MILLIS = 3000;

  private final LocalCluster cluster;
  private final int servers;

  private EbbfsSystem(LocalCluster cluster, int servers) {
    this.cluster = cluster;
    this.servers = servers;
  }

  static EbbfsSystem start(Build build, Path directory, Shape shape)
      throws ClusterException, InterruptedException {
    ClusterSpec spec =
        ClusterSpec.of(directory)
            .withServers(shape.servers(), shape.disks())
            .withBlockSize(shape.blockBytes())
            .withHeartbeat(HEARTBEAT_MILLIS)
            .withPorts(0, 0)
            .withConfFiles(CONFIGURATION);
    if (shape.rate() != null) {
      return new EbbfsSystem(Laboratory.start(build, spec, shape.rate()), shape.servers());
    }
    LocalCluster cluster = LocalCluster.create(build, spec);
    cluster.start();
    return new EbbfsSystem(cluster, shape.servers());
  }

  LocalCluster cluster() {
    return cluster;
  }

  /** The network of its processes; null for loopback. */
  ShapedNetwork network() {
    return cluster.layout().lab();
  }

  @Override
  public String name() {
    return EBBFS;
  }

  @Override
  public StockClient client() {
    return cluster.stockClient();
  }

  @Override
  public List<ProcessId> namenode() {
    return cluster.running().entrySet().stream()
        .filter(process -> !isServer(process.getKey()))
        .map(Map.Entry::getValue)
        .toList();
  }

  @Override
  public List<ProcessId> servers() {
    return cluster.running().entrySet().stream()
        .filter(process -> isServer(process.getKey()))
        .map(Map.Entry::getValue)
        .toList();
  }

  private boolean isServer(String name) {
    return IntStream.range(0, servers).anyMatch(i -> ProcessNames.server(i).equals(name));
  }

  @Override
  public List<Integer> transferPorts() {
    return cluster.layout().ports().transfer();
  }

  @Override
  public void kill(int server) throws ClusterException, InterruptedException {
    cluster.killServer(server);
  }

  @Override
  public void restart(int server) throws ClusterException, InterruptedException {
    cluster.startServer(server);
  }

  @Override
  public List<Path> disks(int server) throws ClusterException {
    List<Path> disks = new ArrayList<>();
    for (int disk = 0; disk < cluster.layout().disks(); disk++) {
      disks.add(cluster.diskDirectory(server, disk));
    }
    return disks;
  }

  @Override
  public void close() throws ClusterException, InterruptedException {
    cluster.killAll();
    if (network() != null) {
      network().down();
    }
  }
}
