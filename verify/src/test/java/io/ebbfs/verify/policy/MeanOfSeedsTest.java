package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class MeanOfSeedsTest {
  /** The numbers 1 to 10 have the variance 9.17; Student's t of nine degrees is 2.262. */
  @Test
  void theIntervalIsStudents() {
    MeanOfSeeds ten = MeanOfSeeds.of(List.of(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0));
    assertThat(ten.mean()).isCloseTo(5.5, within(1e-9));
    assertThat(ten.half()).isCloseTo(2.262 * Math.sqrt(55 / 6.0 / 10), within(1e-9));
  }

  @Test
  void oneSeedTellsNoInterval() {
    assertThat(MeanOfSeeds.of(List.of(3.0))).isEqualTo(new MeanOfSeeds(3, 0));
  }
}
