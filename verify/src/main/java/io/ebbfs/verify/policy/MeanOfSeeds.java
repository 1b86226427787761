package io.ebbfs.verify.policy;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A mean over seeds, and the half width of its 95% confidence interval (Student's t).
 *
 * @param half 0 for one seed, which tells nothing about the spread
 */
record MeanOfSeeds(double mean, double half) {
  private static final double[] STUDENT = {
    0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093
  };
  private static final double MANY = 1.96;

  static MeanOfSeeds of(List<Ledger.Figures> seeds, ToDoubleFunction<Ledger.Figures> figure) {
    return of(seeds.stream().map(figure::applyAsDouble).toList());
  }

  static MeanOfSeeds of(List<Double> seeds) {
    int n = seeds.size();
    double mean = seeds.stream().mapToDouble(v -> v).average().orElse(0);
    double squares = seeds.stream().mapToDouble(v -> (v - mean) * (v - mean)).sum();
    if (n < 2) {
      return new MeanOfSeeds(mean, 0);
    }
    double student = n - 1 < STUDENT.length ? STUDENT[n - 1] : MANY;
    return new MeanOfSeeds(mean, student * Math.sqrt(squares / (n - 1) / n));
  }
}
