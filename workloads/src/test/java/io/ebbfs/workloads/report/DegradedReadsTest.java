package io.ebbfs.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Reads;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DegradedReadsTest {
  private static WorkloadInfo workload(Map<String, Double> readsByCode) {
    return new WorkloadInfo(
        "W", 1, 100, .9, .9, .1, .1, readsByCode, readsByCode, 150, 100, 150, 0);
  }

  private static Results with(Map<String, Double> readsByCode, List<Reads> reads) {
    return Synthetic.withReads(
        Synthetic.withWorkloads(Synthetic.product(), List.of(workload(readsByCode))), reads);
  }

  private static Reads read(int repetition, String what, String code, double... millis) {
    List<Double> all = java.util.Arrays.stream(millis).boxed().toList();
    return new Reads(repetition, what, code, all, 2, null, 0, 0);
  }

  @Test
  void aWorkloadIsTheMixtureOfItsCodes() {
    Results results =
        with(
            Map.of(Codes.PC_FAST, .6, Codes.PC_COMPACT, .3, "", .1),
            List.of(
                read(0, "healthy", Codes.PC_FAST, 50, 150),
                read(0, "degraded", Codes.PC_FAST, 200),
                read(0, "degraded", Codes.PC_COMPACT, 400, 600)));
    DegradedReads.Point point = DegradedReads.points(results).get(0);
    assertThat(point.millis().median()).isCloseTo(.6 * 200 + .3 * 500 + .1 * 100, within(1e-9));
    assertThat(point.sourceBlocks()).isCloseTo(.6 * 2 + .3 * 5 + .1, within(1e-9));
    assertThat(point.healthyMillis().median()).isEqualTo(100);
    assertThat(point.overhead()).isEqualTo(1.5);
  }

  @Test
  void theSpreadIsThatOfRepetitions() {
    Results results =
        with(
            Map.of(Codes.PC_FAST, 1.0),
            List.of(
                read(0, "degraded", Codes.PC_FAST, 100, 300),
                read(1, "degraded", Codes.PC_FAST, 220),
                read(2, "degraded", Codes.PC_FAST, 400)));
    assertThat(DegradedReads.points(results).get(0).millis())
        .isEqualTo(new Spread(220, 200, 400, 3));
  }

  @Test
  void aWorkloadWhoseCodesWereNotReadIsLeftOut() {
    Results results =
        with(
            Map.of(Codes.PC_FAST, .9, Codes.PC_COMPACT, .1),
            List.of(read(0, "degraded", Codes.PC_FAST, 100)));
    assertThat(DegradedReads.points(results)).isEmpty();
  }

  @Test
  void aSmallRestWithoutReadsIsLeftOutOfTheMean() {
    Results results =
        with(
            Map.of(Codes.PC_FAST, .97, Codes.PC_COMPACT, .03),
            List.of(read(0, "degraded", Codes.PC_FAST, 100)));
    assertThat(DegradedReads.points(results).get(0).millis().median()).isCloseTo(100, within(1e-9));
  }

  @Test
  void linkBytesAreSetAgainstTheSources() {
    DegradedReads.Traffic traffic = DegradedReads.traffic(Synthetic.product()).get(0);
    assertThat(traffic.reads()).isEqualTo(3 * Synthetic.REPETITIONS);
    assertThat(traffic.linkRatio().median()).isCloseTo(1.02, within(1e-6));
  }

  @Test
  void aServerThatDecodesMayHoldOneSourceItself() {
    assertThat(off(1, null)).isZero(); // one of the two over a link
    assertThat(off(2, null)).isZero(); // both
    assertThat(off(.9, null)).isCloseTo(.1, within(1e-6));
    assertThat(off(4, null)).isCloseTo(2 / Links.HEADERS - 1, within(1e-6));
  }

  @Test
  void itMayHoldMoreWhereTheStripeLiesSo() {
    assertThat(off(.8, .8)).isCloseTo(0, within(1e-6));
    assertThat(off(.72, .8)).isCloseTo(.1, within(1e-6));
    assertThat(off(.01, 0.0)).isZero();
    assertThat(off(4, 0.0)).isCloseTo(2 / Links.HEADERS - 1, within(1e-6));
  }

  /** Of a read of two sources during which so many blocks went over links. */
  private static double off(double blocks, Double leastOverLinks) {
    Reads read =
        new Reads(
            0,
            "degraded",
            Codes.PC_FAST,
            List.of(1.0),
            2,
            leastOverLinks,
            Math.round(blocks * Synthetic.BLOCK),
            0);
    return DegradedReads.traffic(with(Map.of(Codes.PC_FAST, 1.0), List.of(read))).get(0).off();
  }
}
