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
  private final int seconds;
  private final Path directory;

  /**
   * @param files the larger number
   * @param seconds for which the loops are watched
   * @param directory for temporary files
   */
  public ScaleComparison(long files, int seconds, Path directory) {
    this.files = files;
    this.seconds = seconds;
    this.directory = directory;
  }

  /** Measures, prints a table, and returns the figures for a file. */
  public Map<String, Object> run(PrintStream out) throws Exception {
    ScaleRun.Figures small = measure(Math.max(1_000, files / PART), out);
    ScaleRun.Figures large = measure(files, out);
    table(small, large, out);
    List<Object> loops = new ArrayList<>();
    for (ScaleRun.Figures figures : List.of(small, large)) {
      for (ScaleRun.Loop loop : figures.loops()) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", loop.name());
        row.put("files", figures.files());
        row.put("periodMillis", loop.periodMillis());
        row.put("millisPerPeriod", loop.millisPerPeriod());
        row.put("rowsPerPeriod", loop.rowsPerPeriod());
        row.put("heapMiB", figures.heapMiB());
        loops.add(row);
      }
    }
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("loops", loops);
    figures.put("onceMillis", Map.of("small", small.once(), "large", large.once()));
    figures.put("answerMillis", Map.of("small", small.answers(), "large", large.answers()));
    return figures;
  }

  private ScaleRun.Figures measure(long count, PrintStream out) throws Exception {
    Path place = directory.resolve("files-" + count);
    try {
      return new ScaleRun(count, seconds, Files.createDirectories(place), out).run();
    } finally {
      LiveFiles.deleteTree(place);
    }
  }

  private static void table(ScaleRun.Figures small, ScaleRun.Figures large, PrintStream out) {
    out.printf(
        "%n%-40s %18s %18s %8s%n",
        "CPU ms per period",
        "%,d files".formatted(small.files()),
        "%,d files".formatted(large.files()),
        "times");
    for (ScaleRun.Loop loop : large.loops()) {
      small.loops().stream()
          .filter(other -> other.name().equals(loop.name()))
          .findFirst()
          .ifPresent(
              other ->
                  out.printf(
                      "%-40s %18.2f %18.2f %8.1f%n",
                      loop.name(),
                      other.millisPerPeriod(),
                      loop.millisPerPeriod(),
                      loop.millisPerPeriod() / Math.max(1e-9, other.millisPerPeriod())));
    }
    out.printf(
        "%-40s %18.0f %18.0f %8.1f%n",
        "live heap, MiB", small.heapMiB(), large.heapMiB(), large.heapMiB() / small.heapMiB());
    large.once().forEach((name, ms) -> out.printf("%-40s %,27.0f ms%n", name, ms));
    long slow = large.answers().values().stream().filter(ms -> ms > MOST_ANSWER_MILLIS).count();
    out.printf(
        "%d of %d answers take longer than %.0f ms%n",
        slow, large.answers().size(), MOST_ANSWER_MILLIS);
  }
}
