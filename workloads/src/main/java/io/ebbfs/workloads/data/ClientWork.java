package io.ebbfs.workloads.data;

import java.util.List;
import java.util.stream.Stream;

/**
 * Work that has two rows: the stock client on both systems, and EbbFS's native client beside HDFS's
 * stock client.
 *
 * @param name the kind of work
 * @param clients threads of each client
 * @param goal what EbbFS is to reach with the stock client
 * @param nativeGoal what EbbFS is to reach with the native client
 */
record ClientWork(String name, int clients, String goal, String nativeGoal) {
  /** What both clients write or read ahead of HDFS. */
  static ClientWork ahead(String name, int clients) {
    return new ClientWork(name, clients, BenchmarkRow.AHEAD, BenchmarkRow.AHEAD);
  }

  /**
   * The same.
   *
   * @param nativeRatio what the native client's MB/s are to be, in MB/s of HDFS
   */
  static ClientWork ahead(String name, int clients, String nativeRatio) {
    return new ClientWork(
        name, clients, BenchmarkRow.AHEAD, "%s times HDFS's MB/s".formatted(nativeRatio));
  }

  BenchmarkRow stock() {
    return new BenchmarkRow(name, "stock x" + clients, goal);
  }

  BenchmarkRow byNative() {
    return new BenchmarkRow(name, "native x%d, stock x%d".formatted(clients, clients), nativeGoal);
  }

  /** The rows of all these kinds of work, in the order of the report. */
  static List<BenchmarkRow> rows(List<ClientWork> works) {
    return works.stream().flatMap(work -> Stream.of(work.stock(), work.byNative())).toList();
  }
}
