package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PolicyComparisonTest {
  private static final int DAYS = 3;
  private static final int FILES = 60;

  private static Map<String, Ledger.Figures> compare(String workload, long seed)
      throws IOException {
    FailureDraws failures = FailureDraws.draw(DAYS * 24, seed);
    Traffic traffic =
        new TrafficSource(FILES, DAYS, Optional.empty()).make(workload, seed, failures);
    return PolicyComparison.compare(traffic, failures);
  }

  @Test
  void theSameSeedGivesTheSameFigures() throws IOException {
    assertThat(compare("flash", 5)).isEqualTo(compare("flash", 5));
    assertThat(compare("flash", 5)).isNotEqualTo(compare("flash", 6));
  }

  /** The bounded oracle is compared with what keeps the bound, the other one with all. */
  @Test
  void theOracleIsNeverAboveAPolicy() throws IOException {
    long seed = Long.getLong("seed", new Random().nextInt(10_000));
    System.out.println("seed " + seed);
    for (String workload : TrafficSource.names()) {
      if (workload.equals(TrafficSource.TRACE)) {
        continue;
      }
      Map<String, Ledger.Figures> figures = compare(workload, seed);
      double bounded = figures.get(PolicyComparison.ORACLE).objective();
      double free = figures.get(PolicyComparison.ORACLE_UNBOUND).objective();
      for (String policy : new String[] {PolicySystem.COMPACT, PolicySystem.AUTO}) {
        assertThat(bounded)
            .as("%s, seed %d, against %s", workload, seed, policy)
            .isLessThanOrEqualTo(figures.get(policy).objective() + 1e-9);
      }
      for (String policy :
          new String[] {PolicySystem.COMPACT, PolicySystem.FAST, PolicySystem.AUTO_UNBOUND}) {
        assertThat(free)
            .as("%s, seed %d, against %s", workload, seed, policy)
            .isLessThanOrEqualTo(figures.get(policy).objective() + 1e-9);
      }
    }
  }

  /** In a small world a stripe mixes too much: this one has the size of the comparison. */
  @Test
  void theAdversaryMakesTheThresholdConvert() throws IOException {
    FailureDraws failures = FailureDraws.draw(DAYS * 24, 1);
    Traffic traffic =
        new TrafficSource(TrafficSource.FILES, DAYS, Optional.empty()).make("flap", 1, failures);
    assertThat(PolicySystemRun.of(PolicySystem.THRESHOLD, traffic, failures).conversions())
        .isGreaterThan(0.5);
  }
}
