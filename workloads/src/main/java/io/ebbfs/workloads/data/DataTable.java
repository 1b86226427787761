package io.ebbfs.workloads.data;

import io.ebbfs.workloads.results.DataResults;
import io.ebbfs.workloads.results.DataResults.Row;
import io.ebbfs.workloads.results.DataResults.Side;
import java.io.PrintStream;
import java.util.Locale;
import java.util.function.Function;

/** The rows as a table in Markdown, with ratios; also what is printed meanwhile. */
final class DataTable {
  private static final String HEAD =
      """
      | row | client | MB/s EbbFS | HDFS | ratio | CPU s/GB EbbFS | HDFS | ratio | ms EbbFS | HDFS | ratio | goal | note |
      |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|
      """;

  private DataTable() {}

  static void print(DataResults results, PrintStream out) {
    out.print(HEAD);
    results.rows().forEach(row -> out.println(line(row)));
    DataResults.Environment on = results.environment();
    out.printf(
        Locale.ROOT,
        "%d rounds, medians; ratio: EbbFS / HDFS. Load of the machine %.1f before, %.1f after, on"
            + " %d cores. Hadoop's native library: %s, its ISA-L: %s.%n",
        on.rounds(),
        on.loadBefore(),
        on.loadAfter(),
        on.cores(),
        on.nativeChecksums() ? "yes" : "missing",
        on.nativeErasureCoding() ? "yes" : "missing");
  }

  static String line(Row row) {
    return "| %s | %s | %s | %s | %s | %s | %s |"
        .formatted(
            row.name(),
            row.client(),
            cells(row, Side::megabytesPerSecond),
            cells(row, Side::cpuSecondsPerGB),
            cells(row, Side::millis),
            row.goal(),
            row.note());
  }

  private static String cells(Row row, Function<Side, Double> value) {
    Double ebbfs = row.ebbfs() == null ? null : value.apply(row.ebbfs());
    Double hdfs = row.hdfs() == null ? null : value.apply(row.hdfs());
    return "%s | %s | %s".formatted(number(ebbfs), number(hdfs), ratio(ebbfs, hdfs));
  }

  static String ratio(Double ebbfs, Double hdfs) {
    return ebbfs == null || hdfs == null || hdfs == 0
        ? ""
        : String.format(Locale.ROOT, "%.2f", ebbfs / hdfs);
  }

  /** Three digits that count, or all before the point. */
  static String number(Double value) {
    if (value == null) {
      return "";
    }
    String format = Math.abs(value) >= 100 ? "%.0f" : Math.abs(value) >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }

  static String progress(BenchmarkRow row, String system, Run run) {
    String rate = run.bytes() == 0 ? "" : number(run.megabytes() / run.seconds()) + " MB/s, ";
    return "%-45s %-21s %-5s %s%s ms, CPU %s s, others %s cores"
        .formatted(
            row.name(),
            row.client(),
            system,
            rate,
            number(run.millis()),
            run.usage() == null ? "?" : number(run.usage().all().cpuSeconds()),
            number(run.otherCores()));
  }
}
