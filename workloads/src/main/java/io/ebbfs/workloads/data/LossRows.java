package io.ebbfs.workloads.data;

import java.util.List;

/**
 * The rows of one kind of redundancy of EbbFS beside one of HDFS.
 *
 * @param label of both: {@code LRC(12,6,2) beside RS-6-3}
 * @param read the name of the read that is measured while a server is dead, such as {@code read of
 *     a file}
 */
record LossRows(String label, String read) {
  List<BenchmarkRow> all() {
    return List.of(firstByte(), degradedRead(), server(), disk());
  }

  private BenchmarkRow row(String work, String client, String goal) {
    return new BenchmarkRow(work + ": " + label, client, goal);
  }

  BenchmarkRow firstByte() {
    return row("first byte, a server dead", "stock x1", "ahead of HDFS");
  }

  BenchmarkRow degradedRead() {
    return row(read + ", a server dead", "stock x1", "ahead of HDFS");
  }

  BenchmarkRow server() {
    return row("repair of a server", "none", "bytes moved = the plan's");
  }

  BenchmarkRow disk() {
    return row("repair of a disk", "none", "bytes moved = the plan's");
  }
}
