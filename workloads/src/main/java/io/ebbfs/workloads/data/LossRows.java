package io.ebbfs.workloads.data;

import java.util.ArrayList;
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
    List<BenchmarkRow> rows =
        new ArrayList<>(ClientWork.rows(List.of(firstByte(), degradedRead())));
    rows.addAll(List.of(server(), disk()));
    return rows;
  }

  private ClientWork readOf(String part) {
    String goal = "ahead of HDFS";
    return new ClientWork(part + ", a server dead: " + label, 1, goal, goal);
  }

  ClientWork firstByte() {
    return readOf("first byte");
  }

  ClientWork degradedRead() {
    return readOf(read);
  }

  private BenchmarkRow repairOf(String part) {
    return new BenchmarkRow("repair of " + part + ": " + label, "none", "bytes moved = the plan's");
  }

  BenchmarkRow server() {
    return repairOf("a server");
  }

  BenchmarkRow disk() {
    return repairOf("a disk");
  }
}
