package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.io.PrintStream;
import java.util.HashSet;
import java.util.Set;

/** Measures one group of rows on one side, and keeps what was measured. */
final class RunRecorder implements RowGroup.Recorder {
  private final DataRuns runs;
  private final Side side;
  private final Meter meter;
  private final boolean counts;
  private final PrintStream out;
  private final Set<BenchmarkRow> measured = new HashSet<>();

  /**
   * @param counts whether the runs are kept; false for a round that only warms up
   */
  RunRecorder(DataRuns runs, Side side, Meter meter, boolean counts, PrintStream out) {
    this.runs = runs;
    this.side = side;
    this.meter = meter;
    this.counts = counts;
    this.out = out;
  }

  @Override
  public Run add(BenchmarkRow row, long bytes, Meter.Work work)
      throws IOException, ClusterException, InterruptedException {
    Run run = measure(bytes, work);
    add(row, run);
    return run;
  }

  @Override
  public void add(BenchmarkRow row, Run run) {
    measured.add(row);
    if (counts) {
      runs.add(row, side.name(), run);
      out.println(DataTable.progress(row, side.name(), run));
    }
  }

  @Override
  public Run measure(long bytes, Meter.Work work)
      throws IOException, ClusterException, InterruptedException {
    return meter.measure(side, bytes, work);
  }

  @Override
  public SharedLinks links() {
    return meter.links();
  }

  @Override
  public void note(BenchmarkRow row, String text) {
    runs.note(row, text);
  }

  /** The rows that were not reached say why: all of them in a round that only warms up. */
  void fail(RowGroup group, IOException why) {
    out.printf("%s on %s failed: %s%n", group.name(), side.name(), why.getMessage());
    for (BenchmarkRow row : group.rows()) {
      if (!counts || !measured.contains(row)) {
        runs.fail(row, side.name(), why.getMessage());
      }
    }
  }
}
