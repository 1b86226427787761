package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DFSOutputStream;
import org.apache.hadoop.hdfs.client.HdfsDataOutputStream;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A stock client writes through a follower; the DataNode talks to the leader alone. */
@Timeout(120)
@Tag("process")
class FollowerWritesTest {
  private static final int BLOCK = 64 << 10;

  @TempDir Path directory;
  private LeaderAndFollower both;
  private DataNode dataNode;
  private DFSClient client;
  private DFSClient atLeader;

  @BeforeEach
  void start() throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true); // several daemons in one process
    both = new LeaderAndFollower(directory);
    both.leaderIsKnown(1);
    URI leader = URI.create("hdfs://127.0.0.1:" + both.leaderAddress.getPort());
    dataNode = dataNode(leader);
    atLeader = both.client(leader);
    Configuration conf = new Configuration();
    conf.setInt("dfs.replication", 1);
    conf.setInt("dfs.blocksize", BLOCK);
    client = both.client(both.follower(), conf);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (atLeader.datanodeReport(DatanodeReportType.LIVE).length == 0) {
      assertThat(System.nanoTime()).as("time").isLessThan(deadline);
      Thread.sleep(50);
    }
  }

  @AfterEach
  void stop() throws Exception {
    if (dataNode != null) {
      dataNode.shutdown();
    }
    both.close();
  }

  private DataNode dataNode(URI leader) throws Exception {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", leader.toString());
    conf.set(
        DFSConfigKeys.DFS_DATANODE_DATA_DIR_KEY,
        "file:" + Files.createDirectories(directory.resolve("disk")));
    conf.set(DFSConfigKeys.DFS_DATANODE_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_HTTP_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_IPC_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_HOST_NAME_KEY, "127.0.0.1");
    conf.setInt(DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY, 1);
    DataNode made = DataNode.instantiateDataNode(new String[0], conf);
    made.runDatanodeDaemon();
    return made;
  }

  private static byte[] bytes(int length) {
    byte[] made = new byte[length];
    new Random(length).nextBytes(made);
    return made;
  }

  private byte[] read(DFSClient by, String path) throws Exception {
    try (InputStream in = by.open(path)) {
      return in.readAllBytes();
    }
  }

  @Test
  void blocksAreAddedWhereTheClientIs() throws Exception {
    byte[] content = bytes(2 * BLOCK + BLOCK / 2);
    try (OutputStream out = client.create("/file", false)) {
      out.write(content, 0, BLOCK / 2);
      ((DFSOutputStream) out).hsync();
      out.write(content, BLOCK / 2, content.length - BLOCK / 2);
    }
    assertThat(read(client, "/file")).isEqualTo(content);
    assertThat(read(atLeader, "/file")).isEqualTo(content);
    byte[] more = bytes(BLOCK);
    try (HdfsDataOutputStream out =
        client.append("/file", 4096, EnumSet.of(CreateFlag.APPEND), null, null)) {
      out.write(more);
    }
    byte[] whole = new byte[content.length + more.length];
    System.arraycopy(content, 0, whole, 0, content.length);
    System.arraycopy(more, 0, whole, content.length, more.length);
    assertThat(read(atLeader, "/file")).isEqualTo(whole);
    assertThat(both.leader.state().metrics())
        .as("an append gives its block a new generation, here")
        .doesNotContain("method=\"updateBlockForPipeline\"")
        .doesNotContain("method=\"updatePipeline\"")
        .doesNotContain("method=\"append\"")
        .doesNotContain("method=\"create\"")
        .doesNotContain("method=\"fsync\"");
    // A block that is not reported yet is waited for at the leader, so it may run some of these.
    assertThat(client.delete("/file", false)).isTrue();
  }
}
