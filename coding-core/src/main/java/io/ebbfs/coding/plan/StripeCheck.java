package io.ebbfs.coding.plan;

import java.util.Set;
import java.util.SortedSet;

/**
 * A condition that the blocks of a stripe satisfy if the written blocks are right. It follows from
 * the generator matrix alone, so it does not repeat a mistake of the plan that wrote the blocks.
 */
public sealed interface StripeCheck {
  /** The written positions that this check covers. */
  Set<Integer> written();

  /**
   * The blocks at these positions add up to zero. Their checksums prove it.
   *
   * @param positions all positions of the sum, the written positions included
   */
  record Xor(Set<Integer> written, SortedSet<Integer> positions) implements StripeCheck {}

  /**
   * The combine that writes these positions checks them in memory, see {@link CombineCheck}.
   * Nothing is read for the check.
   */
  record InCombine(Set<Integer> written) implements StripeCheck {}

  /**
   * Blocks that were stored before can be computed from the written blocks.
   *
   * @param plan its outputs are positions that were not written; the computed bytes must equal the
   *     stored bytes
   */
  record Decode(Set<Integer> written, CombinePlan plan) implements StripeCheck {}
}
