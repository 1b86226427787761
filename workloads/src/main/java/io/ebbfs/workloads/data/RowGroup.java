package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;

/** Rows that are measured together, because they work on the same files. */
interface RowGroup {
  /** For {@code --rows}. */
  String name();

  List<BenchmarkRow> rows();

  /** Whether one round without a warm-up is all: what takes minutes. */
  default boolean isLong() {
    return false;
  }

  /**
   * Measures all rows once on one side. Files that it has made are deleted.
   *
   * @param round from 1 on; earlier ones warm up
   */
  void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException;

  /** Takes what was measured. */
  interface Recorder {
    /** Measures work and adds it to a row. */
    Run add(BenchmarkRow row, long bytes, Meter.Work work)
        throws IOException, ClusterException, InterruptedException;

    /** Adds a run to a row. */
    void add(BenchmarkRow row, Run run);

    /** Measures work that belongs to several rows, or whose traffic is known afterwards. */
    Run measure(long bytes, Meter.Work work)
        throws IOException, ClusterException, InterruptedException;

    void note(BenchmarkRow row, String text);

    /** The links between which all work is measured. */
    SharedLinks links();
  }
}
