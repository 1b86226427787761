package io.ebbfs.coding.reliability;

import java.util.List;
import java.util.Random;
import java.util.SortedSet;

/**
 * Repairs as in {@link MarkovModel}: one block at a time, in exponentially distributed times.
 *
 * @param firstPerYear rate of the repair while one block is lost
 * @param laterPerYear rate of the next repair while more blocks are lost
 */
public record ExponentialRepairs(double firstPerYear, double laterPerYear) implements RepairModel {
  @Override
  public Repair next(SortedSet<Integer> lost, Random random) {
    int position = List.copyOf(lost).get(random.nextInt(lost.size()));
    double rate = lost.size() == 1 ? firstPerYear : laterPerYear;
    return new Repair(List.of(position), -Math.log(1 - random.nextDouble()) / rate, 0);
  }

  @Override
  public boolean restartsAfterLoss() {
    return true;
  }
}
