package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.ScalingResults;
import io.ebbfs.workloads.results.ScalingResults.Row;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToDoubleFunction;

/**
 * What operations cost with several namenodes and several nodes of their store, all on one machine:
 * processor time and calls of the store. Each namenode gets its share of the connections. Not
 * thread-safe.
 */
public final class NamenodeScaling {
  /** The rows that this benchmark knows: those that need no chunk server. */
  public static final List<String> ROWS =
      RowNames.OPERATIONS.stream().filter(row -> !row.equals("addBlock")).toList();

  /** The rows that are measured unless others are asked for. */
  public static final List<String> USUAL_ROWS =
      List.of(
          "mkdir",
          "create",
          "delete",
          "stat",
          "open",
          "list16",
          "rename",
          "setPermission",
          "spotify",
          "spotify-shared");

  /**
   * What to measure.
   *
   * @param seconds length of a run; a row is warmed for as long
   * @param rounds runs per row
   */
  public record Options(
      List<String> rows,
      List<Integer> namenodes,
      List<Integer> storeNodes,
      int connections,
      int rounds,
      double seconds,
      int heapMebibytes) {}

  private final Build build;
  private final Options options;
  private final Path directory;
  private final PrintStream out;
  private final List<Row> rows = new ArrayList<>();

  /**
   * @param directory where the processes keep their files
   * @param out gets a line per row as soon as the row is measured
   */
  public NamenodeScaling(Build build, Options options, Path directory, PrintStream out) {
    this.build = build;
    this.options = options;
    this.directory = directory;
    this.out = out;
  }

  /** Starts each cluster, measures it, and stops it. */
  public ScalingResults run() throws Exception {
    out.println(
        String.format(
            "%-16s%10s%7s%10s%12s%10s%10s%10s%13s%10s%11s",
            "row",
            "namenodes",
            "store",
            "ops/s",
            "namenode us",
            "store us",
            "both us",
            "compilers",
            "round trips",
            "commits",
            "conflicts"));
    for (int storeNodes : options.storeNodes()) {
      for (int namenodes : options.namenodes()) {
        Path place = directory.resolve("%d-on-%d".formatted(namenodes, storeNodes));
        try (SharedNamenodes cluster =
            SharedNamenodes.start(build, place, options.heapMebibytes(), namenodes, storeNodes)) {
          measure(cluster, namenodes, storeNodes);
        }
      }
    }
    return new ScalingResults(
        MeasuredMachine.describe(
            build, options.heapMebibytes(), false, options.seconds(), options.rounds()),
        options.connections(),
        List.copyOf(rows));
  }

  private void measure(SharedNamenodes cluster, int namenodes, int storeNodes) throws Exception {
    List<LoadGenerator> generators = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(namenodes);
    try {
      for (SharedNamenodes.Namenode namenode : cluster.namenodes()) {
        generators.add(generator(namenode, Math.max(1, options.connections() / namenodes)));
      }
      together(threads, generators, generator -> generator.request("prepare"));
      Map<String, List<Row>> runs = new LinkedHashMap<>();
      for (String row : options.rows()) {
        together(threads, generators, generator -> generator.run(row, options.seconds()));
      }
      for (int round = 0; round < options.rounds(); round++) {
        for (String row : options.rows()) {
          runs.computeIfAbsent(row, name -> new ArrayList<>())
              .add(run(cluster, threads, generators, row, namenodes, storeNodes));
        }
      }
      runs.values().forEach(this::add);
    } finally {
      threads.shutdownNow();
      for (LoadGenerator generator : generators) {
        generator.close();
      }
    }
  }

  private LoadGenerator generator(SharedNamenodes.Namenode namenode, int connections)
      throws ClusterException, IOException {
    return new LoadGenerator(
        "generator of " + namenode.name(),
        new GeneratorCommands(build).nativeClient(namenode, connections, "/" + namenode.name()),
        directory.resolve("generator-" + namenode.name() + ".log"));
  }

  private interface Work<R> {
    R of(LoadGenerator generator) throws IOException;
  }

  /** Has all generators work at the same time. */
  private static <R> List<R> together(
      ExecutorService threads, List<LoadGenerator> generators, Work<R> work) throws Exception {
    List<Callable<R>> tasks = new ArrayList<>();
    generators.forEach(generator -> tasks.add(() -> work.of(generator)));
    List<R> results = new ArrayList<>();
    for (Future<R> result : threads.invokeAll(tasks)) {
      try {
        results.add(result.get());
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }
    return results;
  }

  private Row run(
      SharedNamenodes cluster,
      ExecutorService threads,
      List<LoadGenerator> generators,
      String row,
      int namenodes,
      int storeNodes)
      throws Exception {
    Map<String, Double> callsBefore = cluster.storeCalls();
    SharedNamenodes.Spent before = cluster.spent();
    List<MetadataResults.Run> done =
        together(threads, generators, generator -> generator.run(row, options.seconds()));
    SharedNamenodes.Spent spent = cluster.spent().minus(before);
    Map<String, Double> calls = cluster.storeCalls();
    callsBefore.forEach((kind, earlier) -> calls.merge(kind, -earlier, Double::sum));
    double conflicts = calls.remove("conflict");
    double operations = done.stream().mapToLong(MetadataResults.Run::operations).sum();
    return new Row(
        row,
        namenodes,
        storeNodes,
        done.stream().mapToDouble(MetadataResults.Run::opsPerSecond).sum(),
        spent.namenodes() / operations,
        spent.store() / operations,
        spent.compilers() / operations,
        calls.values().stream().mapToDouble(Double::doubleValue).sum() / operations,
        calls.get("commit") / operations,
        conflicts / operations);
  }

  private void add(List<Row> runs) {
    Row any = runs.get(0);
    Row row =
        new Row(
            any.name(),
            any.namenodes(),
            any.storeNodes(),
            median(runs, Row::opsPerSecond),
            median(runs, Row::namenodeMicrosPerOp),
            median(runs, Row::storeMicrosPerOp),
            median(runs, Row::compilerMicrosPerOp),
            median(runs, Row::roundTripsPerOp),
            median(runs, Row::commitsPerOp),
            median(runs, Row::conflictsPerOp));
    rows.add(row);
    out.println(
        String.format(
            Locale.ROOT,
            "%-16s%10d%7d%10.0f%12.0f%10.0f%10.0f%10.0f%13.2f%10.2f%11.3f",
            row.name(),
            row.namenodes(),
            row.storeNodes(),
            row.opsPerSecond(),
            row.namenodeMicrosPerOp(),
            row.storeMicrosPerOp(),
            row.microsPerOp(),
            row.compilerMicrosPerOp(),
            row.roundTripsPerOp(),
            row.commitsPerOp(),
            row.conflictsPerOp()));
  }

  private static double median(List<Row> runs, ToDoubleFunction<Row> value) {
    double[] sorted = runs.stream().mapToDouble(value).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
