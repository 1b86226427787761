package io.ebbfs.manager.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.StripeView;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FailureMeterTest {
  private static final long HOUR = 3_600_000;

  /** Of a cluster with ten blocks. */
  private static final double WEIGHT = 0.001;

  @Test
  void theMeterCountsRebuiltAndAbsentBlocksFromOneSnapshotToTheNext() {
    FailureMeter meter = new FailureMeter(FailureRates.PRIOR);
    meter.observe(snapshot(0, 50, Set.of()));
    FailureRates rates = meter.observe(snapshot(HOUR, 53, Set.of(1, 2)));
    assertThat(rates.observedDays()).isCloseTo(1 / 24.0 * WEIGHT, within(1e-9));
    assertThat(rates.lostSum()).isCloseTo(3 / 10.0 * WEIGHT, within(1e-9));
    assertThat(rates.unavailableDays()).isCloseTo(2 / 10.0 / 24 * WEIGHT, within(1e-12));
  }

  /** A cluster that was switched off for the weekend has not lost its blocks. */
  @Test
  void aStoppedClusterDoesNotCount() {
    FailureMeter meter = new FailureMeter(FailureRates.PRIOR);
    meter.observe(snapshot(0, 50, Set.of()));
    assertThat(meter.observe(snapshot(HOUR, 50, Set.of(0, 1, 2, 3, 4, 5))))
        .isEqualTo(FailureRates.PRIOR);
  }

  @Test
  void timeThatNobodyWatchedDoesNotCount() {
    FailureMeter meter = new FailureMeter(FailureRates.PRIOR);
    meter.observe(snapshot(0, 50, Set.of()));
    meter.observe(snapshot(HOUR + 1, 60, Set.of(1)));
    assertThat(meter.observe(snapshot(HOUR, 60, Set.of(1)))).isEqualTo(FailureRates.PRIOR);
  }

  private static ClusterSnapshot snapshot(long millis, long repaired, Set<Integer> lost) {
    List<StripeView.Member> members =
        java.util.stream.IntStream.range(0, 10)
            .mapToObj(position -> new StripeView.Member(position, 1, 7, false))
            .toList();
    StripeView stripe =
        new StripeView(
            1, "RS(6,3)", "p", 1, members, 10, 0, 0, lost, 0, 0, 0, 0, Pin.NONE, Set.of());
    PolicySet none = new PolicySet(List.of());
    Map<Long, StripeView> stripes = Map.of(1L, stripe);
    return new ClusterSnapshot(
        millis,
        none,
        new ClusterSnapshot.Limits(1, 1),
        new ClusterSnapshot.Cluster(1, 1, 1, false),
        List.of(),
        stripes,
        PolicySums.of(CodeRegistry.builtIn(), none, List.of(), stripes),
        ReadCounts.NONE,
        repaired,
        lost.size(),
        Experience.NONE,
        List.of());
  }
}
