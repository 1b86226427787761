package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The systems that are compared, all of them running. */
record ComparedNamenodes(List<NamenodeUnderTest> namenodes) implements AutoCloseable {
  static final String EBBFS = "ebbfs";
  static final String HDFS = "hdfs";
  private static final long REGISTER_MILLIS = 120_000;

  /** Starts each system with a namenode and this many servers of blocks. */
  static ComparedNamenodes start(
      Build build, MetadataOptions options, Path directory, int dataServers)
      throws ClusterException, IOException, InterruptedException {
    ComparedNamenodes compared = new ComparedNamenodes(new CopyOnWriteArrayList<>());
    int heap = options.heapMebibytes();
    // The servers live in sessions of their own: Ctrl-C does not reach them.
    Runtime.getRuntime().addShutdownHook(new Thread(compared::closeAtExit, "stop-namenodes"));
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

  private void closeAtExit() {
    try {
      close();
    } catch (ClusterException | IOException e) {
      System.err.println("the compared systems could not be stopped: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws ClusterException, IOException, InterruptedException {
    for (NamenodeUnderTest namenode : namenodes) {
      namenode.close();
    }
  }
}
