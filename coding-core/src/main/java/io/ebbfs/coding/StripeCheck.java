package io.ebbfs.coding;

import java.util.Set;
import java.util.SortedSet;

/**
 * What must hold of the blocks of one stripe after some of them were written. It follows from the
 * generator matrix alone, so that it does not repeat a mistake of the plan that wrote them.
 */
public sealed interface StripeCheck {
  /** The written positions that this one says something about. */
  Set<Integer> written();

  /**
   * The blocks at these positions add up to zeros: their checksums prove it.
   *
   * @param positions all of them, the written ones included
   */
  record Xor(Set<Integer> written, SortedSet<Integer> positions) implements StripeCheck {}

  /**
   * Known blocks follow from the written ones.
   *
   * @param plan its outputs are positions that were not written; what it computes must be what is
   *     stored there
   */
  record Decode(Set<Integer> written, CombinePlan plan) implements StripeCheck {}
}
