package io.ebbfs.manager.economics;

/**
 * How often blocks are not there. A cluster begins with published rates, which count as much as
 * {@link #PRIOR_DAYS} days of its own. Immutable.
 *
 * @param observedDays days that the cluster was watched
 * @param lostSum share of all blocks that were rebuilt in that time: 0.02 if one in fifty was
 * @param unavailableDays the share of blocks that was not there, times the days for which it was
 */
public record FailureRates(double observedDays, double lostSum, double unavailableDays) {
  /** Nothing was observed yet. */
  public static final FailureRates PRIOR = new FailureRates(0, 0, 0);

  /** The weight of the prior. A cluster without any loss halves the rates after so many days. */
  static final double PRIOR_DAYS = 30;

  /**
   * From 0.1 to 1% of the blocks a day were rebuilt in a Facebook cluster of several PB (HotStorage
   * 2013): the geometric mean.
   */
  static final double PRIOR_LOST_PER_DAY = 0.003;

  /** Most unavailability ends within 15 minutes without a loss, so that it adds as much again. */
  static final double PRIOR_UNAVAILABLE = 0.003;

  /** Older observations count less: a year at most is remembered. */
  private static final double MOST_DAYS = 365;

  /** The share of all blocks that is lost and rebuilt in a day. */
  public double lostPerDay() {
    return (PRIOR_LOST_PER_DAY * PRIOR_DAYS + lostSum) / (PRIOR_DAYS + observedDays);
  }

  /** The share of the time in which a block cannot be read. */
  public double unavailable() {
    return (PRIOR_UNAVAILABLE * PRIOR_DAYS + unavailableDays) / (PRIOR_DAYS + observedDays);
  }

  /**
   * Adds what was seen for some time.
   *
   * @param days the length of the time
   * @param lostShare the share of all blocks that was rebuilt in it
   * @param unavailableShare the share of all blocks that was not there
   */
  public FailureRates plus(double days, double lostShare, double unavailableShare) {
    FailureRates sum =
        new FailureRates(
            observedDays + days, lostSum + lostShare, unavailableDays + unavailableShare * days);
    double factor = Math.min(1, MOST_DAYS / Math.max(1e-9, sum.observedDays));
    return new FailureRates(
        sum.observedDays * factor, sum.lostSum * factor, sum.unavailableDays * factor);
  }
}
