package io.ebbfs.coding.reliability;

import io.ebbfs.coding.code.ErasureCode;

/**
 * The mean time to data loss (MTTDL) of one stripe: a Markov chain over the number of lost blocks,
 * as in the reliability analysis of HACFS (FAST'15, after Greenan, Plank and Wylie, HotStorage'10).
 * Blocks fail independently, and a repair brings back one block at a time. All rates are per year.
 * Immutable.
 *
 * @param failuresPerBlockYear how often a block is lost
 * @param firstRepairsPerYear rate of the repair while one block is lost
 * @param laterRepairsPerYear rate of the next repair while more blocks are lost
 */
public record MarkovModel(
    double failuresPerBlockYear, double firstRepairsPerYear, double laterRepairsPerYear) {
  /** The rates of the HACFS paper: a repair takes 30 minutes if several blocks are lost. */
  public static final MarkovModel HACFS = new MarkovModel(0.2, 9838, 2 * 24 * 365.0);

  /** The mean time to data loss of a stripe of this code, in years. */
  public double meanTimeToLossYears(ErasureCode code) {
    return meanTimeToLossYears(code.size(), FatalShares.of(code).fatalAfter());
  }

  /** The mean time to data loss of a block with replicas, in years. */
  public double meanTimeToLossYearsOfReplicas(int copies) {
    double[] fatalAfter = new double[copies];
    fatalAfter[copies - 1] = 1;
    return meanTimeToLossYears(copies, fatalAfter);
  }

  /**
   * Solves the chain from the state with most losses down to state 1. The time from state i is
   * {@code constant + (1 - complement)} times the time from state i - 1. The sums have positive
   * terms only, so the tiny complements keep their precision.
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
