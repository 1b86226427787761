package io.ebbfs.workloads.data;

/**
 * A row of the report.
 *
 * @param name the kind of work
 * @param client what does it: {@code stock x16}; if the systems have different clients, that of
 *     EbbFS comes first: {@code native x16, stock x16}
 * @param goal what EbbFS is to reach; empty if nothing is set
 */
record BenchmarkRow(String name, String client, String goal) {
  static final String AHEAD = "ahead of HDFS in MB/s and in CPU s/GB";
}
