package io.ebbfs.workloads.report;

import java.util.Collection;
import java.util.List;

/**
 * A quantity over repetitions.
 *
 * @param median of them
 * @param low the lowest
 * @param high the highest
 * @param count how many
 */
record Spread(double median, double low, double high, int count) {
  /** The spread of some values; null if there are none. */
  static Spread of(Collection<Double> values) {
    if (values.isEmpty()) {
      return null;
    }
    List<Double> sorted = values.stream().sorted().toList();
    return new Spread(
        Percentiles.at(sorted, 0.5), sorted.get(0), sorted.get(sorted.size() - 1), sorted.size());
  }

  /** The share by which one median is lower than another: 0.25 for a quarter; null without both. */
  static Double lowerBy(Spread own, Spread other) {
    return own == null || other == null || other.median == 0 ? null : 1 - own.median / other.median;
  }

  /**
   * Whether a goal lies between the gains of the worst and the best repetition, each against the
   * median of the other system; false without both.
   */
  static boolean atTheEdge(Spread own, Spread other, double goal) {
    if (own == null || other == null || other.median == 0) {
      return false;
    }
    double worst = 1 - own.high / other.median;
    double best = 1 - own.low / other.median;
    return worst < goal && goal <= best;
  }
}
