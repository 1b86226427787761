package io.ebbfs.coding.reliability;

import java.util.Collection;
import java.util.Random;
import java.util.SortedSet;

/** Decides what the repairs of a {@link ClusterSimulation} rebuild, and how long they take. */
public interface RepairModel {
  /**
   * One repair of a stripe.
   *
   * @param positions that it rebuilds
   * @param years how long it takes
   * @param bytes that it reads and writes
   */
  record Repair(Collection<Integer> positions, double years, double bytes) {}

  /** The next repair of a stripe that has lost these positions. */
  Repair next(SortedSet<Integer> lost, Random random);

  /** Whether a repair under way starts again when its stripe loses another block. */
  boolean restartsAfterLoss();
}
