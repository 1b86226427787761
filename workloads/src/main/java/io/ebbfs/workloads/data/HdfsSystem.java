package io.ebbfs.workloads.data;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.StockClient;
import io.ebbfs.testbed.hdfs.LocalHdfs;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Apache HDFS with a NameNode and DataNodes. */
final class HdfsSystem implements ComparedSystem {
  private static final List<String> JVM =
      List.of("-Xss512k", "-XX:+UseSerialGC", "-XX:-UsePerfData");

  private final LocalHdfs hdfs;
  private final StockClient client;

  private final int disks;

  private HdfsSystem(LocalHdfs hdfs, StockClient client, int disks) {
    this.hdfs = hdfs;
    this.client = client;
    this.disks = disks;
  }

  /**
   * Formats and starts it. DataNodes may register after the return.
   *
   * @param network that EbbFS runs in: each DataNode shares the link of a chunk server, of which
   *     one is idle; null for loopback
   */
  static HdfsSystem start(Build build, Path directory, Shape shape, ShapedNetwork network)
      throws ClusterException, IOException, InterruptedException {
    Files.createDirectories(directory);
    LocalHdfs.Options options =
        new LocalHdfs.Options(
            site(shape), jvm("-Xmx256m", NativeLibrary.flags(build)), shape.disks(), network);
    LocalHdfs hdfs =
        LocalHdfs.format(build, directory, jvm("-Xmx512m", NativeLibrary.flags(build)), options);
    try {
      hdfs.launchNamenode();
      hdfs.awaitNamenode();
      for (int i = 0; i < shape.servers(); i++) {
        hdfs.launchDataNode();
      }
      StockClient client =
          new StockClient(
              build,
              directory.resolve("client"),
              List.of(hdfs.host() + ":" + hdfs.port()),
              List.of(),
              shape.blockBytes());
      client.writeConf();
      return new HdfsSystem(hdfs, client, shape.disks());
    } catch (ClusterException | IOException | InterruptedException | RuntimeException e) {
      hdfs.close();
      throw e;
    }
  }

  private static List<String> jvm(String heap, List<String> more) {
    List<String> flags = new ArrayList<>(JVM);
    flags.add(heap);
    flags.addAll(more);
    return flags;
  }

  private static Map<String, String> site(Shape shape) {
    Map<String, String> site = new LinkedHashMap<>();
    site.put("dfs.blocksize", Long.toString(shape.blockBytes()));
    // A DataNode is dead 32 s after its last heartbeat (ten heartbeats and two checks), not 630 s.
    site.put("dfs.namenode.heartbeat.recheck-interval", "1000");
    // By default a NameNode starts two transfers per DataNode at a time, and reconstructs slowly.
    site.put("dfs.namenode.replication.max-streams", "8");
    site.put("dfs.namenode.replication.max-streams-hard-limit", "16");
    site.put("dfs.namenode.replication.work.multiplier.per.iteration", "10");
    // By default the NameNode looks for work every 3 s, and a reconstruction counts as three
    // transfers, so that a DataNode has two of them under way and not eight. A reconstruction reads
    // six blocks at once, for which a DataNode has 20 threads by default.
    site.put("dfs.namenode.redundancy.interval.seconds", "1");
    site.put("dfs.datanode.ec.reconstruction.xmits.weight", "0.1");
    site.put("dfs.datanode.ec.reconstruction.stripedread.threads", "48");
    return site;
  }

  @Override
  public String name() {
    return HDFS;
  }

  @Override
  public StockClient client() {
    return client;
  }

  @Override
  public List<ProcessId> namenode() {
    return List.of(hdfs.namenode());
  }

  @Override
  public List<ProcessId> servers() {
    return hdfs.dataNodes();
  }

  @Override
  public List<Integer> transferPorts() {
    return hdfs.dataNodeTransferPorts();
  }

  @Override
  public void kill(int server) throws ClusterException, InterruptedException {
    hdfs.killDataNode(server);
  }

  @Override
  public void restart(int server) throws ClusterException, IOException, InterruptedException {
    hdfs.restartDataNode(server);
  }

  @Override
  public List<Path> disks(int server) {
    return hdfs.disks().subList(server * disks, (server + 1) * disks);
  }

  @Override
  public void close() throws IOException, InterruptedException {
    hdfs.close();
  }
}
