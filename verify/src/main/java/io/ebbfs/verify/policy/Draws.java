package io.ebbfs.verify.policy;

import java.util.Random;

/** Random numbers of known distributions. */
final class Draws {
  private static final double LARGE = 50;

  private Draws() {}

  /** A Poisson number; by a normal one if the mean is large. */
  static int poisson(double mean, Random random) {
    if (mean > LARGE) {
      return Math.max(0, (int) Math.round(mean + Math.sqrt(mean) * random.nextGaussian()));
    }
    double limit = Math.exp(-mean);
    int count = 0;
    for (double p = random.nextDouble(); p > limit; p *= random.nextDouble()) {
      count++;
    }
    return count;
  }
}
