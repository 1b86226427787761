package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A case that is counted by hand: one file of 30 blocks, two days, known reads and losses. */
class LedgerTest {
  private static final int HOURS = 48;
  private static final double LOST_PER_DAY = 0.24;
  private static final double ABSENT = 0.01;

  private final FailureDraws failures = FailureDraws.steady(HOURS, LOST_PER_DAY, ABSENT);

  private Ledger.Figures of(PolicySystem system) {
    int[][] opens = new int[HOURS][1];
    opens[10][0] = 5;
    return PolicySystemRun.of(system, new Traffic("tiny", new int[] {30}, opens), failures);
  }

  /** The policy decides in the first hour, so that the file is encoded from the second on. */
  @Test
  void countsTheCompactCode() {
    Ledger.Figures figures = of(PolicySystem.single("compact", "PC(6x5)"));
    double blockDays = 30 * 2;
    assertThat(figures.ingest() * blockDays).isCloseTo(90, within(1e-9));
    assertThat(figures.encode() * blockDays).isCloseTo(30 + 12, within(1e-9));
    assertThat(figures.repair() * blockDays).isCloseTo(30 * 0.01 * (6 + 47 * 8.4), within(1e-9));
    assertThat(figures.degraded() * blockDays).isCloseTo(5 * 30 * ABSENT * 5, within(1e-9));
    assertThat(figures.degradedMillis()).isCloseTo(5 * Ledger.MILLIS_PER_BLOCK, within(1e-6));
    assertThat(figures.hotDegradedMillis()).isCloseTo(5 * Ledger.MILLIS_PER_BLOCK, within(1e-6));
    assertThat(figures.stored()).isCloseTo((3 + 47 * 1.4) / 48, within(1e-9));
  }

  /**
   * RS(12,3) writes a quarter of a block less than RS(6,3) at the encoding. A loss of all blocks of
   * a stripe moves 16.25 and 10.5 blocks per data block, and a degraded read 12 and 6. So RS(12,3)
   * moves less over some days only if 0.25 > (5.75 L + 6 u R) x days.
   */
  @ParameterizedTest
  @CsvSource({"0.0004,0,0", "0.0045,0,0", "0.0002,0.001,0.5", "0.0002,0.001,8"})
  void theCompactCodeOfTheConvertiblePairWinsOnlyWhereLossesAndReadsAreRare(
      double lostPerDay, double absent, double opensPerDay) {
    int days = 28;
    FailureDraws rare = FailureDraws.steady(days * 24, lostPerDay, absent);
    int[][] opens = new int[days * 24][1];
    for (int open = 0; open < opensPerDay * days; open++) {
      opens[24 + (int) (open * 24 / opensPerDay) % (days * 24 - 24)][0]++;
    }
    Traffic traffic = new Traffic("tiny", new int[] {60}, opens);
    double compact = PolicySystemRun.of(PolicySystem.single("c", "RS(12,3)"), traffic, rare).net();
    double fast = PolicySystemRun.of(PolicySystem.single("f", "RS(6,3)"), traffic, rare).net();
    double saved = 0.25 - (5.75 * lostPerDay + 6 * absent * opensPerDay) * days;
    assertThat((fast - compact) * days).isCloseTo(saved, within(0.01));
  }

  /** The file and the stripe are the first of their kind, and their ids must not be the same. */
  @Test
  void theReadsOfAFileCountInItsStripe() {
    int[][] opens = new int[HOURS][1];
    opens[10][0] = 11;
    PolicySystem threshold =
        new PolicySystem(
            "no bound",
            PolicySystem.THRESHOLD
                .rule()
                .map(rule -> rule.withStorageBound(OptionalDouble.empty())),
            PolicySystem.Memory.USUAL);
    Traffic traffic = new Traffic("tiny", new int[] {30}, opens);
    assertThat(PolicySystemRun.of(threshold, traffic, failures).convert() * 60)
        .as("to the fast code and back")
        .isCloseTo(43 + 21, within(1e-9));
  }

  @Test
  void waitsForTheHottestFilesAreCountedByThemselves() {
    Ledger ledger = new Ledger(30, HOURS);
    assertThat(ledger.figures(1).hotDegradedMillis()).isNull();
    ledger.addReads(2, 10, false);
    ledger.addReads(1, 2, true);
    Ledger.Figures figures = ledger.figures(1);
    assertThat(figures.degradedMillis()).isCloseTo(4 * Ledger.MILLIS_PER_BLOCK, within(1e-6));
    assertThat(figures.hotDegradedMillis()).isCloseTo(2 * Ledger.MILLIS_PER_BLOCK, within(1e-6));
  }

  @Test
  void countsReplicas() {
    Ledger.Figures figures = of(PolicySystem.all().get(0));
    assertThat(figures.encode()).isZero();
    assertThat(figures.repair() * 60).isCloseTo(30 * 0.48 * 6, within(1e-9));
    assertThat(figures.degraded() * 60).isCloseTo(5 * 30 * ABSENT, within(1e-9));
  }
}
