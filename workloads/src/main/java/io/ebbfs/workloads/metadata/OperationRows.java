package io.ebbfs.workloads.metadata;

import com.fasterxml.jackson.databind.JsonNode;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Measures the rows of operations with one kind of client. */
record OperationRows(
    Build build, MetadataOptions options, ComparedNamenodes compared, Path directory) {
  /** The servers of blocks of each system: as many as a block has replicas. */
  static final int DATA_SERVERS = 3;

  /** Stats per second of the row beside deletes, far below what either system can answer. */
  private static final int STATS_PER_SECOND = 1000;

  private static final int DELETES_PER_SECOND = 10_000;
  private static final int WARM_UP_PASSES = 2;

  /** A round after the other; in a round a row after the other, each on both systems in turn. */
  List<Row> measure(Load load) throws ClusterException, IOException, InterruptedException {
    List<String> names = load.rowsOf(options.operations());
    try (Generators generators =
        Generators.start(build, compared, load.client(), load.connections(), directory)) {
      generators.request("prepare");
      warmUp(generators, names, load.warmUpSeconds());
      RunLists runs = new RunLists();
      for (int round = 0; round < options.rounds(); round++) {
        for (String name : names) {
          generators.inTurn(
              round,
              (generator, system) -> generator.run(name, load.seconds()),
              (system, run) -> runs.add(name, system, run));
        }
      }
      generators.request("remove");
      return runs.rows(load.client(), load.connections());
    }
  }

  /** Passes over all rows, so that the compiler ends what one row began while others run. */
  private static void warmUp(Generators generators, List<String> names, double secondsPerRow)
      throws IOException {
    for (int pass = 0; pass < WARM_UP_PASSES; pass++) {
      for (String name : names) {
        generators.request(
            String.format(Locale.ROOT, "run %s %.3f", name, secondsPerRow / WARM_UP_PASSES));
      }
    }
  }

  /** Stats while files are deleted; the deletes of each system go into the measures. */
  List<Row> besideDeletes(int connections, MeasureLists measures)
      throws ClusterException, IOException, InterruptedException {
    try (Generators generators =
        Generators.start(build, compared, MetadataResults.NATIVE, connections, directory)) {
      generators.request("prepare");
      String line =
          String.format(
              Locale.ROOT,
              "beside-deletes %d %d %.3f",
              STATS_PER_SECOND,
              DELETES_PER_SECOND,
              options.seconds());
      generators.request(line);
      RunLists runs = new RunLists();
      for (int round = 0; round < options.rounds(); round++) {
        generators.inTurn(
            round,
            (generator, system) -> {
              JsonNode answer = generator.request(line);
              measures.add(
                  "deletes that were not done meanwhile",
                  "1/s",
                  DELETES_PER_SECOND + " asked for a second",
                  system,
                  DELETES_PER_SECOND
                      - generator.measured(line, answer.get("deletes")).opsPerSecond());
              return generator.measured(line, answer.get("stats"));
            },
            (system, run) -> runs.add(RowNames.BESIDE_DELETES, system, run));
      }
      generators.request("remove");
      return runs.rows(MetadataResults.NATIVE, connections);
    }
  }
}
