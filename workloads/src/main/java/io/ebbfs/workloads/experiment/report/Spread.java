package io.ebbfs.workloads.experiment.report;

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
public record Spread(double median, double low, double high, int count) {
  /** Of these values; null if there are none. */
  static Spread of(Collection<Double> values) {
    if (values.isEmpty()) {
      return null;
    }
    List<Double> sorted = values.stream().sorted().toList();
    return new Spread(
        Percentiles.at(sorted, 0.5), sorted.get(0), sorted.get(sorted.size() - 1), sorted.size());
  }

  /** By how much this median is lower than the other one: 0.25 for a quarter; null without both. */
  static Double lowerBy(Spread own, Spread other) {
    return own == null || other == null || other.median == 0 ? null : 1 - own.median / other.median;
  }
}
