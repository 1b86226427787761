package io.ebbfs.manager.economics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.CodeRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PairCostTest {
  /** The figures were derived by hand from the equations of the codes. */
  @ParameterizedTest
  @CsvSource({
    // family, to compact, to fast, saved by repairs, saved by a degraded read, extra stored
    "product, 0.7, 1.4333, 3.0, 3, 0.4",
    "lrc, 0.6667, 1.3333, 3.6667, 4, 0.3333",
    "rs, 0.75, 1.25, 5.75, 6, 0.25"
  })
  void conversionsRepairsAndReadsOfThePairs(
      String family, double toCompact, double toFast, double repairs, double reads, double stored) {
    PairCost cost = PairCost.of(CodeRegistry.builtIn().family(family));
    assertThat(cost.toCompact()).isCloseTo(toCompact, within(1e-3));
    assertThat(cost.toFast()).isCloseTo(toFast, within(1e-3));
    assertThat(cost.repairsSaved()).isCloseTo(repairs, within(1e-3));
    assertThat(cost.readsSaved()).isCloseTo(reads, within(1e-9));
    assertThat(cost.extraStored()).isCloseTo(stored, within(1e-3));
  }

  @Test
  void aSingleCodeIsNeverConverted() {
    PairCost cost =
        PairCost.of(
            io.ebbfs.coding.code.CodeFamily.single(io.ebbfs.coding.code.Codes.byName("RS(6,3)")));
    assertThat(cost.toFast()).isZero();
    assertThat(cost.extraStored()).isZero();
  }
}
