package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.hdfs.LocalHdfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Apache HDFS. */
record HdfsUnderTest(LocalHdfs hdfs) implements NamenodeUnderTest {
  static HdfsUnderTest create(Build build, Path directory, int heapMebibytes)
      throws ClusterException, IOException, InterruptedException {
    Files.createDirectories(directory);
    return new HdfsUnderTest(LocalHdfs.format(build, directory, NamenodeJvm.flags(heapMebibytes)));
  }

  @Override
  public String name() {
    return ComparedNamenodes.HDFS;
  }

  @Override
  public String host() {
    return hdfs.host();
  }

  @Override
  public int port() {
    return hdfs.port();
  }

  @Override
  public long pid() {
    return hdfs.namenode().pid();
  }

  @Override
  public void launchNamenode() throws ClusterException {
    hdfs.launchNamenode();
  }

  @Override
  public void awaitNamenode() throws ClusterException, IOException, InterruptedException {
    hdfs.awaitNamenode();
  }

  @Override
  public void stopNamenode() throws ClusterException, InterruptedException {
    hdfs.stopNamenode();
  }

  @Override
  public void launchDataServer() throws ClusterException {
    hdfs.launchDataNode();
  }

  @Override
  public void killDataServers() throws ClusterException, InterruptedException {
    hdfs.killDataNodes();
  }

  @Override
  public void relaunchDataServers() throws ClusterException {
    hdfs.relaunchDataNodes();
  }

  @Override
  public void copyFiles(CopiedTree tree) throws IOException {
    NewBlocks blocks =
        disks().isEmpty()
            ? NewBlocks.NONE
            : new BlockFileCopies(finalized(disks().get(0)), HdfsUnderTest::subdirectory);
    HdfsImageCopies.copy(hdfs.nameDirectory(), tree, blocks);
  }

  private static Path finalized(Path disk) throws IOException {
    try (Stream<Path> pools = Files.list(disk.resolve("current"))) {
      return pools
          .filter(pool -> pool.getFileName().toString().startsWith("BP-"))
          .findFirst()
          .orElseThrow(() -> new IOException(disk + " holds no block pool"))
          .resolve("current/finalized");
    }
  }

  /** Where a DataNode keeps a block: two levels of 32 directories each. */
  private static String subdirectory(long blockId) {
    return "subdir%d/subdir%d".formatted(blockId >> 16 & 0x1F, blockId >> 8 & 0x1F);
  }

  @Override
  public List<Path> disks() {
    return hdfs.disks();
  }

  @Override
  public int dataServerIpcPort(int server) {
    return hdfs.dataNodeIpcPorts().get(server);
  }

  @Override
  public void close() throws IOException, InterruptedException {
    hdfs.close();
  }
}
