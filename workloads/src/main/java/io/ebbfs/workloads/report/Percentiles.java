package io.ebbfs.workloads.report;

import java.util.Collection;
import java.util.List;

/**
 * The distribution of some values.
 *
 * @param count how many
 * @param p95 the value that 95 of 100 do not exceed
 */
record Percentiles(int count, double median, double p95, double p99, double max) {
  /** The distribution of some values; null if there are none. */
  static Percentiles of(Collection<Double> values) {
    if (values.isEmpty()) {
      return null;
    }
    List<Double> sorted = values.stream().sorted().toList();
    return new Percentiles(
        sorted.size(),
        at(sorted, 0.5),
        at(sorted, 0.95),
        at(sorted, 0.99),
        sorted.get(sorted.size() - 1));
  }

  /** The quantile of sorted values, interpolated between neighbours. */
  static double at(List<Double> sorted, double quantile) {
    double place = quantile * (sorted.size() - 1);
    int below = (int) place;
    int above = Math.min(below + 1, sorted.size() - 1);
    return sorted.get(below) + (place - below) * (sorted.get(above) - sorted.get(below));
  }
}
