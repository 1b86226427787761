package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Row;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures EbbFS and HDFS in turn, so that both see the same disturbances of the machine. Not
 * thread-safe.
 */
public final class MetadataBenchmark {
  private static final int BESIDE_DELETES_CONNECTIONS = 64;

  private final Build build;
  private final MetadataOptions options;
  private final Path directory;
  private final PrintStream out;
  private final List<Row> rows = new ArrayList<>();
  private final MeasureLists measures = new MeasureLists();

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

  /** Starts the systems, measures everything, and stops the systems. */
  public MetadataResults run() throws ClusterException, IOException, InterruptedException {
    out.println(MetadataTable.head());
    if (options.rows().stream().anyMatch(row -> !row.equals(RowNames.LARGE))) {
      operations();
    }
    if (options.rows().contains(RowNames.LARGE)) {
      large();
    }
    MetadataResults results =
        new MetadataResults(MeasuredMachine.describe(build, options), rows, measures.measures());
    results.measures().forEach(measure -> out.println(MetadataTable.line(measure)));
    return results;
  }

  private void operations() throws ClusterException, IOException, InterruptedException {
    try (ComparedNamenodes compared =
        ComparedNamenodes.start(
            build, options, directory.resolve("operations"), OperationRows.DATA_SERVERS)) {
      OperationRows measured = new OperationRows(build, options, compared, directory);
      for (int connections : options.nativeConnections()) {
        add(measured.measure(MetadataResults.NATIVE, connections, options.operations()));
      }
      List<String> few =
          options.operations().stream().filter(MetadataOptions.FEW_ROWS::contains).toList();
      for (int connections : options.fewRowsConnections()) {
        add(measured.measure(MetadataResults.NATIVE, connections, few));
      }
      for (int connections : options.stockConnections()) {
        add(measured.measure(MetadataResults.STOCK, connections, options.operations()));
      }
      if (options.rows().contains(RowNames.BESIDE_DELETES)) {
        add(measured.besideDeletes(BESIDE_DELETES_CONNECTIONS, measures));
      }
    }
  }

  private void large() throws ClusterException, IOException, InterruptedException {
    try (ComparedNamenodes compared =
        ComparedNamenodes.start(build, options, directory.resolve("large"), 1)) {
      add(new LargeNamespaces(build, options, compared, directory, measures).measure());
    }
  }

  private void add(List<Row> measured) {
    rows.addAll(measured);
    measured.forEach(row -> out.println(MetadataTable.line(row)));
  }
}
