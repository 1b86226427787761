package io.ebbfs.coding.reliability;

import io.ebbfs.coding.ErasureCode;

/**
 * Mean time to data loss of one stripe: a Markov chain over the number of lost blocks, as in the
 * reliability analysis of HACFS (FAST'15, after Greenan, Plank and Wylie, HotStorage'10). Blocks
 * fail independently; a repair brings back one block at a time. Rates are per year. Immutable.
 *
 * @param failuresPerBlockYear how often a block is lost
 * @param firstRepairsPerYear rate of the repair while one block is lost: it is read at leisure
 * @param laterRepairsPerYear rate of each repair while more are lost
 */
public record MarkovModel(
    double failuresPerBlockYear, double firstRepairsPerYear, double laterRepairsPerYear) {
  /** The paper's rates: a repair after the first takes 30 minutes. */
  public static final MarkovModel HACFS = new MarkovModel(0.2, 9838, 2 * 24 * 365.0);

  /** Mean time to data loss of a stripe in years. */
  public double meanTimeToLossYears(ErasureCode code) {
    return meanTimeToLossYears(code.size(), FatalShares.of(code).fatalAfter());
  }

  /** As above for copies of one block. */
  public double meanTimeToLossYearsOfReplicas(int copies) {
    double[] fatalAfter = new double[copies];
    fatalAfter[copies - 1] = 1;
    return meanTimeToLossYears(copies, fatalAfter);
  }

  /**
   * Solves the chain from the state with most losses down. In each state i the time to loss is a_i
   * + (1 - c_i) times the time of state i - 1; only positive terms are added, so that the tiny c_i
   * keep their precision.
   */
  double meanTimeToLossYears(int blocks, double[] fatalAfter) {
    double constant = 0;
    double complement = 1;
    for (int lost = fatalAfter.length - 1; lost >= 1; lost--) {
      double failure = (blocks - lost) * failuresPerBlockYear;
      double repair = lost == 1 ? firstRepairsPerYear : laterRepairsPerYear;
      double fatal = fatalAfter[lost];
      double leaving = failure * fatal + failure * (1 - fatal) * complement;
      double denominator = leaving + repair;
      constant = (1 + failure * (1 - fatal) * constant) / denominator;
      complement = leaving / denominator;
    }
    double first = blocks * failuresPerBlockYear;
    double fatal = fatalAfter[0];
    return (1 / first + (1 - fatal) * constant) / (fatal + (1 - fatal) * complement);
  }
}
