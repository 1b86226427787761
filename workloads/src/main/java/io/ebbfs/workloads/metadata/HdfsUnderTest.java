package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.hdfs.LocalHdfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Apache HDFS. */
record HdfsUnderTest(LocalHdfs hdfs) implements NamenodeUnderTest {
  static HdfsUnderTest start(Build build, Path directory, int heapMebibytes)
      throws ClusterException, IOException, InterruptedException {
    Files.createDirectories(directory);
    LocalHdfs hdfs = LocalHdfs.format(build, directory, NamenodeJvm.flags(heapMebibytes));
    hdfs.launchNamenode();
    hdfs.awaitNamenode();
    return new HdfsUnderTest(hdfs);
  }

  @Override
  public String name() {
    return "hdfs";
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
  public void close() throws IOException, InterruptedException {
    hdfs.close();
  }
}
