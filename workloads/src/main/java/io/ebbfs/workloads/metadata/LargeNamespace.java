package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.metadata.ComparedNamenodes.Setup;
import io.ebbfs.workloads.metadata.MetadataOptions.Sizes;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Row;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Measures systems with many files and no servers of blocks: starts, memory, and stats beyond the
 * cache. Not thread-safe.
 */
final class LargeNamespace implements AutoCloseable {
  private static final int CONNECTIONS = 64;

  /** After a start, until the compiler has seen the calls and the cache is in use. */
  private static final double WARM_UP_SECONDS = 5;

  private static final int FILES_PER_DIRECTORY = 1000;
  private static final String DIRECTORY = "/large/files";

  /**
   * EbbFS's cache has this part of the bytes of its rows of files, but not less than it accepts.
   */
  private static final int CACHE_SHARE = 10;

  private static final long LEAST_CACHE_BYTES = 8 << 20;

  /** What EbbFS's heap has beside the half of the cache, as conf/namenode.yaml advises. */
  private static final int OTHER_HEAP_MEBIBYTES = 256;

  /** An empty file takes less than this on HDFS's heap, the room for garbage included. */
  private static final int HDFS_HEAP_BYTES_PER_FILE = 512;

  /** What EbbFS's namenode may take beside its cache. */
  private static final double OTHER_MEMORY_GOAL_MEBIBYTES = 512;

  private static final double READS_GOAL_SECONDS = 10;

  private final Build build;
  private final MetadataOptions options;
  private final ComparedNamenodes compared;
  private final Path directory;
  private final PrintStream out;
  private final MeasureLists measures;
  private final CopiedTree tree;
  private final String size;
  private final ServedCalls served;

  LargeNamespace(
      Build build,
      MetadataOptions options,
      ComparedNamenodes compared,
      Path directory,
      PrintStream out,
      MeasureLists measures,
      int files) {
    this.build = build;
    this.options = options;
    this.compared = compared;
    this.directory = directory;
    this.out = out;
    this.measures = measures;
    this.tree = new CopiedTree(DIRECTORY, files, FILES_PER_DIRECTORY);
    this.size =
        String.format(
            Locale.ROOT,
            "%,d files, EbbFS's cache %d MiB",
            files,
            options.sizes().cacheMebibytes());
    this.served = new ServedCalls(build);
  }

  /** HDFS keeps every file on its heap; EbbFS's heap follows its cache. */
  static Setup setup(MetadataOptions options, int files) {
    Sizes sizes = options.sizes();
    long hdfs = (long) files * HDFS_HEAP_BYTES_PER_FILE >> 20;
    return new Setup(
        0,
        sizes.cacheMebibytes() / 2 + OTHER_HEAP_MEBIBYTES,
        (int) Math.max(options.heapMebibytes(), hdfs),
        List.of("storeCache=%dMiB".formatted(sizes.cacheMebibytes())));
  }

  void fill() throws ClusterException, IOException, InterruptedException {
    FirstFiles.make(build, compared, directory, tree, "empty");
    compared.stopAndCopyFiles(tree, out);
  }

  void measureStartsAndMemory() throws ClusterException, IOException, InterruptedException {
    for (int start = 0; start < options.sizes().starts(); start++) {
      for (NamenodeUnderTest namenode : compared.namenodes()) {
        if (start > 0) {
          namenode.stopNamenode();
        }
        start(namenode, start);
      }
      if (start == 0) {
        compared.check(tree);
      }
    }
    for (NamenodeUnderTest namenode : compared.namenodes()) {
      memory(namenode);
    }
  }

  private void start(NamenodeUnderTest namenode, int start)
      throws ClusterException, IOException, InterruptedException {
    long begun = System.nanoTime();
    namenode.launchNamenode();
    served.await(namenode, false, tree.firstFile());
    double reads = (System.nanoTime() - begun) / 1e9;
    served.await(namenode, true, "/large/start-" + start);
    double writes = (System.nanoTime() - begun) / 1e9;
    measures.add(
        "start until reads are served", "s", size, READS_GOAL_SECONDS, namenode.name(), reads);
    measures.add("start until writes are served", "s", size, namenode.name(), writes);
  }

  private void memory(NamenodeUnderTest namenode) throws ClusterException, IOException {
    try (LoadGenerator generator = Generators.single(build, namenode, CONNECTIONS, directory)) {
      generator.measure("stat-tree %s %.3f", tree.words(), WARM_UP_SECONDS);
    }
    measures.add(
        "resident memory after a start and stats",
        "MiB",
        size,
        options.sizes().cacheMebibytes() + OTHER_MEMORY_GOAL_MEBIBYTES,
        namenode.name(),
        ResidentMemory.mebibytes(ResidentMemory.bytes(namenode)));
  }

  @Override
  public void close() throws ClusterException, IOException, InterruptedException {
    compared.close();
  }

  /** EbbFS starts with a cache of a tenth of its rows; HDFS keeps all of them in memory. */
  List<Row> statsBeyondTheCache() throws ClusterException, IOException, InterruptedException {
    EbbfsUnderTest ebbfs = (EbbfsUnderTest) compared.named(ComparedNamenodes.EBBFS);
    long cacheBytes = Math.max(LEAST_CACHE_BYTES, ebbfs.copiedBytes() / CACHE_SHARE);
    measures.add(
        "stat-beyond-cache: rows of files per cache",
        "times",
        String.format(
            Locale.ROOT, "%,d files, EbbFS's cache %d MiB", tree.files(), cacheBytes >> 20),
        ebbfs.name(),
        (double) ebbfs.copiedBytes() / cacheBytes);
    ebbfs.configure(List.of("storeCache=" + cacheBytes + "B"));
    for (NamenodeUnderTest namenode : compared.namenodes()) {
      namenode.stopNamenode();
      namenode.launchNamenode();
      served.await(namenode, false, tree.firstFile());
    }
    try (Generators generators =
        Generators.start(build, compared, MetadataResults.NATIVE, CONNECTIONS, directory)) {
      generators.request(
          String.format(Locale.ROOT, "stat-tree %s %.3f", tree.words(), WARM_UP_SECONDS));
      RunLists runs = new RunLists();
      for (int round = 0; round < options.rounds(); round++) {
        generators.inTurn(
            round,
            (generator, system) ->
                generator.measure("stat-tree %s %.3f", tree.words(), options.seconds()),
            (system, run) -> runs.add("stat-beyond-cache", system, run));
      }
      return runs.rows(MetadataResults.NATIVE, CONNECTIONS);
    }
  }
}
