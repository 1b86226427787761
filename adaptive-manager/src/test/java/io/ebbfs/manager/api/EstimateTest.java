package io.ebbfs.manager.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EstimateTest {
  @Test
  void theMarginHoldsAsOftenAsItSays() {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    int trials = 4_000;
    int within = 0;
    for (int trial = 0; trial < trials; trial++) {
      List<Double> batches = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        batches.add(50 + 7 * random.nextGaussian());
      }
      Estimate sum = Estimate.sum(batches, b -> b, 0.1);
      within += Math.abs(sum.value() - 10 * 50 / 0.1) <= sum.margin() ? 1 : 0;
    }
    assertThat((double) within / trials).as("seed %d", seed).isBetween(0.93, 0.97);
  }

  @Test
  void allDataInOneBatchIsExact() {
    assertThat(Estimate.sum(List.of(7.0), b -> b, 1)).isEqualTo(new Estimate(7, 0));
    assertThat(Estimate.mean(List.of(1.4), b -> b)).isEqualTo(new Estimate(1.4, 0));
  }
}
