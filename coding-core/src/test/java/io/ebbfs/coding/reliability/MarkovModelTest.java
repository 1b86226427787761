package io.ebbfs.coding.reliability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.Codes;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against figures that were computed independently, with the rates of the HACFS paper. */
class MarkovModelTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "PC(2x5) | 1.8e12",
        "PC(6x5) | 2.5e11",
        "LRC(12,6,2) | 2.6e12",
        "LRC(12,2,2) | 3.1e11",
        "RS(6,3) | 6.2e11",
        "RS(10,4) | 6.9e14",
      })
  void meanTimeToLoss(String code, double years) {
    assertThat(MarkovModel.HACFS.meanTimeToLossYears(Codes.byName(code)))
        .isCloseTo(years, Percentage.withPercentage(5));
  }

  @Test
  void threeReplicas() {
    assertThat(MarkovModel.HACFS.meanTimeToLossYearsOfReplicas(3))
        .isCloseTo(3.6e9, Percentage.withPercentage(2));
  }

  @Test
  void aChainWithoutRepairIsASumOfWaits() {
    MarkovModel noRepair = new MarkovModel(0.5, 0, 0);
    assertThat(noRepair.meanTimeToLossYearsOfReplicas(3))
        .isCloseTo(1 / 1.5 + 1 / 1.0 + 1 / 0.5, within(1e-12));
  }

  @Test
  void fatalSharesAreThoseOfTheCountedSets() {
    FatalShares shares = FatalShares.of(Codes.byName("PC(2x5)"));
    assertThat(shares.fatalAfter()[0]).isZero();
    assertThat(shares.fatalAfter()[3]).isCloseTo(45.0 / 3060, within(1e-12));
    assertThat(shares.fatalAfter()[8]).isEqualTo(1);
  }
}
