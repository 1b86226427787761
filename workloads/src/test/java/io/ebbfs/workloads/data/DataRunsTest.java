package io.ebbfs.workloads.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.testbed.process.ProcessUsage;
import io.ebbfs.workloads.results.DataResults.Row;
import io.ebbfs.workloads.results.DataResults.Side;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs become medians per byte, and lines of the table. */
class DataRunsTest {
  private static final BenchmarkRow WRITE = ClientWork.ahead("write", 16).stock();

  private static Run run(double seconds) {
    return new Run(
        500_000_000,
        seconds,
        20 * seconds,
        new io.ebbfs.workloads.data.Side.Usage(
            new ProcessUsage(100_000, 50_000, 1, 1),
            new ProcessUsage(10_000, 0, 1, 1),
            new ProcessUsage((long) (seconds * 100_000), 200_000, 1000, 250)),
        0.1,
        0.5,
        null,
        null,
        null);
  }

  @Test
  void figuresAreMediansPerByte() {
    Side side = DataRuns.side(List.of(run(4), run(1), run(2)));
    assertThat(side.megabytesPerSecond()).isEqualTo(250);
    assertThat(side.leastMegabytesPerSecond()).isEqualTo(125);
    assertThat(side.greatestMegabytesPerSecond()).isEqualTo(500);
    assertThat(side.millis()).isEqualTo(40);
    assertThat(side.cpuSecondsPerGB()).isEqualTo(1.12, within(1e-9));
    assertThat(side.userCpuSecondsPerGB()).isEqualTo(0.62, within(1e-9));
    assertThat(side.systemCpuSecondsPerGB()).isEqualTo(0.5, within(1e-9));
    assertThat(side.clientCpuSecondsPerGB()).isEqualTo(0.3, within(1e-9));
    assertThat(side.namenodeCpuSecondsPerGB()).isEqualTo(0.02, within(1e-9));
    assertThat(side.serverCpuSecondsPerGB()).isEqualTo(0.8, within(1e-9));
    assertThat(side.readCallsPerMB()).isEqualTo(2);
    assertThat(side.writeCallsPerMB()).isEqualTo(0.5);
    assertThat(side.cpuSeconds()).isNull();
    assertThat(side.trafficBytes()).isNull();
  }

  @Test
  void anEvenNumberOfRunsHasTheMeanOfTheMiddleOnes() {
    assertThat(DataRuns.side(List.of(run(1), run(2))).megabytesPerSecond()).isEqualTo(375);
  }

  @Test
  void workThatMovesNoBytesOfAClientHasSecondsOfCpu() {
    Run first = new Run(0, 1, 8, run(1).usage(), 0, 0, new Run.Traffic(12, 0), null, null);
    Side side = DataRuns.side(List.of(first));
    assertThat(side.megabytesPerSecond()).isNull();
    assertThat(side.cpuSecondsPerGB()).isNull();
    assertThat(side.cpuSeconds()).isEqualTo(0.46, within(1e-9));
    assertThat(side.trafficBytes()).isEqualTo(12);
    assertThat(side.plannedBytes()).isNull();
  }

  @Test
  void aRepairHasTheBytesOfLinksForEachLostByte() {
    Run first = run(2).since(33, new SharedLinks.Received(3_000_000_000L, 0));
    Run second = run(4).since(35, new SharedLinks.Received(3_100_000_000L, 100_000_000));
    Side side = DataRuns.side(List.of(first, second));
    assertThat(side.bytes()).isEqualTo(500_000_000);
    assertThat(side.seconds()).isEqualTo(3);
    assertThat(side.noticedSeconds()).isEqualTo(34);
    assertThat(side.serverLinkBytes()).isEqualTo(3_050_000_000L);
    assertThat(side.clientLinkBytes()).isEqualTo(50_000_000);
    assertThat(side.linkBytesPerByte()).isEqualTo(6.2, within(1e-9));
  }

  @Test
  void onLoopbackNobodyCountsTheBytesOfLinks() {
    Side side = DataRuns.side(List.of(run(1)));
    assertThat(side.serverLinkBytes()).isNull();
    assertThat(side.clientLinkBytes()).isNull();
    assertThat(side.linkBytesPerByte()).isNull();
    assertThat(side.noticedSeconds()).isNull();
  }

  @Test
  void theLineOfLinksHasTheRatioPerByte() {
    DataRuns runs = new DataRuns();
    runs.add(
        WRITE, ComparedSystem.EBBFS, run(2).since(33, new SharedLinks.Received(1_000_000_000L, 0)));
    runs.add(
        WRITE, ComparedSystem.HDFS, run(4).since(32, new SharedLinks.Received(3_000_000_000L, 0)));
    assertThat(LinkTable.line(runs.rows().get(0)))
        .isEqualTo(
            "| write | stock x16 | 500 | 500 | 33.0 | 32.0 | 2.00 | 4.00 | 1000 | 3000"
                + " | 0.00 | 0.00 | 2.00 | 6.00 | 0.33 |");
  }

  @Test
  void rowsKeepTheirOrderAndTheLineHasTheRatios() {
    DataRuns runs = new DataRuns();
    BenchmarkRow read = ClientWork.ahead("read", 1).stock();
    runs.open(WRITE);
    runs.add(read, ComparedSystem.EBBFS, run(1));
    runs.add(WRITE, ComparedSystem.HDFS, run(2));
    runs.add(WRITE, ComparedSystem.EBBFS, run(1));
    List<Row> rows = runs.rows();
    assertThat(rows).extracting(Row::name).containsExactly("write", "read");
    assertThat(DataTable.line(rows.get(0)))
        .startsWith("| write | stock x16 | 500 | 250 | 2.00 | 0.92 | 1.12 | 0.82 | 20.0 | 40.0 |");
    assertThat(DataTable.line(rows.get(1))).contains("| 500 |  |  |");
  }

  @Test
  void aFailedSideHasNoFiguresAndSaysWhy() {
    DataRuns runs = new DataRuns();
    runs.add(WRITE, ComparedSystem.EBBFS, run(1));
    runs.add(WRITE, ComparedSystem.HDFS, run(1));
    runs.fail(WRITE, ComparedSystem.HDFS, "/f3 is wrong at offset 7");
    Row row = runs.rows().get(0);
    assertThat(row.hdfs()).isNull();
    assertThat(row.ebbfs()).isNotNull();
    assertThat(row.note()).isEqualTo("hdfs: /f3 is wrong at offset 7");
    assertThat(runs.hasFailed(WRITE, ComparedSystem.HDFS)).isTrue();
    assertThat(runs.hasFailed(WRITE, ComparedSystem.EBBFS)).isFalse();
  }

  @Test
  void theMachineIsBusyWithAllButIdlingAndWaiting() {
    assertThat(Meter.busySeconds("cpu  100 20 30 4000 500 6 7 8 90 0\ncpu0 1 2 3 4\n"))
        .isEqualTo(1.71, within(1e-9));
  }
}
