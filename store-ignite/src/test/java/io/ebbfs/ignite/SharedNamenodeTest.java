package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.SharedNamenode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.StandbyException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two namenodes on one store; clients find the leader as they find HDFS's active NameNode. */
class SharedNamenodeTest {
  private static final long LIMIT_NANOS = 60_000_000_000L;

  @TempDir Path directory;
  private StoreNodes nodes;
  private SharedNamenode first;
  private SharedNamenode second;

  @BeforeEach
  void start() throws Exception {
    nodes = StoreNodes.start(directory, 1);
    first = namenode("first");
    second = namenode("second");
  }

  @AfterEach
  void stop() throws IOException {
    try (StoreNodes last = nodes;
        SharedNamenode b = second;
        SharedNamenode a = first) {
      // Closes them in this order.
    }
  }

  private SharedNamenode namenode(String name) throws Exception {
    List<Override> keys =
        List.of(
            new Override("test", "data", directory.resolve(name).toString()),
            new Override("test", "port", "0"),
            new Override("test", "storeNodes", String.join(",", nodes.peers())));
    return SharedNamenode.start(
        NamenodeConfig.of(Optional.empty(), keys, Optional.empty()),
        Clock.systemUTC(),
        new Random(1));
  }

  private static URI uri(InetSocketAddress address) {
    return URI.create("hdfs://127.0.0.1:" + address.getPort());
  }

  private DFSClient clientOfBoth() throws IOException {
    Configuration conf = new Configuration();
    conf.set("dfs.nameservices", "ebbfs");
    conf.set("dfs.ha.namenodes.ebbfs", "a,b");
    conf.set("dfs.namenode.rpc-address.ebbfs.a", "127.0.0.1:" + first.address().getPort());
    conf.set("dfs.namenode.rpc-address.ebbfs.b", "127.0.0.1:" + second.address().getPort());
    conf.set(
        "dfs.client.failover.proxy.provider.ebbfs",
        "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider");
    conf.setInt("dfs.client.failover.sleep.base.millis", 100);
    conf.setInt("dfs.client.failover.sleep.max.millis", 1_000);
    conf.setInt("dfs.client.failover.max.attempts", 60);
    return new DFSClient(URI.create("hdfs://ebbfs"), conf);
  }

  private SharedNamenode awaitLeader() throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (!first.isLeader() && !second.isLeader() && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(first.isLeader() ^ second.isLeader()).as("one of them leads").isTrue();
    return first.isLeader() ? first : second;
  }

  @Test
  void clientsFindTheLeaderAndTheNextOne() throws Exception {
    SharedNamenode leader = awaitLeader();
    SharedNamenode standby = leader == first ? second : first;
    try (DFSClient one = new DFSClient(uri(standby.address()), new Configuration())) {
      assertThatThrownBy(() -> one.getNamenode().getFileInfo("/"))
          .isInstanceOfSatisfying(
              RemoteException.class,
              e -> assertThat(e.getClassName()).isEqualTo(StandbyException.class.getName()));
    }
    try (DFSClient client = clientOfBoth()) {
      assertThat(client.mkdirs("/a/b", new FsPermission(0755), true)).isTrue();
      long before = client.getFileInfo("/a/b").getFileId();
      leader.close();
      assertThat(client.mkdirs("/a/c", new FsPermission(0755), true)).isTrue();
      assertThat(standby.isLeader()).isTrue();
      assertThat(client.getFileInfo("/a/b").getFileId()).isEqualTo(before);
      assertThat(client.getFileInfo("/a/c").getFileId()).isGreaterThan(before);
    }
  }
}
