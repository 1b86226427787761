package io.ebbfs.manager.bound;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackedStripe;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Estimates how many parity bytes a conversion between two codes of a family adds or saves. Most
 * stripes are full of blocks of one length, so the forecast remembers its estimates. Not
 * thread-safe.
 */
public final class ConversionForecast {
  /** Estimates that are remembered; stripes of many lengths would fill the memory. */
  private static final int MOST_KNOWN = 1_000;

  private final CodeFamily family;
  private final Map<Map<Integer, Long>, ParityBytes> known = new HashMap<>();

  /** The parities of the same data in either code. */
  private record ParityBytes(double compact, double fast) {}

  public ConversionForecast(CodeFamily family) {
    this.family = family;
  }

  /**
   * How many parity bytes a conversion of these stripes adds; negative if it saves. The parity
   * bytes of now are exact. The conversion changes them by the same factor as the estimates for
   * either code.
   *
   * @return 0 for a single code, and for stripes that do not fit into one compact stripe
   */
  public double parityDelta(TransitionKindProto kind, Collection<StripeView> stripes) {
    if (family.isSingle()) {
      return 0;
    }
    ErasureCode compact = family.compactCode();
    Map<Integer, Long> merged = mergedDataLengths(stripes);
    boolean fits = merged.keySet().stream().allMatch(p -> p < compact.dataCount());
    if (!fits || merged.isEmpty()) {
      return 0;
    }
    long now = stripes.stream().mapToLong(StripeView::parityBytes).sum();
    ParityBytes as = parityBytes(merged);
    return switch (kind) {
      case UPCODE -> as.fast == 0 ? 0 : now * (as.compact / as.fast - 1);
      case DOWNCODE -> as.compact == 0 ? 0 : now * (as.fast / as.compact - 1);
      default -> 0;
    };
  }

  private ParityBytes parityBytes(Map<Integer, Long> merged) {
    ParityBytes before = known.get(merged);
    if (before != null) {
      return before;
    }
    double compact = PackedStripe.of(family.compactCode(), merged).parityBytes();
    ParityBytes found = new ParityBytes(compact, fastParityBytes(merged));
    if (known.size() < MOST_KNOWN) {
      known.put(merged, found);
    }
    return found;
  }

  /** The data lengths by their position in the compact stripe. */
  private Map<Integer, Long> mergedDataLengths(Collection<StripeView> stripes) {
    ErasureCode fast = family.fastCode();
    Map<Integer, Long> merged = new HashMap<>();
    for (StripeView stripe : stripes) {
      boolean isFast = stripe.code().equals(fast.name());
      int offset = isFast ? stripe.groupSlot() * fast.dataCount() : 0;
      int dataCount = isFast ? fast.dataCount() : family.compactCode().dataCount();
      stripe
          .dataLengths(dataCount)
          .forEach((position, length) -> merged.put(offset + position, length));
    }
    return merged;
  }

  /** The parity bytes of the fast stripes that a compact stripe with these lengths becomes. */
  private long fastParityBytes(Map<Integer, Long> compactLengths) {
    ErasureCode fast = family.fastCode();
    Map<Integer, Map<Integer, Long>> slots = new TreeMap<>();
    compactLengths.forEach(
        (position, length) ->
            slots
                .computeIfAbsent(position / fast.dataCount(), slot -> new TreeMap<>())
                .put(position % fast.dataCount(), length));
    return slots.values().stream()
        .mapToLong(slot -> PackedStripe.of(fast, slot).parityBytes())
        .sum();
  }
}
