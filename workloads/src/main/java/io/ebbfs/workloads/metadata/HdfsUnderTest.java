package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.hdfs.LocalHdfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

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
