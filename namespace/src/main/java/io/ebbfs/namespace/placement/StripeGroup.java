package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import java.util.List;
import java.util.SortedMap;

/**
 * Stripes that are placed as one because they may merge later; a group of one otherwise.
 *
 * @param code the code of every stripe
 * @param stripes by slot of the group: the block at each data position that has one; no slot is
 *     empty
 * @param merges whether its stripes may merge into one of a compact code later
 */
public record StripeGroup(
    ErasureCode code, List<SortedMap<Integer, StripeBlock>> stripes, boolean merges) {
  /** Stripes that merge if their code has a compact one. */
  public StripeGroup(ErasureCode code, List<SortedMap<Integer, StripeBlock>> stripes) {
    this(code, stripes, true);
  }

  /** Bytes of the longest block. */
  public long unitLengthBytes() {
    return stripes.stream()
        .flatMap(stripe -> stripe.values().stream())
        .mapToLong(StripeBlock::lengthBytes)
        .max()
        .orElse(0);
  }
}
