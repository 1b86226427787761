package io.ebbfs.manager.economics;

import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.StripeView;

/**
 * Measures the failure rates of a cluster from one snapshot to the next. One thread observes; any
 * may ask for the rates.
 *
 * <p>Time without snapshots, and time in which nothing is encoded, does not count.
 */
public final class FailureMeter {
  private static final double MILLIS_PER_DAY = 86_400_000;

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
    long positions = 0;
    long absent = 0;
    for (StripeView stripe : now.stripes().values()) {
      positions += stripe.members().size();
      absent += stripe.lostPositions().size();
    }
    if (hasBefore && positions > 0) {
      long millis = now.nowMillis() - beforeMillis;
      long rebuilt = now.repairedBlocks() - beforeRepaired;
      if (millis > 0 && millis <= MOST_MILLIS && rebuilt >= 0) {
        rates =
            rates.plus(
                millis / MILLIS_PER_DAY, (double) rebuilt / positions, (double) absent / positions);
      }
    }
    hasBefore = true;
    beforeMillis = now.nowMillis();
    beforeRepaired = now.repairedBlocks();
    return rates;
  }
}
