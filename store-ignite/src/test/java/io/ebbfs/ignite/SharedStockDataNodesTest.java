package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.SharedNamenode;
import io.ebbfs.namenode.StockDataNodes;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Stock HDFS DataNodes and stock clients on two namenodes that share a store. */
@Timeout(900)
@Tag("process")
class SharedStockDataNodesTest {
  private static final int BLOCK = 1 << 20;
  private static final List<String> NAMES = List.of("a", "b");
  private static final String ACTIVE = "active";
  private static final String STANDBY = "standby";

  @TempDir java.nio.file.Path directory;
  private final List<SharedNamenode> namenodes = new ArrayList<>();
  private final List<DataNode> dataNodes = new ArrayList<>();
  private StoreNodes nodes;

  @BeforeEach
  void start() throws Exception {
    nodes = StoreNodes.start(directory, 1);
    for (String name : NAMES) {
      namenodes.add(namenode(name));
    }
  }

  @AfterEach
  void stop() throws IOException {
    dataNodes.forEach(DataNode::shutdown);
    try (StoreNodes last = nodes) {
      for (SharedNamenode namenode : namenodes) {
        namenode.close();
      }
    }
  }

  private SharedNamenode namenode(String name) throws Exception {
    Map<String, String> values = new HashMap<>();
    values.put("data", directory.resolve(name).toString());
    values.put("port", "0");
    values.put("storeNodes", String.join(",", nodes.peers()));
    values.put("blockSize", "1MiB");
    values.put("deadAfter", "4s");
    values.put("safeModeGrace", "5s");
    values.put("repairDelay", "0s");
    List<Override> keys =
        values.entrySet().stream()
            .map(value -> new Override("test", value.getKey(), value.getValue()))
            .toList();
    return SharedNamenode.start(
        NamenodeConfig.of(Optional.empty(), keys, Optional.empty()),
        Clock.systemUTC(),
        new Random(1));
  }

  private Configuration ofAll() {
    Configuration conf = HaConfiguration.of(namenodes);
    conf.set("fs.defaultFS", HaConfiguration.URI);
    return conf;
  }

  private static DistributedFileSystem client(String uri, Configuration conf) throws IOException {
    conf.setInt("dfs.replication", 2);
    DistributedFileSystem client = new DistributedFileSystem();
    client.initialize(URI.create(uri), conf);
    return client;
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  /** Polls, because other threads make the condition true. */
  private static void await(String what, Condition condition) throws Exception {
    long deadline = System.nanoTime() + 180_000_000_000L;
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as(what).isLessThan(deadline);
      Thread.sleep(50);
    }
  }

  private SharedNamenode awaitLeader() throws Exception {
    await(
        "one leads, and the others follow",
        () ->
            leaders().size() == 1
                && namenodes.stream()
                    .allMatch(namenode -> namenode.isLeader() || namenode.isServingFollower()));
    return leaders().get(0);
  }

  private List<SharedNamenode> leaders() {
    return namenodes.stream().filter(SharedNamenode::isLeader).toList();
  }

  /** What a DataNode knows of the namenodes: their states by their ports. */
  private static Map<Integer, String> statesAt(DataNode dataNode) {
    Map<Integer, String> states = new HashMap<>();
    for (Map<String, String> actor : dataNode.getBPServiceActorInfoMap()) {
      states.put(portOf(actor.get("NamenodeAddress")), actor.get("NamenodeHaState"));
    }
    return states;
  }

  private static int portOf(String address) {
    return Integer.parseInt(address.substring(address.indexOf(':') + 1));
  }

  /** Whether each DataNode shows this state of a namenode. */
  private boolean allShow(SharedNamenode namenode, String state) {
    int port = namenode.address().getPort();
    return dataNodes.stream().allMatch(dataNode -> statesAt(dataNode).get(port).equals(state));
  }

  private static Set<Integer> portsOf(DistributedFileSystem client, Path file) throws IOException {
    BlockLocation[] blocks = client.getFileBlockLocations(file, 0, Long.MAX_VALUE);
    assertThat(blocks).hasSize(1);
    return Set.copyOf(
        Arrays.stream(blocks[0].getNames()).map(SharedStockDataNodesTest::portOf).toList());
  }

  private static byte[] read(DistributedFileSystem client, Path file) throws IOException {
    try (InputStream in = client.open(file)) {
      return in.readAllBytes();
    }
  }

  @Test
  void theyFollowTheLeaderAndTheNextOne() throws Exception {
    SharedNamenode leader = awaitLeader();
    SharedNamenode follower = namenodes.get(namenodes.get(0) == leader ? 1 : 0);
    StockDataNodes machines = new StockDataNodes(directory);
    Configuration conf = ofAll();
    // A DataNode ends when it has given up the connection to a namenode that is away.
    conf.setInt("ipc.client.connect.max.retries", 0);
    for (int i = 0; i < 3; i++) {
      dataNodes.add(machines.start(i, conf));
    }
    await("the DataNodes report to the leader", () -> allShow(leader, ACTIVE));
    await("the follower is the standby", () -> allShow(follower, STANDBY));

    Path file = new Path("/file");
    byte[] content = new byte[BLOCK - 17];
    new Random(1).nextBytes(content);
    try (DistributedFileSystem here =
        client("hdfs://" + HaConfiguration.address(follower), new Configuration())) {
      await("the follower knows them", () -> here.getDataNodeStats().length == 3);
      try (OutputStream out = here.create(file)) {
        out.write(content);
      }
      assertThat(read(here, file)).isEqualTo(content);
      await("two replicas", () -> portsOf(here, file).size() == 2);
    }

    try (DistributedFileSystem all = client(HaConfiguration.URI, ofAll())) {
      namenodes.remove(leader);
      leader.close();
      SharedNamenode next = awaitLeader();
      await("the DataNodes report to the next leader", () -> allShow(next, ACTIVE));
      assertThat(read(all, file)).isEqualTo(content);

      Set<Integer> before = portsOf(all, file);
      DataNode victim =
          dataNodes.stream()
              .filter(d -> before.contains(d.getXferPort()))
              .findFirst()
              .orElseThrow();
      int lost = victim.getXferPort();
      dataNodes.remove(victim);
      victim.shutdown();
      await(
          "the lost replica is made again",
          () -> portsOf(all, file).size() == 2 && !portsOf(all, file).contains(lost));
      assertThat(read(all, file)).isEqualTo(content);

      // A DataNode that a busy machine let appear dead has left an excess replica: the namenode
      // deletes it.
      await("two replicas and the lost one", () -> machines.replicas() == 3);
      assertThat(all.delete(file, false)).isTrue();
      await("the deletion reaches the DataNodes", () -> machines.replicas() == 1);
    }
  }
}
