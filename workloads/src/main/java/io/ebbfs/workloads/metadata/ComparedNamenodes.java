package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;

/** The systems that are compared, all of them running. */
record ComparedNamenodes(List<NamenodeUnderTest> namenodes) implements AutoCloseable {
  static final String EBBFS = "ebbfs";
  static final String HDFS = "hdfs";
  private static final long REGISTER_MILLIS = 120_000;

  /**
   * How to start each system.
   *
   * @param dataServers servers of blocks
   * @param ebbfsHeapMebibytes of the JVM of EbbFS's namenode
   * @param ebbfsSettings of EbbFS's namenode beside its defaults: {@code storeCache=256MiB}
   */
  record Setup(
      int dataServers, int ebbfsHeapMebibytes, int hdfsHeapMebibytes, List<String> ebbfsSettings) {
    static Setup alike(int dataServers, int heapMebibytes) {
      return new Setup(dataServers, heapMebibytes, heapMebibytes, List.of());
    }
  }

  /** What the systems are made of. */
  record Parts(Build build, StoreCopies copies, boolean ebbfsOnly) {}

  static ComparedNamenodes start(Parts parts, Setup setup, Path directory)
      throws ClusterException, IOException, InterruptedException {
    ComparedNamenodes compared = new ComparedNamenodes(new CopyOnWriteArrayList<>());
    // The servers live in sessions of their own: Ctrl-C does not reach them.
    Runtime.getRuntime().addShutdownHook(new Thread(compared::closeAtExit, "stop-namenodes"));
    try {
      EbbfsUnderTest ebbfs =
          new EbbfsUnderTest(
              parts.build(), directory.resolve(EBBFS), setup.ebbfsHeapMebibytes(), parts.copies());
      ebbfs.configure(setup.ebbfsSettings());
      compared.namenodes.add(ebbfs);
      ebbfs.launchKafka();
      if (!parts.ebbfsOnly()) {
        compared.namenodes.add(
            HdfsUnderTest.create(
                parts.build(), directory.resolve(HDFS), setup.hdfsHeapMebibytes()));
      }
      for (NamenodeUnderTest namenode : compared.namenodes) {
        start(namenode, setup.dataServers());
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
    awaitServers(namenode, dataServers);
  }

  private static void awaitServers(NamenodeUnderTest namenode, int dataServers)
      throws ClusterException, IOException, InterruptedException {
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

  /**
   * Stops each system and makes all files of a tree but the first. Clients have made the first one,
   * and HDFS has written an image since.
   *
   * @param out gets a line per system
   */
  void stopAndCopyFiles(CopiedTree tree, PrintStream out)
      throws ClusterException, IOException, InterruptedException {
    for (NamenodeUnderTest namenode : namenodes) {
      namenode.stopNamenode();
      namenode.killDataServers();
      long begun = System.nanoTime();
      namenode.copyFiles(tree);
      out.printf(
          Locale.ROOT,
          "(%s got %,d files in %.0f s)%n",
          namenode.name(),
          tree.files(),
          (System.nanoTime() - begun) / 1e9);
    }
  }

  /** Starts the stopped systems, with their servers of blocks, again. */
  void restart() throws ClusterException, IOException, InterruptedException {
    for (NamenodeUnderTest namenode : namenodes) {
      namenode.launchNamenode();
      namenode.awaitNamenode();
      namenode.relaunchDataServers();
      awaitServers(namenode, namenode.disks().size());
    }
  }

  /** Checks that each system serves the copies of a tree. */
  void check(CopiedTree tree) throws IOException {
    for (NamenodeUnderTest namenode : namenodes) {
      try (Administrator administrator = new Administrator(namenode)) {
        administrator.check(tree);
      }
    }
  }

  NamenodeUnderTest named(String system) {
    return namenodes.stream()
        .filter(namenode -> namenode.name().equals(system))
        .findFirst()
        .orElseThrow();
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
