package io.ebbfs.verify.policy;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Shows how the comparison depends on one or two settings: for each setting the policies run on the
 * traffic of one workload. It is deterministic.
 */
public final class PolicySweep {
  private static final double STORAGE_PRICE = 0.1;
  private static final double[] LOST_PER_DAY = {0.0003, 0.001, 0.003, 0.01, 0.03};
  private static final double[] READS_PER_DAY = {0.25, 1, 4, 16, 64};
  private static final double[] THRESHOLDS = {2, 5, 10, 30, 100, 300};
  private static final double[] HEAT_HOURS = {1, 6, 24, 168};
  private static final double[] MEMORY_DAYS = {1, 2, 4, 7, 14, 28};

  /** What is varied. */
  public enum Kind {
    /** The rate of losses against the rate of reads: auto against the best single configuration. */
    REGION,
    /** The same for the pair of convertible Reed-Solomon codes, against RS(6,3). */
    RS_REGION,
    /** The threshold and the half-life of its heat. */
    THRESHOLD,
    /** The half-life of the memory of auto. */
    MEMORY
  }

  private final PolicyComparison.Options options;
  private final String workload;

  /**
   * @param options whose first workload is taken; CC1 if there is none
   */
  public PolicySweep(PolicyComparison.Options options) {
    this.options = options;
    this.workload = options.workloads().isEmpty() ? "CC1" : options.workloads().get(0);
  }

  /** The workloads whose reads can be varied. */
  public static List<String> workloads() {
    return List.of("CC1", "CC2", "CC3", "CC4", "zipf-daily", "zipf-tail");
  }

  /** Runs, prints a table for each figure, and returns the figures for JSON. */
  public Map<String, Object> run(Kind kind, PrintStream out) throws IOException {
    out.printf(
        Locale.ROOT,
        "%s, %d simulated days, means of the seeds %d to %d.%n",
        workload,
        options.days(),
        options.seed(),
        options.seed() + options.seeds() - 1);
    List<Grid> grids;
    try {
      grids =
          switch (kind) {
            case REGION -> region(PolicySystem.AUTO_BOUND, PolicySystem.BOUND, "any single");
            case RS_REGION -> region(PolicySystem.AUTO_RS_PAIR, 0, PolicySystem.RS_FAST);
            case THRESHOLD -> thresholds();
            case MEMORY -> memories();
          };
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    grids.forEach(grid -> grid.print(out));
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sweep", kind.name().toLowerCase(Locale.ROOT));
    json.put("workload", workload);
    json.put("seed", options.seed());
    json.put("seeds", options.seeds());
    json.put("days", options.days());
    json.put("grids", grids);
    return json;
  }

  /**
   * A table of one figure. Immutable.
   *
   * @param rows what the rows vary, and {@code columns} the columns
   * @param cells by row, then by column
   */
  record Grid(
      String title,
      String rowName,
      List<Double> rows,
      String columnName,
      List<Double> columns,
      List<List<Double>> cells,
      List<List<String>> notes) {
    void print(PrintStream out) {
      out.printf("%n%s%n%-36s", title, rowName + " \\ " + columnName);
      columns.forEach(column -> out.printf("%-24s", number(column)));
      out.println();
      for (int row = 0; row < rows.size(); row++) {
        out.printf("%-36s", number(rows.get(row)));
        for (int column = 0; column < columns.size(); column++) {
          String note = notes.get(row).get(column);
          out.printf(
              "%-24s",
              String.format(Locale.ROOT, "%.3f", cells.get(row).get(column))
                  + (note.isEmpty() ? "" : " " + note));
        }
        out.println();
      }
    }
  }

  static String number(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : Double.toString(value);
  }

  /** A ratio, and a word about it. */
  private record Cell(double ratio, String note) {}

  /** The figures of the systems for one setting: by name, one for each seed. */
  private record Point(Map<String, List<Ledger.Figures>> figures) {
    double mean(String system, ToDoubleFunction<Ledger.Figures> figure) {
      return MeanOfSeeds.of(figures.get(system), figure).mean();
    }
  }

  private List<Grid> region(PolicySystem adaptive, double bound, String against) {
    List<PolicySystem> systems =
        Stream.concat(
                PolicySystem.all().stream()
                    .filter(PolicySystem::isSingle)
                    .filter(s -> bound > 0 || s.name().equals(against)),
                Stream.of(adaptive))
            .toList();
    List<List<Point>> points = new ArrayList<>();
    for (double lost : LOST_PER_DAY) {
      points.add(
          IntStream.range(0, READS_PER_DAY.length)
              .parallel()
              .mapToObj(column -> point(systems, lost, lost, READS_PER_DAY[column]))
              .toList());
    }
    String name = adaptive.name();
    List<Grid> grids = new ArrayList<>();
    if (bound > 0) {
      grids.add(
          regionGrid(
              points,
              "net bytes of %s / those of always compact".formatted(name),
              point -> new Cell(againstCompact(point, name), "")));
    }
    grids.add(
        regionGrid(
            points,
            "net bytes of %s / those of %s".formatted(name, bounded(against, bound)),
            point -> ratio(point, name, bound, Ledger.Figures::net)));
    grids.add(
        regionGrid(
            points,
            "net bytes, readers' wait and storage at the default prices: %s / %s"
                .formatted(name, bound > 0 ? "any single, whatever it stores" : against),
            point -> ratio(point, name, bound > 0 ? 100 : 0, PolicySweep::priced)));
    return grids;
  }

  private static String bounded(String against, double bound) {
    return bound > 0 ? "%s that stores at most %s".formatted(against, bound) : against;
  }

  /** What an operator pays by the default prices: bytes moved, waited for and stored. */
  private static double priced(Ledger.Figures figures) {
    return figures.objective() + STORAGE_PRICE * figures.stored();
  }

  private static Cell ratio(
      Point point, String name, double bound, ToDoubleFunction<Ledger.Figures> figure) {
    String best = null;
    for (String single : point.figures().keySet()) {
      boolean fits =
          bound == 0
              || point.mean(single, Ledger.Figures::stored) <= bound + PolicyGoals.REPLICA_SLACK;
      if (!single.equals(name)
          && fits
          && (best == null || point.mean(single, figure) < point.mean(best, figure))) {
        best = single;
      }
    }
    return new Cell(point.mean(name, figure) / point.mean(best, figure), best);
  }

  private Grid regionGrid(List<List<Point>> points, String title, Function<Point, Cell> cell) {
    List<List<Cell>> cells = points.stream().map(row -> row.stream().map(cell).toList()).toList();
    return new Grid(
        title,
        "lost, absent %",
        IntStream.range(0, LOST_PER_DAY.length).mapToObj(i -> LOST_PER_DAY[i] * 100).toList(),
        "opens/day",
        list(READS_PER_DAY),
        cells.stream().map(row -> row.stream().map(Cell::ratio).toList()).toList(),
        cells.stream().map(row -> row.stream().map(Cell::note).toList()).toList());
  }

  private List<Grid> thresholds() {
    List<PolicySystem> systems = new ArrayList<>(List.of(compact()));
    for (double hours : HEAT_HOURS) {
      for (double opens : THRESHOLDS) {
        systems.add(
            PolicySystem.threshold(opens + " " + hours, opens, new PolicySystem.Memory(hours, 7)));
      }
    }
    Point point = usual(systems);
    return List.of(
        grid(
            "net bytes of a threshold / those of always compact",
            "half-life, hours",
            HEAT_HOURS,
            "opens of a file",
            THRESHOLDS,
            (hours, opens) -> againstCompact(point, opens + " " + hours)));
  }

  private List<Grid> memories() {
    List<PolicySystem> systems = new ArrayList<>(List.of(compact()));
    for (double days : MEMORY_DAYS) {
      systems.add(PolicySystem.AUTO_BOUND.with("" + days, new PolicySystem.Memory(1, days)));
    }
    Point point = usual(systems);
    return List.of(
        grid(
            "net bytes of auto / those of always compact",
            "-",
            new double[] {0},
            "half-life, days",
            MEMORY_DAYS,
            (none, days) -> againstCompact(point, "" + days)));
  }

  private static PolicySystem compact() {
    return PolicySystem.single(PolicySystem.COMPACT, PolicySystem.FAMILY.compact());
  }

  private static double againstCompact(Point point, String system) {
    return point.mean(system, Ledger.Figures::net)
        / point.mean(PolicySystem.COMPACT, Ledger.Figures::net);
  }

  private interface CellFunction {
    double at(double row, double column);
  }

  private static Grid grid(
      String title,
      String rowName,
      double[] rows,
      String columnName,
      double[] columns,
      CellFunction cell) {
    List<List<Double>> cells =
        list(rows).stream()
            .map(row -> list(columns).stream().map(column -> cell.at(row, column)).toList())
            .toList();
    List<List<String>> notes =
        cells.stream().map(row -> row.stream().map(one -> "").toList()).toList();
    return new Grid(title, rowName, list(rows), columnName, list(columns), cells, notes);
  }

  private static List<Double> list(double[] values) {
    return Arrays.stream(values).boxed().toList();
  }

  private Point usual(List<PolicySystem> systems) {
    return point(
        systems, FailureDraws.LOST_PER_DAY, FailureDraws.ABSENT, TrafficSource.READS_PER_DAY);
  }

  private Point point(List<PolicySystem> systems, double lost, double absent, double reads) {
    Map<String, List<Ledger.Figures>> figures = new LinkedHashMap<>();
    List<Map<String, Ledger.Figures>> seeds =
        IntStream.range(0, options.seeds())
            .parallel()
            .mapToObj(i -> seed(systems, options.seed() + i, lost, absent, reads))
            .toList();
    for (PolicySystem system : systems) {
      figures.put(system.name(), seeds.stream().map(seed -> seed.get(system.name())).toList());
    }
    return new Point(figures);
  }

  private Map<String, Ledger.Figures> seed(
      List<PolicySystem> systems, long seed, double lost, double absent, double reads) {
    FailureDraws failures = FailureDraws.draw(options.days() * 24, seed, lost, absent);
    try {
      Traffic traffic =
          new TrafficSource(TrafficSource.FILES, options.days(), Optional.empty(), reads)
              .make(workload, seed, failures);
      Map<String, Ledger.Figures> figures = new LinkedHashMap<>();
      systems.forEach(s -> figures.put(s.name(), PolicySystemRun.of(s, traffic, failures)));
      return figures;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
