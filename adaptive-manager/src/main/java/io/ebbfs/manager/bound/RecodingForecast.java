package io.ebbfs.manager.bound;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.StripePacker;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Estimates how many stored bytes change when stripes come to a code that their policy did not name
 * when they were encoded. Thread-safe.
 */
public final class RecodingForecast {
  private final CodeRegistry codes;

  public RecodingForecast(CodeRegistry codes) {
    this.codes = codes;
  }

  /** Whether the two codes are the fast and the compact code of a known pair. */
  public boolean isPair(String fast, String compact) {
    return pair(fast, compact).isPresent();
  }

  private Optional<CodeFamily> pair(String fast, String compact) {
    return codes.families().stream()
        .filter(family -> family.fast().equals(fast) && family.compact().equals(compact))
        .findFirst();
  }

  /**
   * Stored bytes that a transition of these stripes adds; negative if it saves some. A rewrite
   * leaves out deleted data; its estimate is exact but for blocks that the placement exchanges, of
   * which it takes the worst.
   *
   * @param stripes of one code, which is not the target
   */
  public double storedDelta(
      TransitionKindProto kind, Collection<StripeView> stripes, ErasureCode target) {
    if (stripes.isEmpty()) {
      return 0;
    }
    String from = stripes.iterator().next().code();
    return switch (kind) {
      case UPCODE -> parityDelta(kind, pair(from, target.name()), stripes);
      case DOWNCODE -> parityDelta(kind, pair(target.name(), from), stripes);
      default -> rewriteDelta(stripes, target);
    };
  }

  private static double parityDelta(
      TransitionKindProto kind, Optional<CodeFamily> pair, Collection<StripeView> stripes) {
    return pair.map(family -> new ConversionForecast(family).parityDelta(kind, stripes))
        .orElse(0.0);
  }

  private double rewriteDelta(Collection<StripeView> stripes, ErasureCode target) {
    List<Long> lengths = new ArrayList<>();
    long before = 0;
    for (StripeView stripe : stripes) {
      liveData(stripe).forEach(member -> lengths.add(member.lengthBytes()));
      before += stripe.deadBytes() + stripe.parityBytes();
    }
    return StripePacker.mostParityBytes(StripePacker.pack(target, lengths)).stream()
            .mapToLong(Long::longValue)
            .sum()
        - before;
  }

  /** Blocks of a stripe that a rewrite encodes again. */
  public int liveBlocks(StripeView stripe) {
    return liveData(stripe).size();
  }

  private static List<StripeView.Member> liveData(StripeView stripe) {
    return stripe.members().stream().filter(member -> member.isOwnedByFile(stripe.id())).toList();
  }
}
