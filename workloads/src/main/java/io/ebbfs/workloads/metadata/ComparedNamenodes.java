package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The systems that are compared, all of them running. */
record ComparedNamenodes(List<NamenodeUnderTest> namenodes) implements AutoCloseable {
  static final String EBBFS = "ebbfs";
  static final String HDFS = "hdfs";
  private static final long REGISTER_MILLIS = 120_000;

  /** Starts each system with a namenode and this many servers of blocks. */
  static ComparedNamenodes start(
      Build build, MetadataOptions options, Path directory, int dataServers)
      throws ClusterException, IOException, InterruptedException {
    ComparedNamenodes compared = new ComparedNamenodes(new ArrayList<>());
    int heap = options.heapMebibytes();
    try {
      EbbfsUnderTest ebbfs = new EbbfsUnderTest(build, directory.resolve(EBBFS), heap);
      compared.namenodes.add(ebbfs);
      ebbfs.launchKafka();
      if (!options.ebbfsOnly()) {
        compared.namenodes.add(HdfsUnderTest.create(build, directory.resolve(HDFS), heap));
      }
      for (NamenodeUnderTest namenode : compared.namenodes) {
        start(namenode, dataServers);
      }
      return compared;
    } catch (ClusterException | IOException | InterruptedException | RuntimeException e) {
      compared.close();
      throw e;
    }
  }

  private static void start(NamenodeUnderTest namenode, int dataServers)
      throws ClusterException, IOException, InterruptedException {
    namenode.launchNamenode();
    namenode.awaitNamenode();
    for (int server = 0; server < dataServers; server++) {
      namenode.launchDataServer();
    }
    try (Administrator administrator = new Administrator(namenode)) {
      ConditionWaiter.within(REGISTER_MILLIS)
          .until(
              "the registration of the servers of " + namenode.name(),
              () -> {
                int live = administrator.liveServers();
                return live == dataServers ? null : live + " of " + dataServers + " are live";
              });
    }
  }

  @Override
  public void close() throws ClusterException, IOException, InterruptedException {
    for (NamenodeUnderTest namenode : namenodes) {
      namenode.close();
    }
  }
}
