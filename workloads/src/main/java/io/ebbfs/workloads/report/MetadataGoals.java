package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Row;

/**
 * The goals of EbbFS, as multiples of what HDFS does in the same row. They hold for the native
 * client with 64 connections, and for stock clients; null in all other rows.
 */
final class MetadataGoals {
  private static final int CONNECTIONS = 64;

  private MetadataGoals() {}

  /** At most this. */
  static Double serverMicros(Row row) {
    return isNative(row) && !isAtFixedRate(row)
        ? (Double) (0.4 * row.hdfs().serverMicrosPerOp())
        : null;
  }

  /** At least this. */
  static Double opsPerSecond(Row row) {
    if (isAtFixedRate(row)) {
      return null;
    }
    if (isNative(row)) {
      return (row.name().startsWith("spotify") ? 2.5 : 2) * row.hdfs().opsPerSecond();
    }
    return isStock(row) ? (Double) (1.2 * row.hdfs().opsPerSecond()) : null;
  }

  /** At most this. */
  static Double p99Millis(Row row) {
    return isNative(row) || isStock(row) ? (Double) row.hdfs().p99Millis() : null;
  }

  /** Rows of which only the latencies tell something. */
  private static boolean isAtFixedRate(Row row) {
    return row.name().startsWith("stat-beside-");
  }

  private static boolean isNative(Row row) {
    return row.hdfs() != null
        && row.client().equals(MetadataResults.NATIVE)
        && row.connections() == CONNECTIONS;
  }

  private static boolean isStock(Row row) {
    return row.hdfs() != null && row.client().equals(MetadataResults.STOCK);
  }
}
