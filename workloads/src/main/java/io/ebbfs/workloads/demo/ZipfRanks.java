package io.ebbfs.workloads.demo;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Ranks drawn with probability proportional to 1 / (rank + 1)^exponent. Immutable. */
final class ZipfRanks {
  private final double[] cumulative;

  ZipfRanks(int ranks, double exponent) {
    cumulative = new double[ranks];
    double sum = 0;
    for (int i = 0; i < ranks; i++) {
      sum += Math.pow(i + 1, -exponent);
      cumulative[i] = sum;
    }
  }

  int next(RandomGenerator random) {
    double drawn = random.nextDouble() * cumulative[cumulative.length - 1];
    int found = Arrays.binarySearch(cumulative, drawn);
    return Math.min(found >= 0 ? found : -found - 1, cumulative.length - 1);
  }
}
