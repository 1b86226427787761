package io.ebbfs.workloads.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.workloads.results.MetadataResults.Measure;
import io.ebbfs.workloads.results.MetadataResults.Row;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs and values become rows and measures, and lines of the table. */
class RunListsTest {
  private static Run run(double opsPerSecond) {
    return new Run(1000, 1, opsPerSecond, 1e6 / opsPerSecond, 2, 5, 1, 2, 3);
  }

  @Test
  void rowsKeepTheirOrderAndHaveTheMediansOfTheirRuns() {
    RunLists runs = new RunLists();
    runs.add("stat", "ebbfs", run(300));
    runs.add("stat", "hdfs", run(100));
    runs.add("create", "ebbfs", run(50));
    runs.add("stat", "hdfs", run(200));
    runs.add("stat", "ebbfs", run(100));
    runs.add("stat", "ebbfs", run(700));
    List<Row> rows = runs.rows("native", 16);
    assertThat(rows).extracting(Row::name).containsExactly("stat", "create");
    Row stat = rows.get(0);
    assertThat(stat.ebbfs().opsPerSecond()).isEqualTo(300);
    assertThat(stat.ebbfs().leastOpsPerSecond()).isEqualTo(100);
    assertThat(stat.ebbfs().greatestOpsPerSecond()).isEqualTo(700);
    assertThat(stat.hdfs().opsPerSecond()).isEqualTo(150);
    assertThat(stat.speedRatio()).isEqualTo(2.0);
    assertThat(rows.get(1).hdfs()).isNull();
    assertThat(rows.get(1).cpuRatio()).isNull();
  }

  @Test
  void linesShowMediansRangesAndRatios() {
    RunLists runs = new RunLists();
    runs.add("stat", "ebbfs", run(2000));
    runs.add("stat", "hdfs", run(1000));
    assertThat(MetadataTable.line(runs.rows("native", 64).get(0)))
        .contains("stat", "native", "64", "2000 (2000-2000)", "1000 (1000-1000)", "2.00", "0.50");
    RunLists alone = new RunLists();
    alone.add("stat", "ebbfs", run(2000));
    assertThat(MetadataTable.line(alone.rows("native", 64).get(0))).contains(" - ");
  }

  @Test
  void measuresAreKeptApartByTheirSize() {
    MeasureLists lists = new MeasureLists();
    lists.add("start", "s", "1 file", "ebbfs", 1);
    lists.add("start", "s", "9 files", "ebbfs", 4);
    lists.add("start", "s", "1 file", "hdfs", 2);
    lists.add("start", "s", "1 file", "ebbfs", 3);
    List<Measure> measures = lists.measures();
    assertThat(measures).extracting(Measure::size).containsExactly("1 file", "9 files");
    assertThat(measures.get(0).ebbfs().median()).isEqualTo(2);
    assertThat(measures.get(0).ebbfs().greatest()).isEqualTo(3);
    assertThat(measures.get(0).ratio()).isEqualTo(1.0);
    assertThat(measures.get(1).ratio()).isNull();
    assertThat(MetadataTable.line(measures.get(0))).contains("start", "1 file", "2.000", "1.00");
  }
}
