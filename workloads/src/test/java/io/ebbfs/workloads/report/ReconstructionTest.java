package io.ebbfs.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.report.Reconstruction.Loss;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Repair;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ReconstructionTest {
  private static final long BLOCK = Synthetic.BLOCK;

  private static Loss disk(Repair... repairs) {
    WorkloadInfo w =
        new WorkloadInfo("W", 1, 100, .9, .9, .1, .1, Map.of(), Map.of(), 180, 100, 180, 0); // 1.8x
    Results results =
        Synthetic.withRepairs(
            Synthetic.withWorkloads(Synthetic.product(), List.of(w)), List.of(repairs));
    return Reconstruction.losses(results).get(0);
  }

  /** Ten data blocks and eight parities of the fast product code, and what was read for them. */
  private static Repair fast(double seconds, long read, long linkBytes, List<Double> reads) {
    return fast(new Repair.ByCode(10, 8, read), seconds, linkBytes, reads, 0);
  }

  /** Eighteen blocks of the fast product code. */
  private static Repair fast(
      Repair.ByCode lost, double seconds, long linkBytes, List<Double> reads, long remoteBytes) {
    long read = lost.read();
    return new Repair(
        0,
        "disk",
        18,
        18 * BLOCK,
        1,
        seconds,
        read,
        18,
        36,
        read * BLOCK,
        18 * BLOCK,
        linkBytes,
        Map.of(Codes.PC_FAST, lost),
        List.of(),
        reads,
        remoteBytes,
        27 * BLOCK,
        0);
  }

  @Test
  void costsAreCountedPerLostDataBlock() {
    Loss loss = disk(fast(20, 36, 0, List.of()));
    assertThat(loss.movedPerDataBlock().median()).isCloseTo(5.4, within(1e-9));
    assertThat(loss.plannedPerDataBlock().median()).isCloseTo(5.4, within(1e-9));
    assertThat(loss.arithmeticPerDataBlock()).isCloseTo(5.4, within(1e-9));
    assertThat(loss.secondsPerDataBlock().median()).isCloseTo(2, within(1e-9));
    assertThat(loss.secondsPerMib().median()).isCloseTo(20.0 / (18 * 4), within(1e-9));
    assertThat(loss.byCode().get(Codes.PC_FAST).readsPerBlock()).isCloseTo(2, within(1e-9));
    assertThat(loss.linkRatio()).isNull();
  }

  @Test
  void theArithmeticFollowsTheCodesOfTheLostData() {
    Repair mixed =
        new Repair(
            0,
            "disk",
            20,
            20 * BLOCK,
            1,
            10,
            50,
            20,
            50,
            0,
            0,
            0,
            Map.of(
                Codes.PC_FAST, new Repair.ByCode(4, 5, 18),
                Codes.PC_COMPACT, new Repair.ByCode(16, 5, 105)),
            List.of(),
            List.of(),
            0,
            0,
            0);
    assertThat(disk(mixed).arithmeticPerDataBlock())
        .isCloseTo((5 * 5.4 + 15 * 8.4) / 20, within(1e-9));
  }

  @Test
  void aRepairThatReadMoreThanPlannedIsNotEqual() {
    Loss loss = disk(fast(20, 36, 0, List.of()), fast(20, 37, 0, List.of()));
    assertThat(loss.repetitions()).isEqualTo(2);
    assertThat(loss.coded()).isEqualTo(2);
    assertThat(loss.equalToPlan()).isEqualTo(1);
  }

  @Test
  void timesUnderReadsOfClientsStayOutOfTheMedian() {
    Loss loss = disk(fast(20, 36, 0, List.of()), fast(90, 36, 0, List.of(120.0)));
    assertThat(loss.seconds()).isEqualTo(new Spread(20, 20, 20, 1));
    assertThat(loss.equalToPlan()).isEqualTo(2);
  }

  @Test
  void linkBytesAreSetAgainstWhatHadToCrossALink() {
    Loss loss = disk(fast(20, 36, 36 * BLOCK, List.of()));
    assertThat(loss.linkRatio().median()).isCloseTo(1, within(1e-9));
    Repair known = fast(new Repair.ByCode(10, 8, 36), 20, 30 * BLOCK, List.of(), 30 * BLOCK);
    assertThat(disk(known).linkRatio().median()).isCloseTo(1, within(1e-9));
  }

  @Test
  void whatChecksReadIsNoPartOfWhatWasMoved() {
    Loss loss = disk(fast(20, 36, 0, List.of()));
    assertThat(loss.checked().median()).isCloseTo(.5, within(1e-9));
    assertThat(loss.movedPerDataBlock().median()).isCloseTo(5.4, within(1e-9));
  }

  @Test
  void headersAreAllowedForAndNothingElse() {
    assertThat(Links.off(1)).isZero();
    assertThat(Links.off(1.05)).isZero();
    assertThat(Links.off(.97)).isCloseTo(.03, within(1e-9));
    assertThat(Links.off(1.2)).isGreaterThan(Links.TOLERANCE);
    assertThat(Links.off(Links.HEADERS * 1.04)).isCloseTo(.04, within(1e-9));
  }

  @Test
  void replicasThatAreCopiedAgainHaveTimesAndNoCounts() {
    Repair replicas =
        new Repair(
            0, "disk", 10, 0, 1, 20, 0, 0, 0, 0, 0, 0, Map.of(), List.of(), List.of(), 0, 0, 0);
    Loss loss = disk(replicas);
    assertThat(loss.secondsPerDataBlock().median()).isEqualTo(2);
    assertThat(loss.repetitions()).isEqualTo(1);
    assertThat(loss.coded()).as("no plan says what is read for replicas").isZero();
    assertThat(loss.equalToPlan()).isZero();
    assertThat(loss.movedPerDataBlock()).isNull();
    assertThat(loss.secondsPerMib()).isNull();
    assertThat(loss.arithmeticPerDataBlock()).isNull();
  }

  @Test
  void theDrawOfDataAndParitiesDoesNotCount() {
    Repair mostlyParities = fast(new Repair.ByCode(3, 15, 36), 20, 0, List.of(), 0);
    Loss loss = disk(mostlyParities);
    assertThat(loss.movedPerDataBlock().median()).isCloseTo(5.4, within(1e-9));
    assertThat(loss.secondsPerDataBlock().median()).isCloseTo(2, within(1e-9));
    assertThat(loss.countedPerDataBlock().median()).isCloseTo(18, within(1e-9));
  }
}
