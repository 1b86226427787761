package io.ebbfs.workloads.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which client works how often, and to which rows its runs belong. */
class ClientTurnsTest {
  private static final ClientWork WRITE = ClientWork.ahead("write", 16, "2");
  private static final DataClient STOCK = new DataClient(null);
  private static final DataClient NATIVE = new DataClient(null);
  private static final Side EBBFS =
      new Side(new SystemWithoutServers(ComparedSystem.EBBFS), STOCK, NATIVE, STOCK);
  private static final Side HDFS =
      new Side(new SystemWithoutServers(ComparedSystem.HDFS), STOCK, null, STOCK);

  /** Keeps what it is told; a run has the number of the measurement as its bytes. */
  private static final class Recorded implements RowGroup.Recorder {
    private final List<String> rows = new ArrayList<>();
    private long measurements;

    @Override
    public Run measure(long bytes, Meter.Work work)
        throws IOException, ClusterException, InterruptedException {
      work.run();
      return new Run(++measurements, 1, 1, null, 0, 0, null, null, null);
    }

    @Override
    public void add(BenchmarkRow row, Run run) {
      rows.add("%s: %d".formatted(row.client(), run.bytes()));
    }

    @Override
    public Run add(BenchmarkRow row, long bytes, Meter.Work work) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void note(BenchmarkRow row, String text) {
      throw new UnsupportedOperationException();
    }

    @Override
    public SharedLinks links() {
      throw new UnsupportedOperationException();
    }
  }

  private final Recorded recorder = new Recorded();
  private final List<DataClient> worked = new ArrayList<>();

  private void take(Side side, int round) throws Exception {
    ClientTurns.take(
        side,
        round,
        recorder,
        (client, turn) ->
            turn.add(
                WRITE,
                5,
                () -> {
                  worked.add(client);
                  return new DataClient.Timing(1, 1);
                }));
  }

  @Test
  void bothClientsOfEbbfsWork() throws Exception {
    take(EBBFS, 1);
    assertThat(worked).containsExactly(STOCK, NATIVE);
    assertThat(recorder.rows).containsExactly("stock x16: 1", "native x16, stock x16: 2");
  }

  @Test
  void theOrderChangesWithEachRound() throws Exception {
    take(EBBFS, 2);
    assertThat(worked).containsExactly(NATIVE, STOCK);
    assertThat(recorder.rows).containsExactly("native x16, stock x16: 1", "stock x16: 2");
  }

  @Test
  void theRunOfHdfsCountsInBothRows() throws Exception {
    take(HDFS, 1);
    assertThat(worked).containsExactly(STOCK);
    assertThat(recorder.rows).containsExactly("stock x16: 1", "native x16, stock x16: 1");
  }

  @Test
  void bothSystemsHaveTheSameWarmUp() throws Exception {
    take(EBBFS, 0);
    int ofEbbfs = worked.size();
    take(HDFS, 0);
    assertThat(worked).hasSize(2 * ofEbbfs);
  }

  @Test
  void eachWorkHasARowForEachClient() {
    assertThat(ClientWork.rows(List.of(WRITE)))
        .containsExactly(
            new BenchmarkRow("write", "stock x16", BenchmarkRow.AHEAD),
            new BenchmarkRow("write", "native x16, stock x16", "2 times HDFS's MB/s"));
  }
}
