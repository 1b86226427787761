package io.ebbfs.workloads.metadata;

import com.fasterxml.jackson.databind.JsonNode;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Row;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

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
  private static final String DIRECTORY = "/large/directory";

  private final Build build;
  private final ComparedNamenodes compared;
  private final Path directory;
  private final int rounds;
  private final CopiedTree tree;
  private final String size;
  private final PrintStream out;
  private final MeasureLists measures;
  private final ServedCalls served;
  private final Map<String, FreedSpace> freed = new LinkedHashMap<>();

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
      String path = rename(generators);
      for (NamenodeUnderTest namenode : compared.namenodes()) {
        long begun = System.nanoTime();
        answered(generators, namenode, "delete", path);
        freed.put(namenode.name(), FreedSpace.watch(namenode, begun));
      }
      return rows;
    }
  }

  /** Waits until the space of the deleted directories is free. */
  void awaitSpace() throws IOException, InterruptedException {
    for (Map.Entry<String, FreedSpace> entry : freed.entrySet()) {
      measures.add(
          "delete of a directory: until the space is free",
          "s",
          size,
          entry.getKey(),
          entry.getValue().awaitSeconds());
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

  /** Returns the last name of the directory. */
  private String rename(Generators generators) throws IOException {
    String path = DIRECTORY;
    for (int round = 0; round < rounds; round++) {
      String next = "/large/renamed-" + round;
      for (NamenodeUnderTest namenode : compared.namenodes()) {
        answered(generators, namenode, "rename", path + " " + next);
      }
      path = next;
    }
    return path;
  }

  private void answered(
      Generators generators, NamenodeUnderTest namenode, String verb, String paths)
      throws IOException {
    LoadGenerator generator = generators.of(namenode.name());
    String line =
        String.format(Locale.ROOT, "%s %s %d %.1f", verb, paths, MIX_PER_SECOND, TAIL_SECONDS);
    JsonNode answer = generator.request(line);
    String what = verb + " of a directory";
    String system = namenode.name();
    measures.add(what, "s", size, system, answer.get("answeredAfterSeconds").asDouble());
    Run others = generator.measured(line, answer.get("others"));
    measures.add(what + ": p99 of others meanwhile", "ms", size, system, others.p99Millis());
  }
}
