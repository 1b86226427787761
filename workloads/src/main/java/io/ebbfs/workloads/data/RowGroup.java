package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;

/** Rows that are measured together, because they work on the same files. */
interface RowGroup {
  /** For {@code --rows}. */
  String name();

  List<RowKey> rows();

  /** Measures all rows once on one side. Files that it has made are deleted. */
  void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException;

  /** Takes what was measured. */
  interface Recorder {
    void add(RowKey row, long bytes, Meter.Work work)
        throws IOException, ClusterException, InterruptedException;
  }
}
