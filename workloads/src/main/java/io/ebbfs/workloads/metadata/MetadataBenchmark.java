package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.metadata.ComparedNamenodes.Setup;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Figures;
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
  private final ComparedNamenodes.Parts parts;
  private final Path directory;
  private final PrintStream out;
  private final List<Row> rows = new ArrayList<>();
  private final MeasureLists measures = new MeasureLists();
  private Figures floor;

  /**
   * @param copies fills the store of EbbFS's namenode
   * @param directory where both systems keep their files
   * @param out gets a line per row as soon as the row is measured
   */
  public MetadataBenchmark(
      Build build, MetadataOptions options, StoreCopies copies, Path directory, PrintStream out) {
    this.build = build;
    this.options = options;
    this.parts = new ComparedNamenodes.Parts(build, copies, options.ebbfsOnly());
    this.directory = directory;
    this.out = out;
  }

  /** Starts the systems, measures everything, and stops the systems. To be called once. */
  public void run() throws ClusterException, IOException, InterruptedException {
    out.println(MetadataTable.head());
    if (options.rows().stream().anyMatch(row -> !row.equals(RowNames.LARGE))) {
      operations();
    }
    if (options.rows().contains(RowNames.LARGE)) {
      large();
    }
    measures.measures().forEach(measure -> out.println(MetadataTable.line(measure)));
  }

  /** What has been measured; after a failure of {@link #run}, what was measured before it. */
  public MetadataResults results() throws IOException, InterruptedException {
    return new MetadataResults(
        MeasuredMachine.describe(build, options), List.copyOf(rows), measures.measures(), floor);
  }

  private void operations() throws ClusterException, IOException, InterruptedException {
    try (ComparedNamenodes compared =
        ComparedNamenodes.start(
            parts,
            Setup.alike(OperationRows.DATA_SERVERS, options.heapMebibytes()),
            directory.resolve("operations"))) {
      OperationRows measured = new OperationRows(build, options, compared, directory);
      for (Load load : options.loads()) {
        add(measured.measure(load));
        if (load.client().equals(MetadataResults.NATIVE)
            && load.connections() == LoadPlan.MAIN_CONNECTIONS) {
          floor = new ServerFloor(build, options, directory).measure();
          out.println(MetadataTable.floorLine(floor));
        }
      }
      if (options.rows().contains(RowNames.BESIDE_DELETES)) {
        add(measured.besideDeletes(BESIDE_DELETES_CONNECTIONS, measures));
      }
    }
  }

  private void large() throws ClusterException, IOException, InterruptedException {
    List<LargeNamespace> namespaces = new ArrayList<>();
    try {
      try (ComparedNamenodes compared =
          ComparedNamenodes.start(
              parts,
              Setup.alike(LargeDirectory.DATA_SERVERS, options.heapMebibytes()),
              directory.resolve("directory"))) {
        LargeDirectory large =
            new LargeDirectory(build, options, compared, directory, out, measures);
        add(large.measure());
        // Servers delete a bounded number of blocks per heartbeat; the fill takes the time
        // meanwhile.
        for (int files : options.sizes().namespaceFiles()) {
          namespaces.add(filled(files));
        }
        large.awaitSpace();
      }
      for (LargeNamespace namespace : namespaces) {
        namespace.measureStartsAndMemory();
        if (namespace == namespaces.get(namespaces.size() - 1)) {
          add(namespace.statsBeyondTheCache());
        }
        namespace.close();
      }
    } finally {
      for (LargeNamespace namespace : namespaces) {
        namespace.close();
      }
    }
  }

  private LargeNamespace filled(int files)
      throws ClusterException, IOException, InterruptedException {
    ComparedNamenodes compared =
        ComparedNamenodes.start(
            parts, LargeNamespace.setup(options, files), directory.resolve("files-" + files));
    LargeNamespace namespace =
        new LargeNamespace(build, options, compared, directory, out, measures, files);
    try {
      namespace.fill();
    } catch (ClusterException | IOException | InterruptedException | RuntimeException e) {
      namespace.close();
      throw e;
    }
    return namespace;
  }

  private void add(List<Row> measured) {
    rows.addAll(measured);
    measured.forEach(row -> out.println(MetadataTable.line(row)));
  }
}
