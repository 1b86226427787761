package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.protocol.CachePoolInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stock HDFS DataNodes and the stock client on our namenode, over real sockets. */
@Tag("process")
class StockHdfsTest {
  private static final int BLOCK = 256 << 10;
  private static final int DATANODES = 4;

  @TempDir static Path directory;

  private static final List<DataNode> DATANODE_LIST = new ArrayList<>();
  private static NamenodeServer namenode;
  private static DistributedFileSystem fs;

  private final long seed = Seeds.next(StockHdfsTest.class);
  private final Random random = new Random(seed);

  @BeforeAll
  static void start() throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true);
    NamenodeConfig config =
        NamenodeConfig.of(
            Optional.empty(),
            List.of(
                override("data", directory.resolve("nn").toString()),
                override("port", "0"),
                override("storeCache", "8MiB"),
                override("deadAfter", "10s"),
                override("repairDelay", "0s"),
                override("blockSize", BLOCK + "B"),
                override("leaseSoftLimit", "1s")),
            Optional.empty());
    namenode = NamenodeServer.start(config, Clock.systemUTC(), new Random(1));
    for (int i = 0; i < DATANODES; i++) {
      DATANODE_LIST.add(DataNode.createDataNode(new String[0], datanodeConfiguration(i)));
    }
    fs = newClient();
    Await.until(
        "all DataNodes have registered",
        () -> fs.getDataNodeStats(DatanodeReportType.LIVE).length == DATANODES);
  }

  private static NamenodeConfig.Override override(String key, String value) {
    return new NamenodeConfig.Override("--set " + key + "=" + value, key, value);
  }

  private static Configuration datanodeConfiguration(int index) {
    Configuration configuration = new HdfsConfiguration();
    configuration.set("fs.defaultFS", uri().toString());
    configuration.set("dfs.datanode.address", "127.0.0.1:0");
    configuration.set("dfs.datanode.http.address", "127.0.0.1:0");
    configuration.set("dfs.datanode.ipc.address", "127.0.0.1:0");
    configuration.set("dfs.datanode.hostname", "127.0.0.1");
    configuration.set("dfs.heartbeat.interval", "1");
    configuration.set("dfs.datanode.data.dir", directory.resolve("dn" + index).toUri().toString());
    return configuration;
  }

  private static URI uri() {
    return URI.create("hdfs://127.0.0.1:" + namenode.address().getPort());
  }

  /** A client with a name and lease of its own. */
  private static DistributedFileSystem newClient() throws IOException {
    Configuration configuration = new HdfsConfiguration();
    configuration.setInt("dfs.blocksize", BLOCK);
    configuration.set("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "50");
    return (DistributedFileSystem) FileSystem.newInstance(uri(), configuration);
  }

  @AfterAll
  static void stop() throws IOException {
    try (NamenodeServer last = namenode) {
      if (fs != null) {
        fs.close();
      }
      DATANODE_LIST.forEach(DataNode::shutdown);
    }
  }

  private org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path("/" + getClass().getSimpleName() + "/" + name);
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private org.apache.hadoop.fs.Path write(String name, byte[] content) throws IOException {
    org.apache.hadoop.fs.Path path = path(name);
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(content);
    }
    return path;
  }

  private static byte[] read(org.apache.hadoop.fs.Path path) throws IOException {
    try (FSDataInputStream in = fs.open(path)) {
      return in.readAllBytes();
    }
  }

  @Test
  void filesOfAllLengthsAreReadAsTheyWereWritten() throws IOException {
    for (int length : new int[] {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 4711}) {
      byte[] content = bytes(length);
      org.apache.hadoop.fs.Path path = write("length-" + length, content);
      assertThat(read(path)).as("length %d", length).isEqualTo(content);
      assertThat(fs.getFileStatus(path).getLen()).isEqualTo(length);
      BlockLocation[] locations = fs.getFileBlockLocations(path, 0, Long.MAX_VALUE);
      assertThat(locations).hasSize((length + BLOCK - 1) / BLOCK);
    }
  }

  @Test
  void overwritingReplacesTheContentAtOnce() throws IOException {
    write("over", bytes(BLOCK + 1));
    byte[] content = bytes(100);
    org.apache.hadoop.fs.Path path = write("over", content);
    assertThat(read(path)).isEqualTo(content);
    assertThatThrownBy(() -> fs.create(path, false)).isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void aReaderSeesWhatWasFlushedOfAnOpenFile() throws IOException {
    byte[] content = bytes(BLOCK + 1000);
    org.apache.hadoop.fs.Path path = path("open");
    try (FSDataOutputStream out = fs.create(path)) {
      out.write(content);
      out.hflush();
      assertThat(read(path)).isEqualTo(content);
      assertThat(fs.isFileClosed(path)).isFalse();
    }
    assertThat(fs.isFileClosed(path)).isTrue();
  }

  @Test
  void filesAreAppendedWithinABlockAndBetweenBlocks() throws IOException {
    byte[] content = bytes(3 * BLOCK);
    org.apache.hadoop.fs.Path path = write("append", Arrays.copyOf(content, 1000));
    int[] ends = {1500, BLOCK, BLOCK + 10, 2 * BLOCK + 5, 3 * BLOCK};
    int from = 1000;
    for (int end : ends) {
      try (FSDataOutputStream out = fs.append(path)) {
        out.write(content, from, end - from);
      }
      from = end;
      assertThat(read(path)).as("up to %d", end).isEqualTo(Arrays.copyOf(content, end));
    }
  }

  @Test
  void anAppendMayStartANewBlock() throws IOException {
    byte[] content = bytes(2000);
    org.apache.hadoop.fs.Path path = write("append-new", Arrays.copyOf(content, 1000));
    try (FSDataOutputStream out =
        fs.append(path, EnumSet.of(CreateFlag.APPEND, CreateFlag.NEW_BLOCK), 4096, null)) {
      out.write(content, 1000, 1000);
    }
    assertThat(read(path)).isEqualTo(content);
    assertThat(fs.getFileBlockLocations(path, 0, 2000)).hasSize(2);
  }

  @Test
  void aFileOfAWriterThatWentAwayIsTakenOver() throws Exception {
    byte[] content = bytes(BLOCK + 5000);
    org.apache.hadoop.fs.Path path = path("abandoned");
    DistributedFileSystem gone = newClient();
    FSDataOutputStream out = gone.create(path);
    out.write(content);
    out.hflush();
    gone.getClient().getLeaseRenewer().interruptAndJoin();

    Await.until("the lease is recovered", () -> fs.recoverLease(path));
    assertThat(read(path)).isEqualTo(content);
    assertThatThrownBy(out::close).isInstanceOf(IOException.class);
    gone.close();
    assertThat(read(path)).isEqualTo(content);
  }

  @Test
  void aWriteSurvivesTheDeathOfADatanode() throws Exception {
    byte[] content = bytes(2 * BLOCK + 777);
    org.apache.hadoop.fs.Path path = path("pipeline");
    try (FSDataOutputStream out = fs.create(path)) {
      out.write(content, 0, BLOCK / 2);
      out.hflush();
      String victim =
          fs.getClient()
              .getLocatedBlocks(path.toUri().getPath(), 0)
              .getLastLocatedBlock()
              .getLocations()[0]
              .getDatanodeUuid();
      int index = 0;
      while (!DATANODE_LIST.get(index).getDatanodeUuid().equals(victim)) {
        index++;
      }
      DATANODE_LIST.get(index).shutdown();
      out.write(content, BLOCK / 2, content.length - BLOCK / 2);
      out.close();
      assertThat(read(path)).isEqualTo(content);
      DATANODE_LIST.set(
          index, DataNode.createDataNode(new String[0], datanodeConfiguration(index)));
    }
    Await.until(
        "the DataNode is back",
        () -> fs.getDataNodeStats(DatanodeReportType.LIVE).length == DATANODES);
  }

  @Test
  void theNamespaceAnswersAsHdfs() throws IOException {
    org.apache.hadoop.fs.Path top = path("names");
    assertThat(fs.mkdirs(new org.apache.hadoop.fs.Path(top, "a/b"))).isTrue();
    org.apache.hadoop.fs.Path file = write("names/a/f", bytes(10));
    assertThatThrownBy(() -> fs.getFileStatus(new org.apache.hadoop.fs.Path(top, "none")))
        .isInstanceOf(FileNotFoundException.class);
    assertThat(fs.rename(file, new org.apache.hadoop.fs.Path(top, "a/b"))).isTrue();
    assertThat(fs.exists(new org.apache.hadoop.fs.Path(top, "a/b/f"))).isTrue();
    fs.rename(
        new org.apache.hadoop.fs.Path(top, "a/b/f"),
        new org.apache.hadoop.fs.Path(top, "g"),
        Options.Rename.OVERWRITE);
    fs.setPermission(new org.apache.hadoop.fs.Path(top, "g"), new FsPermission(0600));
    fs.setOwner(new org.apache.hadoop.fs.Path(top, "g"), "alice", "staff");
    fs.setTimes(new org.apache.hadoop.fs.Path(top, "g"), 123, 456);
    assertThat(fs.setReplication(new org.apache.hadoop.fs.Path(top, "g"), (short) 2)).isTrue();
    FileStatus status = fs.getFileStatus(new org.apache.hadoop.fs.Path(top, "g"));
    assertThat(status.getPermission()).isEqualTo(new FsPermission(0600));
    assertThat(status.getOwner()).isEqualTo("alice");
    assertThat(status.getGroup()).isEqualTo("staff");
    assertThat(status.getModificationTime()).isEqualTo(123);
    assertThat(status.getReplication()).isEqualTo((short) 2);
    assertThat(fs.getContentSummary(top).getFileCount()).isEqualTo(1);
    assertThat(fs.getContentSummary(top).getDirectoryCount()).isEqualTo(3);
    assertThat(fs.delete(top, true)).isTrue();
    assertThat(fs.exists(top)).isFalse();
  }

  @Test
  void listingsComeWithLocations() throws IOException {
    write("listed/f1", bytes(BLOCK + 1));
    write("listed/f2", bytes(0));
    RemoteIterator<LocatedFileStatus> files = fs.listFiles(path("listed"), true);
    List<Integer> blocks = new ArrayList<>();
    while (files.hasNext()) {
      blocks.add(files.next().getBlockLocations().length);
    }
    assertThat(blocks).containsExactly(2, 0);
  }

  @Test
  void checksumsOfEqualFilesAreEqual() throws IOException {
    byte[] content = bytes(2 * BLOCK + 99);
    org.apache.hadoop.fs.Path one = write("sum1", content);
    org.apache.hadoop.fs.Path two = write("sum2", content);
    assertThat(fs.getFileChecksum(one)).isEqualTo(fs.getFileChecksum(two)).isNotNull();
  }

  @Test
  void aSnapshotKeepsItsBytesWhenAFileGrowsAndGoes() throws IOException {
    byte[] content = bytes(BLOCK + 99);
    org.apache.hadoop.fs.Path file = write("kept/file", content);
    var checksum = fs.getFileChecksum(file);
    fs.allowSnapshot(file.getParent());
    fs.createSnapshot(file.getParent(), "s");
    org.apache.hadoop.fs.Path old =
        new org.apache.hadoop.fs.Path(file.getParent(), ".snapshot/s/file");
    try (var out = fs.append(file)) {
      out.write(bytes(BLOCK));
    }
    assertThat(read(old)).isEqualTo(content);
    assertThat(fs.getFileStatus(old).getLen()).isEqualTo(content.length);
    assertThat(fs.getFileChecksum(old)).isEqualTo(checksum);
    fs.delete(file, false);
    assertThat(read(old)).isEqualTo(content);
    assertThat(fs.getContentSummary(old.getParent()).getLength()).isEqualTo(content.length);
  }

  @Test
  void whatIsNotSupportedSaysSo() {
    assertThatThrownBy(() -> fs.addCachePool(new CachePoolInfo("p")))
        .hasMessageContaining("does not support the call addCachePool");
  }

  /** Every MapReduce job on YARN asks for replication in its staging directory. */
  @Test
  void aDirectoryMayAskForReplication() throws IOException {
    write("staging/file", bytes(1));
    fs.setErasureCodingPolicy(path("staging"), "replication");
    assertThatThrownBy(() -> fs.setErasureCodingPolicy(path("staging/file"), "replication"))
        .hasMessageContaining("Attempt to set an erasure coding policy for a file");
    assertThatThrownBy(() -> fs.setErasureCodingPolicy(path("nowhere"), "replication"))
        .isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void refreshNodesWithoutAFileIsRefusedWithTheReasonAndARemedy() {
    assertThatThrownBy(() -> fs.refreshNodes())
        .hasMessageContaining("excludeFile is not set in namenode.yaml")
        .hasMessageContaining("set it and restart the namenode");
  }

  @Test
  void whatHdfsHasSwitchedOffIsAnsweredAsThere() throws IOException {
    write("plain", bytes(1));
    assertThat(fs.getErasureCodingPolicy(path("plain"))).isNull();
    assertThat(fs.getEZForPath(path("plain"))).isNull();
    assertThat(fs.getAclStatus(path("plain")).getEntries()).isEmpty();
    assertThat(fs.getStoragePolicies()).isNotEmpty();
    assertThat(fs.getServerDefaults(path("plain")).getBlockSize()).isEqualTo(BLOCK);
    assertThat(fs.getStatus().getCapacity()).isPositive();
    assertThat(fs.isInSafeMode()).isIn(true, false);
  }
}
