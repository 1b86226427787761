package io.ebbfs.manager.economics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.CodeRegistry;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WorthTest {
  private static final PairCost PRODUCT = PairCost.of(CodeRegistry.builtIn().family("product"));
  private static final Worth USUAL = new Worth(PRODUCT, Prices.DEFAULT, Experience.NONE);

  /** The worked example of docs/policy.md. */
  @Test
  void weighsBothSidesInBlockMoves() {
    assertThat(USUAL.perRead()).isCloseTo(0.003 * 3 * 2, within(1e-9));
    assertThat(USUAL.perDay()).isCloseTo(0.1 * 0.4 - 0.003 * 3, within(1e-9));
    assertThat(USUAL.evenReads()).isCloseTo(17.4, within(0.05));
    assertThat(USUAL.payingReads()).isCloseTo(135.9, within(0.05));
    assertThat(USUAL.toFast(135).pays()).isFalse();
    assertThat(USUAL.toFast(137).pays()).isTrue();
    assertThat(USUAL.toFast(137).costs()).isCloseTo(2.1333, within(1e-3));
    assertThat(USUAL.toCompact(0, 22).pays()).isFalse();
    assertThat(USUAL.toCompact(0, 23).pays()).isTrue();
  }

  @Test
  void fastDataYieldsOnlyToDataThatIsReadSoMuchMoreThatBothMovesPay() {
    assertThat(USUAL.swap(100, 50, 1).pays()).isFalse();
    assertThat(USUAL.swap(200, 50, 1).pays()).isTrue();
    assertThat(USUAL.swap(200, 50, 3).pays()).isFalse();
  }

  @Test
  void whereBlocksAreOftenLostTheFastCodeIsWorthItWithoutReads() {
    FailureRates often = FailureRates.PRIOR.plus(300, 60, 0);
    Worth worth =
        new Worth(PRODUCT, Prices.DEFAULT, new Experience(often, Experience.WEEK_MILLIS, Map.of()));
    assertThat(worth.ofFast(0)).isPositive();
    assertThat(worth.evenReads()).isNegative();
  }

  /**
   * Data that flaps around a threshold is not converted to and fro: between two conversions the
   * remembered reads must change by as much as a round trip is worth.
   */
  @Test
  void noReadsPayForBothDirectionsAtOnce() {
    Random random = new Random(11);
    for (int i = 0; i < 10_000; i++) {
      double reads = Math.exp(random.nextDouble() * 12 - 2);
      double idle = random.nextDouble() * 10;
      assertThat(USUAL.toFast(reads).pays() && USUAL.toCompact(reads, idle).pays())
          .as("%s reads, idle for %s days", reads, idle)
          .isFalse();
    }
  }
}
