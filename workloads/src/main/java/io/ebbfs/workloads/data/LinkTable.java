package io.ebbfs.workloads.data;

import io.ebbfs.workloads.results.DataResults;
import io.ebbfs.workloads.results.DataResults.Row;
import io.ebbfs.workloads.results.DataResults.Side;
import java.io.PrintStream;
import java.util.function.Function;

/** What came over links of a rate, as a table in Markdown. */
final class LinkTable {
  private static final String HEAD =
      """
      | row | client | MB EbbFS | HDFS | s until noticed EbbFS | HDFS | s of the work EbbFS | HDFS | MB servers received EbbFS | HDFS | MB clients received EbbFS | HDFS | received per byte EbbFS | HDFS | ratio |
      |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
      """;

  private LinkTable() {}

  /** Prints nothing if no row has bytes of links. */
  static void print(DataResults results, PrintStream out) {
    if (results.rows().stream().noneMatch(row -> hasLinks(row.ebbfs()) || hasLinks(row.hdfs()))) {
      return;
    }
    out.print(HEAD);
    results.rows().forEach(row -> out.println(line(row)));
  }

  private static boolean hasLinks(Side side) {
    return side != null && side.serverLinkBytes() != null;
  }

  static String line(Row row) {
    return "| %s | %s | %s | %s | %s | %s | %s | %s | %s |"
        .formatted(
            row.name(),
            row.client(),
            cells(row, side -> mega(side.bytes())),
            cells(row, Side::noticedSeconds),
            cells(row, Side::seconds),
            cells(row, side -> mega(side.serverLinkBytes())),
            cells(row, side -> mega(side.clientLinkBytes())),
            cells(row, Side::linkBytesPerByte),
            DataTable.ratio(
                value(row.ebbfs(), Side::linkBytesPerByte),
                value(row.hdfs(), Side::linkBytesPerByte)));
  }

  private static Double mega(Long bytes) {
    return bytes == null ? null : (Double) (bytes / 1e6);
  }

  private static Double value(Side side, Function<Side, Double> value) {
    return side == null ? null : value.apply(side);
  }

  private static String cells(Row row, Function<Side, Double> value) {
    return "%s | %s"
        .formatted(
            DataTable.number(value(row.ebbfs(), value)),
            DataTable.number(value(row.hdfs(), value)));
  }
}
