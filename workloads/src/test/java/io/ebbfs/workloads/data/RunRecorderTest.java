package io.ebbfs.workloads.data;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of the rows of a group whose work fails. */
class RunRecorderTest {
  private static final BenchmarkRow WRITE = ClientWork.ahead("write", 1).stock();
  private static final BenchmarkRow READ = ClientWork.ahead("read", 1).stock();
  private static final Run RUN = new Run(5, 1, 1, null, 0, 0, null, null, null);

  /** Two rows, of which the second one fails. */
  private static final class Failing implements RowGroup {
    @Override
    public String name() {
      return "failing";
    }

    @Override
    public List<BenchmarkRow> rows() {
      return List.of(WRITE, READ);
    }

    @Override
    public void measure(Side side, int round, Recorder recorder) throws IOException {
      recorder.add(WRITE, RUN);
      throw new IOException("a byte is wrong");
    }
  }

  private static DataRuns runs(boolean counts) throws Exception {
    DataRuns runs = new DataRuns();
    Side side = new Side(new SystemWithoutServers(ComparedSystem.EBBFS), null, null, null);
    RowGroup group = new Failing();
    RunRecorder recorder =
        new RunRecorder(runs, side, null, counts, new PrintStream(OutputStream.nullOutputStream()));
    try {
      group.measure(side, counts ? 1 : 0, recorder);
    } catch (IOException e) {
      recorder.fail(group, e);
    }
    return runs;
  }

  @Test
  void aRowThatWasMeasuredBeforeTheFailureKeepsItsFigures() throws Exception {
    DataRuns runs = runs(true);
    assertThat(runs.hasFailed(WRITE, ComparedSystem.EBBFS)).isFalse();
    assertThat(runs.hasFailed(READ, ComparedSystem.EBBFS)).isTrue();
    assertThat(runs.rows()).extracting(row -> row.note()).contains("ebbfs: a byte is wrong");
  }

  @Test
  void allRowsOfAGroupWhoseWarmUpFailsSayWhy() throws Exception {
    DataRuns runs = runs(false);
    assertThat(runs.hasFailed(WRITE, ComparedSystem.EBBFS)).isTrue();
    assertThat(runs.hasFailed(READ, ComparedSystem.EBBFS)).isTrue();
    assertThat(runs.rows()).extracting(row -> row.note()).containsOnly("ebbfs: a byte is wrong");
  }
}
