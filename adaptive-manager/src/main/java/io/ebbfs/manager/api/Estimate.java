package io.ebbfs.manager.api;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A figure of all data, from batches of a sample.
 *
 * @param value of all data
 * @param margin in 95 of 100 samples, the true value is at most this far away; 0 if nothing was
 *     estimated
 */
record Estimate(double value, double margin) {
  /** Of Student's distribution with nine degrees of freedom, two-sided, 95%. */
  private static final double STUDENT_OF_TEN = 2.262;

  /** A sum over all data: the batches are a share of it. */
  static <T> Estimate sum(List<T> batches, ToDoubleFunction<T> figure, double share) {
    Estimate mean = mean(batches, figure);
    double factor = batches.size() / share;
    return new Estimate(mean.value * factor, mean.margin * factor);
  }

  /** A figure that is the same for a part as for the whole, such as an overhead. */
  static <T> Estimate mean(List<T> batches, ToDoubleFunction<T> figure) {
    int count = batches.size();
    double mean = batches.stream().mapToDouble(figure).sum() / count;
    if (count == 1) {
      return new Estimate(mean, 0);
    }
    double squares =
        batches.stream().mapToDouble(b -> Math.pow(figure.applyAsDouble(b) - mean, 2)).sum();
    return new Estimate(mean, STUDENT_OF_TEN * Math.sqrt(squares / (count - 1) / count));
  }
}
