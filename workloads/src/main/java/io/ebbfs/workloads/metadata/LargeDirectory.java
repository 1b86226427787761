package io.ebbfs.workloads.metadata;

import com.fasterxml.jackson.databind.JsonNode;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Row;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Measures a directory of many files with a block each, all on one server: the full report of the
 * server, the rename and the delete of the directory. Also measures connections that do nothing.
 * Not thread-safe.
 */
final class LargeDirectory {
  static final int DATA_SERVERS = 1;

  private static final int CONNECTIONS = 64;
  private static final int IDLE_CONNECTIONS = 1000;

  /** Operations per second of the others while a directory is renamed or deleted. */
  private static final int MIX_PER_SECOND = 500;

  private static final int STATS_PER_SECOND = 1000;
  private static final double TAIL_SECONDS = 3;
  private static final double REPORT_SECONDS = 3;
  private static final double WARM_UP_SECONDS = 3;
  private static final long SPACE_MILLIS = 1_800_000;
  private static final long SPACE_POLL_MILLIS = 200;
  private static final String DIRECTORY = "/large/directory";
  private static final String RENAMED = "/large/renamed";

  private final Build build;
  private final ComparedNamenodes compared;
  private final Path directory;
  private final int rounds;
  private final CopiedTree tree;
  private final String size;
  private final PrintStream out;
  private final MeasureLists measures;
  private final ServedCalls served;

  LargeDirectory(
      Build build,
      MetadataOptions options,
      ComparedNamenodes compared,
      Path directory,
      PrintStream out,
      MeasureLists measures) {
    this.build = build;
    this.compared = compared;
    this.directory = directory;
    this.rounds = options.rounds();
    this.tree = new CopiedTree(DIRECTORY, options.sizes().directoryFiles(), 0);
    this.size = String.format(Locale.ROOT, "%,d files", tree.files());
    this.out = out;
    this.measures = measures;
    this.served = new ServedCalls(build);
  }

  List<Row> measure() throws ClusterException, IOException, InterruptedException {
    for (NamenodeUnderTest namenode : compared.namenodes()) {
      idleConnections(namenode);
    }
    FirstFiles.make(build, compared, directory, tree, "data");
    compared.stopAndCopyFiles(tree, out);
    compared.restart();
    for (NamenodeUnderTest namenode : compared.namenodes()) {
      served.await(namenode, true, "/large/safe-mode-is-over");
    }
    compared.check(tree);
    try (Generators generators = generators()) {
      generators.request("prepare");
      List<Row> rows = besideReports(generators);
      for (NamenodeUnderTest namenode : compared.namenodes()) {
        renameAndDelete(generators.of(namenode.name()), namenode);
      }
      return rows;
    }
  }

  private Generators generators() throws ClusterException, IOException {
    return Generators.start(build, compared, MetadataResults.NATIVE, CONNECTIONS, directory);
  }

  private void idleConnections(NamenodeUnderTest namenode)
      throws ClusterException, IOException, InterruptedException {
    long before = ResidentMemory.bytes(namenode);
    try (LoadGenerator idle = Generators.single(build, namenode, IDLE_CONNECTIONS, directory)) {
      // The answer comes after every connection is open.
      idle.request("stat-once /");
      measures.add(
          "memory of connections that do nothing",
          "MiB",
          String.format(Locale.ROOT, "%,d connections", IDLE_CONNECTIONS),
          namenode.name(),
          ResidentMemory.mebibytes(Math.max(0, ResidentMemory.bytes(namenode) - before)));
    }
  }

  private List<Row> besideReports(Generators generators)
      throws ClusterException, IOException, InterruptedException {
    generators.request(String.format(Locale.ROOT, "run stat %.3f", WARM_UP_SECONDS));
    RunLists runs = new RunLists();
    for (int round = 0; round < rounds; round++) {
      generators.inTurn(
          round, this::besideReport, (system, run) -> runs.add("stat-beside-report", system, run));
    }
    return runs.rows(MetadataResults.NATIVE, CONNECTIONS);
  }

  private Run besideReport(LoadGenerator generator, String system)
      throws IOException, InterruptedException {
    try (Administrator administrator = new Administrator(compared.named(system))) {
      administrator.triggerBlockReport(0);
    }
    return generator.measure("paced stat %d %.3f", STATS_PER_SECOND, REPORT_SECONDS);
  }

  private void renameAndDelete(LoadGenerator generator, NamenodeUnderTest namenode)
      throws IOException, InterruptedException {
    answered(generator, namenode, "rename", DIRECTORY + " " + RENAMED);
    long begun = System.nanoTime();
    answered(generator, namenode, "delete", RENAMED);
    awaitSpace(namenode, begun);
  }

  private void answered(
      LoadGenerator generator, NamenodeUnderTest namenode, String verb, String paths)
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

  private void awaitSpace(NamenodeUnderTest namenode, long begunNanos)
      throws IOException, InterruptedException {
    ConditionWaiter.within(SPACE_MILLIS)
        .every(SPACE_POLL_MILLIS)
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
}
