package io.ebbfs.verify.policy;

import java.util.Arrays;
import java.util.Random;

/**
 * The failures of each hour, drawn once for all systems.
 *
 * @param lost the share of all blocks that is lost in the hour and rebuilt
 * @param absent the share of all blocks that cannot be read, on average over the hour
 */
record FailureDraws(double[] lost, double[] absent) {
  /** Mean share of the blocks that is lost in a day; published rates are 0.1 to 1%. */
  static final double LOST_PER_DAY = 0.003;

  /** Mean share of the blocks that cannot be read. */
  static final double ABSENT = 0.003;

  private static final int SERVERS = 40;
  private static final double OUTAGE_HOURS = 0.25;
  private static final double BURST_SHARE = 0.1;

  static FailureDraws draw(int hours, long seed) {
    return draw(hours, seed, LOST_PER_DAY, ABSENT);
  }

  /**
   * Deaths and outages of single servers, and bursts that take a tenth of the blocks away for an
   * hour. Single outages and bursts each make half of the absence.
   */
  static FailureDraws draw(int hours, long seed, double lostPerDay, double absentShare) {
    Random random = new Random(seed * 31 + 17);
    double[] lost = new double[hours];
    double[] absent = new double[hours];
    for (int hour = 0; hour < hours; hour++) {
      lost[hour] = Draws.poisson(lostPerDay / 24 * SERVERS, random) / (double) SERVERS;
      int outages = Draws.poisson(absentShare / 2 * SERVERS / OUTAGE_HOURS, random);
      boolean burst = random.nextDouble() < absentShare / 2 / BURST_SHARE;
      absent[hour] = Math.min(1, outages * OUTAGE_HOURS / SERVERS + (burst ? BURST_SHARE : 0));
    }
    return new FailureDraws(lost, absent);
  }

  /** The same shares in each hour. */
  static FailureDraws steady(int hours, double lostPerDay, double absentShare) {
    double[] lost = new double[hours];
    double[] absent = new double[hours];
    Arrays.fill(lost, lostPerDay / 24);
    Arrays.fill(absent, absentShare);
    return new FailureDraws(lost, absent);
  }

  int hours() {
    return lost.length;
  }
}
