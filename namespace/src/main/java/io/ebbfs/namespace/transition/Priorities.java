package io.ebbfs.namespace.transition;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.Set;
import java.util.TreeSet;

/** What runs first: repairs by risk, then everything else. Lower is earlier. Pure. */
final class Priorities {
  /** Of a stripe that protects nothing any more. */
  static final int RESCUE = 0;

  private static final int CONVERSIONS = 1_000_000;
  private static final int MOVES = 1_500_000;
  private static final int REWRITES = 2_000_000;
  private static final int PER_MARGIN = 1_000;
  private static final int NO_DATA_LOST = 100;
  private static final int COLD = 10;

  private Priorities() {}

  static int of(TransitionKindProto kind) {
    return switch (kind) {
      case DOWNCODE -> CONVERSIONS;
      case ENCODE -> CONVERSIONS + 1;
      case UPCODE -> CONVERSIONS + 2;
      case MOVE -> MOVES;
      case REWRITE -> REWRITES;
      case REPAIR -> throw new IllegalArgumentException("a repair's priority follows its risk");
    };
  }

  /** By what the next failure would lose; then data before parities; then hot before cold. */
  static int ofRepair(StripeState stripe, Set<Integer> lost) {
    boolean dataLost =
        lost.stream().anyMatch(p -> StripeState.isLiveData(stripe.code(), stripe.members().get(p)));
    return margin(stripe.code(), stripe.occupied(), lost) * PER_MARGIN
        + (dataLost ? 0 : NO_DATA_LOST)
        + (Proposals.groupSize(stripe.code()) > 1 || isFast(stripe.code()) ? 0 : COLD);
  }

  private static boolean isFast(ErasureCode code) {
    return io.ebbfs.coding.Codes.familyOf(code.name())
        .map(family -> family.fast().equals(code.name()))
        .orElse(false);
  }

  /**
   * How many further losses the stripe survives, whichever they are: exact for 0 and 1, beyond that
   * what the tolerance of the code promises.
   */
  static int margin(ErasureCode code, Set<Integer> occupied, Set<Integer> lost) {
    if (!code.decodes(lost)) {
      return 0;
    }
    for (int position : occupied) {
      if (!lost.contains(position)) {
        Set<Integer> more = new TreeSet<>(lost);
        more.add(position);
        if (!code.decodes(more)) {
          return 0;
        }
      }
    }
    return Math.max(1, code.tolerance() - lost.size());
  }
}
