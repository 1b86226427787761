package io.ebbfs.workloads.metadata;

import io.ebbfs.workloads.results.MetadataResults.Figures;
import io.ebbfs.workloads.results.MetadataResults.Measure;
import io.ebbfs.workloads.results.MetadataResults.Row;
import java.util.Locale;

/** The rows as lines of text: medians, the least and the greatest run, and ratios. */
final class MetadataTable {
  private MetadataTable() {}

  static String head() {
    return String.format(
            "%-22s%-7s%6s  %-27s%-27s%7s  %17s%7s  %17s",
            "", "", "", "EbbFS", "HDFS", "", "server CPU us/op", "", "p99 ms")
        + System.lineSeparator()
        + String.format(
            "%-22s%-7s%6s  %-27s%-27s%7s  %8s %8s%7s  %8s %8s",
            "row",
            "client",
            "conns",
            "ops/s (least-greatest)",
            "ops/s (least-greatest)",
            "ratio",
            "EbbFS",
            "HDFS",
            "ratio",
            "EbbFS",
            "HDFS");
  }

  static String line(Row row) {
    Figures ebbfs = row.ebbfs();
    Figures hdfs = row.hdfs();
    return String.format(
        Locale.ROOT,
        "%-22s%-7s%6d  %-27s%-27s%7s  %8.1f %8s%7s  %8.2f %8s",
        row.name(),
        row.client(),
        row.connections(),
        speed(ebbfs),
        hdfs == null ? "-" : speed(hdfs),
        number("%.2f", row.speedRatio()),
        ebbfs.serverMicrosPerOp(),
        number("%.1f", hdfs == null ? null : hdfs.serverMicrosPerOp()),
        number("%.2f", row.cpuRatio()),
        ebbfs.p99Millis(),
        number("%.2f", hdfs == null ? null : hdfs.p99Millis()));
  }

  static String floorLine(Figures floor) {
    return String.format(
        Locale.ROOT,
        "The floor: a server that answers each call with the same bytes takes %.1f us of processor"
            + " time for a call, %.1f of it within the kernel, and answers %,.0f a second.",
        floor.serverMicrosPerOp(),
        floor.serverKernelMicrosPerOp(),
        floor.opsPerSecond());
  }

  static String line(Measure measure) {
    return String.format(
        Locale.ROOT,
        "%-55s %-40s EbbFS %10.3f %s   HDFS %10s   ratio %s   goal %s",
        measure.name(),
        measure.size(),
        measure.ebbfs().median(),
        measure.unit(),
        number("%.3f", measure.hdfs() == null ? null : measure.hdfs().median()),
        number("%.2f", measure.ratio()),
        number("%.0f", measure.goal()));
  }

  private static String speed(Figures figures) {
    return String.format(
        Locale.ROOT,
        "%.0f (%.0f-%.0f)",
        figures.opsPerSecond(),
        figures.leastOpsPerSecond(),
        figures.greatestOpsPerSecond());
  }

  private static String number(String format, Double value) {
    return value == null ? "-" : String.format(Locale.ROOT, format, value);
  }
}
