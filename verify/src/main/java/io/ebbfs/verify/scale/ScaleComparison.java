package io.ebbfs.verify.scale;

import io.ebbfs.testbed.process.LiveFiles;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Measures a tenth of a number of files and all of them, and prints how each loop grows. */
public final class ScaleComparison {
  private static final int PART = 10;
  private static final double MOST_ANSWER_MILLIS = 300;

  private final long files;
  private final boolean alone;
  private final Measurement measurement;

  /** Measures a number of files. */
  interface Measurement {
    ScaleRun.Figures measure(long files, PrintStream out) throws Exception;
  }

  /**
   * @param files the larger number
   * @param alone whether only that number is measured, and no tenth of it
   * @param seconds for which the loops are watched
   * @param directory for temporary files
   */
  public ScaleComparison(long files, boolean alone, int seconds, Path directory) {
    this(files, alone, (count, out) -> measure(count, seconds, directory, out));
  }

  ScaleComparison(long files, boolean alone, Measurement measurement) {
    this.files = files;
    this.alone = alone;
    this.measurement = measurement;
  }

  private static ScaleRun.Figures measure(long files, int seconds, Path directory, PrintStream out)
      throws Exception {
    Path place = directory.resolve("files-" + files);
    try {
      return new ScaleRun(files, seconds, Files.createDirectories(place), out).run();
    } finally {
      LiveFiles.deleteTree(place);
    }
  }

  /** Measures, prints a table, and returns the figures for a file. */
  public Map<String, Object> run(PrintStream out) throws Exception {
    Map<String, ScaleRun.Figures> sizes = new LinkedHashMap<>();
    if (!alone) {
      sizes.put("small", measurement.measure(Math.max(1_000, files / PART), out));
    }
    sizes.put("large", measurement.measure(files, out));
    table(List.copyOf(sizes.values()), out);
    List<Object> loops = new ArrayList<>();
    Map<String, Object> once = new LinkedHashMap<>();
    Map<String, Object> answers = new LinkedHashMap<>();
    sizes.forEach(
        (size, figures) -> {
          figures.loops().forEach(loop -> loops.add(row(loop, figures)));
          once.put(size, figures.once());
          answers.put(size, figures.answers());
        });
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("loops", loops);
    figures.put("onceMillis", once);
    figures.put("answerMillis", answers);
    return figures;
  }

  private static Map<String, Object> row(ScaleRun.Loop loop, ScaleRun.Figures figures) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("name", loop.name());
    row.put("files", figures.files());
    row.put("periodMillis", loop.periodMillis());
    row.put("millisPerPeriod", loop.millisPerPeriod());
    row.put("rowsPerPeriod", loop.rowsPerPeriod());
    row.put("heapMiB", figures.heapMiB());
    return row;
  }

  /** Prints a column for each size, and how the first grows to the last if there are two. */
  private static void table(List<ScaleRun.Figures> sizes, PrintStream out) {
    ScaleRun.Figures large = sizes.get(sizes.size() - 1);
    out.printf("%n%-40s", "CPU ms per period");
    sizes.forEach(size -> out.printf(" %18s", "%,d files".formatted(size.files())));
    out.println(sizes.size() > 1 ? " %8s".formatted("times") : "");
    for (ScaleRun.Loop loop : large.loops()) {
      List<Double> millis =
          sizes.stream()
              .flatMap(size -> size.loops().stream())
              .filter(other -> other.name().equals(loop.name()))
              .map(ScaleRun.Loop::millisPerPeriod)
              .toList();
      if (millis.size() == sizes.size()) {
        line(loop.name(), "%18.2f", millis, out);
      }
    }
    line("live heap, MiB", "%18.0f", sizes.stream().map(ScaleRun.Figures::heapMiB).toList(), out);
    large.once().forEach((name, ms) -> out.printf("%-40s %,27.0f ms%n", name, ms));
    long slow = large.answers().values().stream().filter(ms -> ms > MOST_ANSWER_MILLIS).count();
    out.printf(
        "%d of %d answers take longer than %.0f ms%n",
        slow, large.answers().size(), MOST_ANSWER_MILLIS);
  }

  private static void line(String name, String format, List<Double> values, PrintStream out) {
    out.printf("%-40s", name);
    values.forEach(value -> out.printf(" " + format, value));
    if (values.size() > 1) {
      double times = values.get(values.size() - 1) / Math.max(1e-9, values.get(0));
      out.printf(" %8.1f", times);
    }
    out.println();
  }
}
