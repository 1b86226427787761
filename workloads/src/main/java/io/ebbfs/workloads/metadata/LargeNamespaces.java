package io.ebbfs.workloads.metadata;

import com.fasterxml.jackson.databind.JsonNode;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Row;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures what is large, on systems of their own with one server of blocks: a directory of many
 * files that is renamed and deleted, the report of a server with as many blocks, starts over many
 * files, memory. Not thread-safe.
 */
final class LargeNamespaces {
  private static final int CONNECTIONS = 64;
  private static final int IDLE_CONNECTIONS = 1000;

  /** Operations per second of the others while a directory is renamed or deleted. */
  private static final int MIX_PER_SECOND = 500;

  private static final int STATS_PER_SECOND = 1000;
  private static final double TAIL_SECONDS = 3;
  private static final double REPORT_SECONDS = 3;

  /** After a start, until the compiler has seen the calls that are measured. */
  private static final double WARM_UP_SECONDS = 5;

  private static final long SPACE_MILLIS = 900_000;
  private static final int FILES_PER_DIRECTORY = 1000;
  private static final String DIRECTORY = "/large/directory";
  private static final String RENAMED = "/large/renamed";
  private static final double MEBIBYTE = 1 << 20;

  /** EbbFS's cache has this part of the size of its files, but not less than it accepts. */
  private static final int CACHE_SHARE = 10;

  private static final long LEAST_CACHE_BYTES = 8 << 20;

  private final Build build;
  private final MetadataOptions options;
  private final ComparedNamenodes compared;
  private final Path directory;
  private final MeasureLists measures;
  private final List<Row> rows = new ArrayList<>();

  LargeNamespaces(
      Build build,
      MetadataOptions options,
      ComparedNamenodes compared,
      Path directory,
      MeasureLists measures) {
    this.build = build;
    this.options = options;
    this.compared = compared;
    this.directory = directory;
    this.measures = measures;
  }

  List<Row> measure() throws ClusterException, IOException, InterruptedException {
    for (NamenodeUnderTest namenode : compared.namenodes()) {
      idleConnections(namenode);
    }
    largeDirectory();
    int filled = 0;
    for (int files : options.sizes().namespaceFiles()) {
      fillNamespace(filled, files);
      filled = files;
      starts(files);
      memory(files);
    }
    rows.addAll(beyondTheCache(filled));
    return rows;
  }

  private static String size(int count, String what) {
    return String.format(Locale.ROOT, "%,d %s", count, what);
  }

  // ---- connections that do nothing

  private void idleConnections(NamenodeUnderTest namenode)
      throws ClusterException, IOException, InterruptedException {
    long before = resident(namenode);
    try (LoadGenerator idle = generator(namenode, IDLE_CONNECTIONS)) {
      // The answer comes after every connection is open.
      idle.request("stat-once /");
      measures.add(
          "memory of connections that do nothing",
          "MiB",
          size(IDLE_CONNECTIONS, "connections"),
          namenode.name(),
          Math.max(0, resident(namenode) - before) / MEBIBYTE);
    }
  }

  private LoadGenerator generator(NamenodeUnderTest namenode, int connections)
      throws ClusterException, IOException {
    return new LoadGenerator(
        "native generator of " + namenode.name(),
        new GeneratorCommands(build).nativeClient(namenode, connections),
        directory.resolve("generator-" + namenode.name() + ".log"));
  }

  private static long resident(NamenodeUnderTest namenode) {
    return ProcessId.of(namenode.pid()).map(ProcessId::residentBytes).orElse(0L);
  }

  // ---- a directory of many files

  private void largeDirectory() throws ClusterException, IOException, InterruptedException {
    int files = options.sizes().directoryFiles();
    String size = size(files, "files");
    try (Generators generators =
        Generators.start(build, compared, MetadataResults.NATIVE, CONNECTIONS, directory)) {
      generators.request("prepare");
      generators.request("fill %s %d 0 data".formatted(DIRECTORY, files));
      RunLists runs = new RunLists();
      for (int round = 0; round < options.rounds(); round++) {
        generators.inTurn(
            round,
            this::statBesideReport,
            (system, run) -> runs.add("stat-beside-report", system, run));
      }
      rows.addAll(runs.rows(MetadataResults.NATIVE, CONNECTIONS));
      for (NamenodeUnderTest namenode : compared.namenodes()) {
        LoadGenerator generator = generators.of(namenode.name());
        answered(generator, namenode, "rename", DIRECTORY + " " + RENAMED, size);
        long begun = System.nanoTime();
        answered(generator, namenode, "delete", RENAMED, size);
        awaitSpace(namenode, begun, size);
      }
      generators.request("remove");
    }
  }

  private Run statBesideReport(LoadGenerator generator, String system)
      throws IOException, InterruptedException {
    NamenodeUnderTest namenode = named(system);
    try (Administrator administrator = new Administrator(namenode)) {
      administrator.triggerBlockReport(0);
    }
    return generator.measure("paced stat %d %.3f", STATS_PER_SECOND, REPORT_SECONDS);
  }

  private NamenodeUnderTest named(String system) {
    return compared.namenodes().stream()
        .filter(namenode -> namenode.name().equals(system))
        .findFirst()
        .orElseThrow();
  }

  private void answered(
      LoadGenerator generator, NamenodeUnderTest namenode, String verb, String paths, String size)
      throws IOException {
    String line =
        String.format(Locale.ROOT, "%s %s %d %.1f", verb, paths, MIX_PER_SECOND, TAIL_SECONDS);
    JsonNode answer = generator.request(line);
    String what = verb + " of a directory";
    String system = namenode.name();
    measures.add(what, "s", size, system, answer.get("answeredAfterSeconds").asDouble());
    Run others = generator.measured(line, answer.get("others"));
    measures.add(what + ": p99 of others meanwhile", "ms", size, system, others.p99Millis());
  }

  private void awaitSpace(NamenodeUnderTest namenode, long begunNanos, String size)
      throws IOException, InterruptedException {
    ConditionWaiter.within(SPACE_MILLIS)
        .until(
            "the end of the deleted blocks of " + namenode.name(),
            () -> {
              long blocks = StoredBlockCount.of(namenode.disks());
              return blocks == 0 ? null : blocks + " blocks are left";
            });
    measures.add(
        "delete of a directory: until the space is free",
        "s",
        size,
        namenode.name(),
        (System.nanoTime() - begunNanos) / 1e9);
  }

  // ---- many files

  private static String tree(int files) {
    return "/large/files %d %d".formatted(files, FILES_PER_DIRECTORY);
  }

  /** A file that every namespace has. */
  private static String firstFile() {
    return "/large/files/directory-" + "0".repeat(24) + "/file-" + "0".repeat(29);
  }

  private void fillNamespace(int filled, int files) throws ClusterException, IOException {
    try (Generators generators =
        Generators.start(build, compared, MetadataResults.NATIVE, CONNECTIONS, directory)) {
      generators.request("fill %s empty".formatted(tree(files)) + " " + filled);
      if (generators.of(ComparedNamenodes.HDFS) != null) {
        // A NameNode in service starts from an image that its standby has written.
        generators.of(ComparedNamenodes.HDFS).request("checkpoint");
      }
    }
  }

  private void starts(int files) throws ClusterException, IOException, InterruptedException {
    for (int start = 0; start < options.sizes().starts(); start++) {
      for (NamenodeUnderTest namenode : compared.namenodes()) {
        start(namenode, files, "start " + files + "-" + start);
      }
    }
  }

  private void start(NamenodeUnderTest namenode, int files, String written)
      throws ClusterException, IOException, InterruptedException {
    namenode.stopNamenode();
    long begun = System.nanoTime();
    namenode.launchNamenode();
    await(namenode, false, firstFile());
    double reads = (System.nanoTime() - begun) / 1e9;
    await(namenode, true, "/large/" + written.replace(' ', '-'));
    double writes = (System.nanoTime() - begun) / 1e9;
    String size = size(files, "files");
    measures.add("start until reads are served", "s", size, namenode.name(), reads);
    measures.add("start until writes are served", "s", size, namenode.name(), writes);
  }

  private void await(NamenodeUnderTest namenode, boolean write, String path)
      throws ClusterException, IOException, InterruptedException {
    Process await =
        new ProcessBuilder(new GeneratorCommands(build).await(namenode, write, path))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String answer = new String(await.getInputStream().readAllBytes());
    if (await.waitFor() != 0) {
      throw new IOException("the start of %s: %s".formatted(namenode.name(), answer));
    }
    namenode.awaitNamenode();
  }

  private void memory(int files) throws ClusterException, IOException {
    for (NamenodeUnderTest namenode : compared.namenodes()) {
      try (LoadGenerator generator = generator(namenode, CONNECTIONS)) {
        generator.measure("stat-tree %s %.3f", tree(files), options.seconds());
      }
      measures.add(
          "resident memory after a start and stats",
          "MiB",
          size(files, "files"),
          namenode.name(),
          resident(namenode) / MEBIBYTE);
    }
  }

  /** EbbFS starts with a cache of a tenth of its rows; HDFS keeps all of them in memory. */
  private List<Row> beyondTheCache(int files)
      throws ClusterException, IOException, InterruptedException {
    EbbfsUnderTest ebbfs = (EbbfsUnderTest) named(ComparedNamenodes.EBBFS);
    long storedBytes = StoredRows.bytes(ebbfs.data());
    long cacheBytes = Math.max(LEAST_CACHE_BYTES, storedBytes / CACHE_SHARE);
    measures.add(
        "stat-beyond-cache: files of the store per byte of cache",
        "B",
        size(files, "files"),
        ebbfs.name(),
        (double) storedBytes / cacheBytes);
    ebbfs.configure(List.of("storeCache=" + cacheBytes + "B"));
    for (NamenodeUnderTest namenode : compared.namenodes()) {
      start(namenode);
    }
    try (Generators generators =
        Generators.start(build, compared, MetadataResults.NATIVE, CONNECTIONS, directory)) {
      String warmUp = String.format(Locale.ROOT, "stat-tree %s %.3f", tree(files), WARM_UP_SECONDS);
      generators.request(warmUp);
      RunLists runs = new RunLists();
      for (int round = 0; round < options.rounds(); round++) {
        generators.inTurn(
            round,
            (generator, system) ->
                generator.measure("stat-tree %s %.3f", tree(files), options.seconds()),
            (system, run) -> runs.add("stat-beyond-cache", system, run));
      }
      return runs.rows(MetadataResults.NATIVE, CONNECTIONS);
    }
  }

  private void start(NamenodeUnderTest namenode)
      throws ClusterException, IOException, InterruptedException {
    namenode.stopNamenode();
    namenode.launchNamenode();
    namenode.awaitNamenode();
  }
}
