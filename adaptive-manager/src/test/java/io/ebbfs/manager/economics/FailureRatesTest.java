package io.ebbfs.manager.economics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class FailureRatesTest {
  @Test
  void aNewClusterHasThePublishedRatesAndLearnsItsOwn() {
    assertThat(FailureRates.PRIOR.lostPerDay()).isEqualTo(0.003);
    FailureRates month = FailureRates.PRIOR;
    for (int day = 0; day < 30; day++) {
      month = month.plus(1, 0, 0);
    }
    assertThat(month.lostPerDay()).isCloseTo(0.0015, within(1e-9));
    assertThat(month.unavailable()).isCloseTo(0.0015, within(1e-9));
  }

  @Test
  void aChangeOfTheRatesIsSeenWithinAYear() {
    FailureRates calm = FailureRates.PRIOR.plus(5_000, 0, 0);
    assertThat(calm.observedDays()).isCloseTo(365, within(1e-6));
    FailureRates year = calm;
    for (int day = 0; day < 365; day++) {
      year = year.plus(1, 0.01, 0.01);
    }
    assertThat(year.lostPerDay()).isBetween(0.005, 0.01);
  }
}
