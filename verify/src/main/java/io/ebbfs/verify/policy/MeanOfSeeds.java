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
    0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262
  };
  private static final double MANY = 1.96;

  static MeanOfSeeds of(List<Ledger.Figures> seeds, ToDoubleFunction<Ledger.Figures> figure) {
    int n = seeds.size();
    double mean = seeds.stream().mapToDouble(figure).average().orElse(0);
    double squares = seeds.stream().mapToDouble(figure).map(v -> (v - mean) * (v - mean)).sum();
    if (n < 2) {
      return new MeanOfSeeds(mean, 0);
    }
    double student = n - 1 < STUDENT.length ? STUDENT[n - 1] : MANY;
    return new MeanOfSeeds(mean, student * Math.sqrt(squares / (n - 1) / n));
  }
}
