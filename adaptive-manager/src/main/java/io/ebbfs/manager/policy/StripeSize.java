package io.ebbfs.manager.policy;

import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.ErasureCode;
import java.util.Map;
import java.util.TreeMap;

/**
 * Parity bytes that stripes need, from the generator matrix: a parity that covers only virtual
 * zeros is not stored.
 */
final class StripeSize {
  private static final double MARGIN = 0.1;

  private StripeSize() {}

  /** Parity bytes of one stripe with these data lengths by position, each as long as it must be. */
  static long parityBytes(ErasureCode code, Map<Integer, Long> lengths) {
    long bytes = 0;
    for (int position = code.dataCount(); position < code.size(); position++) {
      bytes += code.lengthBytes(position, data -> lengths.getOrDefault(data, 0L));
    }
    return bytes;
  }

  /**
   * Parity bytes to reckon with before a stripe is arranged: blocks of different lengths may come
   * to stand otherwise than here, so a part of what that could cost at most is added.
   */
  static long reckonedParityBytes(ErasureCode code, Map<Integer, Long> lengths) {
    long exact = parityBytes(code, lengths);
    long unit = lengths.values().stream().mapToLong(Long::longValue).max().orElse(0);
    long most = unit * (code.occupied(lengths.keySet()).size() - lengths.size());
    return exact + (long) ((most - exact) * MARGIN);
  }

  /** Parity bytes of the data of a compact stripe, as the fast stripes that it would become. */
  static long fastParityBytes(CodeFamily family, Map<Integer, Long> compactLengths) {
    ErasureCode fast = family.fastCode();
    Map<Integer, Map<Integer, Long>> slots = new TreeMap<>();
    compactLengths.forEach(
        (position, length) ->
            slots
                .computeIfAbsent(position / fast.dataCount(), slot -> new TreeMap<>())
                .put(position % fast.dataCount(), length));
    return slots.values().stream().mapToLong(slot -> parityBytes(fast, slot)).sum();
  }

  /** The data lengths of a stripe by position, tombstones included: parities cover them too. */
  static Map<Integer, Long> dataLengths(StripeView stripe, int dataCount) {
    Map<Integer, Long> lengths = new TreeMap<>();
    for (StripeView.Member member : stripe.members()) {
      if (member.position() < dataCount) {
        lengths.put(member.position(), member.lengthBytes());
      }
    }
    return lengths;
  }
}
