package io.ebbfs.namenode.placement;

import io.ebbfs.coding.code.ErasureCode;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Stripes that are placed together because they may merge into one compact stripe later. A stripe
 * that cannot merge is a group of one.
 *
 * @param code the code of every stripe
 * @param stripes by slot: the block at each occupied data position; no slot is empty
 * @param mergesInto the compact code of the stripe that these stripes may become later; empty if
 *     they keep their code
 */
public record StripeGroup(
    ErasureCode code,
    List<SortedMap<Integer, StripeBlock>> stripes,
    Optional<ErasureCode> mergesInto) {
  /** Bytes of the longest block. */
  public long unitLengthBytes() {
    return stripes.stream()
        .flatMap(stripe -> stripe.values().stream())
        .mapToLong(StripeBlock::lengthBytes)
        .max()
        .orElse(0);
  }
}
