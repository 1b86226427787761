package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.Set;
import java.util.TreeSet;

/**
 * The order in which transitions run; a lower number is earlier. Repairs come first, ordered by
 * risk; then conversions, encodings and releases, then what frees the space of deleted data because
 * a storage bound needs it, then re-placements, then the other rewrites. Pure.
 */
public final class TransitionPriority {
  /** A rewrite of a stripe whose live data has no protection left: before every repair. */
  public static final int RESCUE = 0;

  private static final int CONVERSIONS = 1_000_000;

  /** A rewrite or a subtraction that a storage bound needs. */
  public static final int FOR_BOUND = CodingProtocol.PRIORITY_FOR_BOUND;

  private static final int MOVES = 1_500_000;
  private static final int REWRITES = 2_000_000;
  private static final int PER_MARGIN = 1_000;
  private static final int NO_DATA_LOST = 100;
  private static final int COLD = 10;

  private TransitionPriority() {}

  /** The priority of a transition that is no repair. */
  public static int of(TransitionKindProto kind) {
    return switch (kind) {
      case DOWNCODE -> CONVERSIONS;
      case ENCODE -> CONVERSIONS + 1;
      case UPCODE, RELEASE -> CONVERSIONS + 2;
      case SUBTRACT -> FOR_BOUND;
      case MOVE -> MOVES;
      case REWRITE -> REWRITES;
      case REPAIR -> throw new IllegalArgumentException("a repair's priority follows its risk");
    };
  }

  /** Whether a transition with this priority rebuilds or saves what the next failure would lose. */
  public static boolean isUrgent(int priority) {
    return priority < PER_MARGIN;
  }

  /** Whether a transition with this priority is a repair, or as urgent as one. */
  public static boolean isRepair(int priority) {
    return priority < CONVERSIONS;
  }

  /**
   * The priority of a repair. First come stripes that survive the fewest further losses, then
   * stripes with lost live data, then stripes in a fast code.
   *
   * <p>Example in RS(6,3), which is a fast code: a stripe with three lost parities survives no
   * further loss and gets priority 100; a stripe with one lost data block survives two further
   * losses and gets priority 2000.
   */
  public static int ofRepair(CodeRegistry codes, StripeState stripe, Set<Integer> lost) {
    boolean dataLost =
        lost.stream().anyMatch(p -> StripeState.isLiveData(stripe.code(), stripe.members().get(p)));
    return margin(stripe.code(), stripe.occupied(), lost) * PER_MARGIN
        + (dataLost ? 0 : NO_DATA_LOST)
        + (codes.mergesInto(stripe.code()).isPresent() ? 0 : COLD);
  }

  /**
   * How many further losses the stripe survives, whichever blocks they hit. The answer is exact for
   * 0 and 1. Above it is what the tolerance of the code promises, which may be too low.
   */
  private static int margin(ErasureCode code, Set<Integer> occupied, Set<Integer> lost) {
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
