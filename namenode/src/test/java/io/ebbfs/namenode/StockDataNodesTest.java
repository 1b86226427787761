package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.tools.DFSAdmin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Stock HDFS DataNodes and a stock client on our namenode, over real sockets. */
@Timeout(180)
@Tag("process")
class StockDataNodesTest {
  private static final int BLOCK = 1 << 20;

  @TempDir private Path dir;
  private final List<DataNode> dataNodes = new ArrayList<>();
  private StockDataNodes machines;
  private NamenodeServer namenode;
  private DistributedFileSystem client;

  @BeforeEach
  void start() throws IOException {
    machines = new StockDataNodes(dir);
    namenode = startNamenode(0);
    for (int i = 0; i < 4; i++) {
      dataNodes.add(startDataNode(i));
    }
    client = new DistributedFileSystem();
    Configuration conf = configuration();
    conf.setInt("dfs.replication", 3);
    conf.setInt("dfs.blocksize", BLOCK);
    client.initialize(java.net.URI.create(uri()), conf);
    await(() -> client.getDataNodeStats().length == 4);
  }

  @AfterEach
  void stop() throws IOException {
    if (client != null) {
      client.close();
    }
    dataNodes.forEach(DataNode::shutdown);
    if (namenode != null) {
      namenode.close();
    }
  }

  private NamenodeServer startNamenode(int port) throws IOException {
    NamenodeConfig d = NamenodeConfig.defaults();
    NamenodeConfig config =
        new NamenodeConfig(
            dir.resolve("namenode"),
            d.host(),
            port,
            d.kafka(),
            null,
            8,
            BLOCK,
            d.minBlockSize(),
            3,
            4_000,
            8_000,
            d.leaseSoftLimit(),
            d.leaseHardLimit(),
            d.completeWait(),
            d.lockTimeout(),
            d.mendPlacements(),
            d.topology(),
            d.topologyScript(),
            dir.resolve("exclude").toString(),
            d.storeCache(),
            d.verify(),
            d.rewriteDeadShare(),
            d.codes(),
            d.orphanWait(),
            d.backups(),
            d.backupEvery(),
            d.backupsKept(),
            d.safeModeThreshold(),
            d.reportsAtOnce(),
            d.servicePort(),
            d.serviceHandlers(),
            d.serviceKey(),
            0,
            d.limits(),
            d.copyRate(),
            0,
            "",
            java.util.List.of(),
            d.xattrsPerInode(),
            d.xattrSize(),
            d.proxyUsers(),
            2_000,
            d.rebalance(),
            d.hostsFile(),
            d.includeFile(),
            d.trash());
    return NamenodeServer.start(config, Clock.systemUTC(), new Random(1));
  }

  private String uri() {
    return "hdfs://127.0.0.1:" + namenode.address().getPort();
  }

  private Configuration configuration() {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", uri());
    return conf;
  }

  private DataNode startDataNode(int number) throws IOException {
    return machines.start(number, configuration());
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  /** Polls, because other threads make the condition true. */
  private static void await(Condition condition) throws IOException {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("time").isLessThan(deadline);
      try {
        Thread.sleep(100);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  private byte[] write(String name, int bytes) throws IOException {
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    try (OutputStream out = client.create(new org.apache.hadoop.fs.Path(name))) {
      out.write(content);
    }
    return content;
  }

  private byte[] read(String name) throws IOException {
    try (InputStream in = client.open(new org.apache.hadoop.fs.Path(name))) {
      return in.readAllBytes();
    }
  }

  private boolean everyBlockHas(String name, int replicas, Set<Integer> notOnPorts)
      throws IOException {
    BlockLocation[] blocks =
        client.getFileBlockLocations(new org.apache.hadoop.fs.Path(name), 0, Long.MAX_VALUE);
    return Arrays.stream(blocks)
        .allMatch(
            block -> {
              try {
                return block.getNames().length == replicas
                    && Arrays.stream(block.getNames())
                        .noneMatch(
                            n ->
                                notOnPorts.contains(
                                    Integer.parseInt(n.substring(n.indexOf(':') + 1))));
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
  }

  private boolean allAreBack() {
    try {
      return client.getDataNodeStats(DatanodeReportType.LIVE).length == 4;
    } catch (IOException e) {
      return false; // the connection to the old process has to end first
    }
  }

  @Test
  void filesAreWrittenReadCopiedTrimmedAndDeleted() throws IOException {
    byte[] content = write("/a", 5 * BLOCK + 17);
    assertThat(read("/a")).isEqualTo(content);
    await(() -> everyBlockHas("/a", 3, Set.of()));

    DataNode victim = dataNodes.remove(0);
    Set<Integer> dead = new HashSet<>(Set.of(victim.getXferPort()));
    victim.shutdown();
    await(() -> everyBlockHas("/a", 3, dead));
    assertThat(read("/a")).isEqualTo(content);

    dataNodes.add(startDataNode(0));
    await(() -> machines.replicas() == 18);

    client.setReplication(new org.apache.hadoop.fs.Path("/a"), (short) 1);
    await(() -> machines.replicas() == 6);
    await(() -> everyBlockHas("/a", 1, Set.of()));
    assertThat(read("/a")).isEqualTo(content);

    int port = namenode.address().getPort();
    namenode.close();
    namenode = startNamenode(port);
    await(this::allAreBack);
    await(() -> everyBlockHas("/a", 1, Set.of()));
    assertThat(read("/a")).isEqualTo(content);

    client.delete(new org.apache.hadoop.fs.Path("/a"), false);
    await(() -> machines.replicas() == 0);
  }

  @Test
  void aCorruptReplicaIsFoundByItsReaderAndReplaced() throws IOException {
    byte[] content = write("/c", BLOCK);
    await(() -> machines.replicas() == 3);
    Path bad;
    try (Stream<Path> files = Files.walk(dir)) {
      bad =
          files
              .filter(p -> p.toString().contains("finalized"))
              .filter(p -> p.getFileName().toString().matches("blk_\\d+"))
              .findFirst()
              .orElseThrow();
    }
    Files.write(bad, new byte[BLOCK]);
    // Each reader begins with a random replica: some readers find the bad replica and report it.
    await(
        () -> {
          assertThat(read("/c")).isEqualTo(content);
          return !Files.exists(bad);
        });
    await(() -> everyBlockHas("/c", 3, Set.of()));
    await(() -> machines.replicas() == 3);
  }

  @Test
  void filesAreCutAndPutTogether() throws Exception {
    org.apache.hadoop.fs.Path a = new org.apache.hadoop.fs.Path("/t");
    byte[] content = write("/t", 3 * BLOCK + 1000);
    assertThat(client.truncate(a, 3 * BLOCK)).isTrue();
    assertThat(read("/t")).isEqualTo(Arrays.copyOf(content, 3 * BLOCK));
    int shorter = BLOCK + 777; // within a chunk
    assertThat(client.truncate(a, shorter)).isFalse();
    await(() -> client.isFileClosed(a));
    assertThat(client.getFileStatus(a).getLen()).isEqualTo(shorter);
    assertThat(read("/t")).isEqualTo(Arrays.copyOf(content, shorter));
    await(() -> machines.replicas() == 6 && everyBlockHas("/t", 3, Set.of()));
    try (OutputStream out = client.append(a)) {
      out.write(content, shorter, 500);
    }
    assertThat(read("/t")).isEqualTo(Arrays.copyOf(content, shorter + 500));
    byte[] more = write("/u", BLOCK + 5);
    client.concat(a, new org.apache.hadoop.fs.Path[] {new org.apache.hadoop.fs.Path("/u")});
    assertThat(client.exists(new org.apache.hadoop.fs.Path("/u"))).isFalse();
    byte[] both = Arrays.copyOf(content, shorter + 500 + more.length);
    System.arraycopy(more, 0, both, shorter + 500, more.length);
    assertThat(read("/t")).isEqualTo(both);
    client.delete(a, false);
    await(() -> machines.replicas() == 0);
  }

  private String dfsadmin(String... args) throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      assertThat(new DFSAdmin(configuration()).run(args)).isZero();
    } finally {
      System.setOut(before);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }

  private DatanodeInfo stats(int transferPort) throws IOException {
    return Arrays.stream(client.getDataNodeStats(DatanodeReportType.ALL))
        .filter(info -> info.getXferPort() == transferPort)
        .findFirst()
        .orElseThrow();
  }

  /** The servers of each replica of the file /d. */
  private List<String> holders() throws IOException {
    List<String> holders = new ArrayList<>();
    for (BlockLocation block :
        client.getFileBlockLocations(new org.apache.hadoop.fs.Path("/d"), 0, Long.MAX_VALUE)) {
      holders.addAll(Arrays.asList(block.getNames()));
    }
    return holders;
  }

  @Test
  void dfsadminDrainsAServerWhoseEndLosesNothingAndTakesItBack() throws Exception {
    byte[] content = write("/d", 5 * BLOCK + 17);
    await(() -> machines.replicas() == 18);
    DataNode victim = dataNodes.get(0);
    int port = victim.getXferPort();
    await(() -> holders().size() == 18); // each replica is reported
    int held = Collections.frequency(holders(), "127.0.0.1:" + port);
    await(() -> stats(port).getNumBlocks() == held); // it is counted every few seconds
    Files.writeString(dir.resolve("exclude"), "127.0.0.1:" + port + " # it is old\n");
    assertThat(dfsadmin("-refreshNodes")).contains("Refresh nodes successful");
    assertThat(stats(port).isDecommissionInProgress() || stats(port).isDecommissioned()).isTrue();
    await(() -> stats(port).isDecommissioned());
    assertThat(dfsadmin("-report", "-decommissioning")).contains("Decommissioning datanodes (0)");
    assertThat(dfsadmin("-report"))
        .contains("Decommission Status : Decommissioned")
        .contains("Num of Blocks: " + held);
    // Three other servers have all blocks; the fourth keeps its replicas until it is gone.
    BlockLocation[] blocks =
        client.getFileBlockLocations(new org.apache.hadoop.fs.Path("/d"), 0, Long.MAX_VALUE);
    for (BlockLocation block : blocks) {
      String[] names = block.getNames();
      assertThat(names.length).isGreaterThanOrEqualTo(3);
      assertThat(Arrays.asList(names).subList(0, 3)).noneMatch(name -> name.endsWith(":" + port));
    }
    write("/new", 3 * BLOCK);
    await(() -> everyBlockHas("/new", 3, Set.of(port)));

    dataNodes.remove(0);
    victim.shutdown();
    await(() -> everyBlockHas("/d", 3, Set.of(port)));
    assertThat(read("/d")).isEqualTo(content);

    dataNodes.add(startDataNode(0));
    await(this::allAreBack);
    Files.writeString(dir.resolve("exclude"), "");
    dfsadmin("-refreshNodes");
    await(
        () ->
            Arrays.stream(client.getDataNodeStats(DatanodeReportType.LIVE))
                .allMatch(info -> info.getAdminState() == DatanodeInfo.AdminStates.NORMAL));
    await(() -> machines.replicas() == 27);
    assertThat(read("/d")).isEqualTo(content);
  }

  /** HDFS waits in the same way, and tells the same counts. */
  @Test
  void aServerThatOthersCannotReplaceStaysInProgress() throws Exception {
    dataNodes.remove(3).shutdown();
    byte[] content = write("/e", 2 * BLOCK);
    await(() -> machines.replicas() == 6);
    int port = dataNodes.get(0).getXferPort();
    Files.writeString(dir.resolve("exclude"), "127.0.0.1:" + port);
    dfsadmin("-refreshNodes");
    await(() -> stats(port).getNumBlocks() == 2);
    String report = dfsadmin("-report", "-decommissioning");
    assertThat(report)
        .contains("Decommissioning datanodes (1)")
        .contains("Decommission Status : Decommission in progress")
        .contains("Num of Blocks: 2");
    assertThat(stats(port).isDecommissionInProgress()).isTrue();
    assertThat(read("/e")).isEqualTo(content);
  }
}
