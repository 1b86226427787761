package io.ebbfs.manager.schedule;

import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.PolicySums;

/**
 * Measures the failure rates of a cluster from one snapshot to the next. One thread observes; any
 * may ask for the rates.
 *
 * <p>Time without snapshots, time in which nothing is encoded, safe mode, and time in which most
 * blocks are away, because the cluster was stopped, do not count.
 */
final class FailureMeter {
  /** The days of a cluster with fewer blocks count less: chance has more part in its rates. */
  private static final double WHOLE_WEIGHT = 10_000;

  /** After a longer pause between two snapshots nobody knows what happened in it. */
  private static final long MOST_MILLIS = 3_600_000;

  private volatile FailureRates rates;
  private boolean hasBefore;
  private long beforeMillis;
  private long beforeRepaired;

  public FailureMeter(FailureRates rates) {
    this.rates = rates;
  }

  public FailureRates rates() {
    return rates;
  }

  /** Adds the time since the last snapshot, with what was lost in it. */
  public FailureRates observe(ClusterSnapshot now) {
    long positions = now.sums().values().stream().mapToLong(PolicySums::positions).sum();
    long absent = now.lostBlocks();
    if (hasBefore && positions > 0 && !now.cluster().safeMode() && absent <= positions / 2) {
      long millis = now.nowMillis() - beforeMillis;
      long rebuilt = now.repairedBlocks() - beforeRepaired;
      if (millis > 0 && millis <= MOST_MILLIS && rebuilt >= 0) {
        double weight = Math.min(1, positions / WHOLE_WEIGHT);
        rates =
            rates.plus(
                millis / Experience.DAY * weight,
                (double) rebuilt / positions * weight,
                (double) absent / positions);
      }
    }
    hasBefore = true;
    beforeMillis = now.nowMillis();
    beforeRepaired = now.repairedBlocks();
    return rates;
  }
}
