package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

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
    assertThat(figures.stored()).isCloseTo((3 + 47 * 1.4) / 48, within(1e-9));
  }

  @Test
  void countsReplicas() {
    Ledger.Figures figures = of(PolicySystem.all().get(0));
    assertThat(figures.encode()).isZero();
    assertThat(figures.repair() * 60).isCloseTo(30 * 0.48 * 6, within(1e-9));
    assertThat(figures.degraded() * 60).isCloseTo(5 * 30 * ABSENT, within(1e-9));
  }
}
