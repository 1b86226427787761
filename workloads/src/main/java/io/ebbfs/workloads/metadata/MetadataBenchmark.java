package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Figures;
import io.ebbfs.workloads.results.MetadataResults.Row;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Measures EbbFS and HDFS in turn, so that both see the same disturbances of the machine. */
public final class MetadataBenchmark {
  private final Build build;
  private final MetadataOptions options;
  private final Path directory;
  private final PrintStream out;

  /**
   * @param directory where both systems keep their files
   * @param out gets a line per row as soon as the row is measured
   */
  public MetadataBenchmark(Build build, MetadataOptions options, Path directory, PrintStream out) {
    this.build = build;
    this.options = options;
    this.directory = directory;
    this.out = out;
  }

  /** Starts the namenodes, measures every row, and stops the namenodes. */
  public MetadataResults run() throws ClusterException, IOException, InterruptedException {
    try (ComparedNamenodes systems = ComparedNamenodes.start(build, options, directory)) {
      List<Row> rows = new ArrayList<>();
      out.println(MetadataTable.head());
      for (int connections : options.connections()) {
        rows.addAll(measure(systems, MetadataResults.NATIVE, connections));
      }
      return new MetadataResults(MeasuredMachine.describe(build, options), rows);
    }
  }

  private List<Row> measure(ComparedNamenodes systems, String client, int connections)
      throws ClusterException, IOException, InterruptedException {
    try (Generators generators = Generators.start(build, systems, connections, directory)) {
      generators.prepare();
      for (String row : options.rows()) {
        generators.warmUp(row, options.warmUpSeconds());
      }
      Map<String, Map<String, List<Run>>> runs = new LinkedHashMap<>();
      for (int round = 0; round < options.rounds(); round++) {
        for (String row : options.rows()) {
          generators.measureInTurn(
              row,
              options.seconds(),
              round % 2 == 1,
              (system, run) ->
                  runs.computeIfAbsent(row, name -> new LinkedHashMap<>())
                      .computeIfAbsent(system, name -> new ArrayList<>())
                      .add(run));
        }
      }
      generators.remove();
      List<Row> rows = new ArrayList<>();
      runs.forEach((name, bySystem) -> rows.add(row(name, client, connections, bySystem)));
      rows.forEach(row -> out.println(MetadataTable.line(row)));
      return rows;
    }
  }

  private static Row row(
      String name, String client, int connections, Map<String, List<Run>> bySystem) {
    List<Run> hdfs = bySystem.getOrDefault(ComparedNamenodes.HDFS, Collections.emptyList());
    return new Row(
        name,
        client,
        connections,
        Figures.of(bySystem.get(ComparedNamenodes.EBBFS)),
        hdfs.isEmpty() ? null : Figures.of(hdfs));
  }
}
