package io.ebbfs.namespace.transition;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.CannotPlanException;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.Conversion;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What planning and committing a conversion have in common. Pure. */
final class Conversions {
  private Conversions() {}

  /** The place of a stripe in its group. */
  static int slot(StripeRow stripe) {
    return stripe.getGroupSlot();
  }

  /**
   * The conversion of these stripes.
   *
   * @param sources by slot; for a downcode the one stripe, whatever its slot
   */
  static Conversion of(TransitionRow row, Map<Integer, StripeRow> sources, ErasureCode to)
      throws NotPlannableException {
    try {
      StripeRow any = sources.values().iterator().next();
      ErasureCode from = Codes.byName(any.getCode());
      if (row.getKind() == TransitionKindProto.UPCODE) {
        int slots = sources.keySet().stream().max(Integer::compare).orElse(0) + 1;
        List<List<Integer>> occupied = new ArrayList<>();
        for (int slot = 0; slot < slots; slot++) {
          occupied.add(sources.containsKey(slot) ? positions(sources.get(slot)) : List.of());
        }
        return Planner.upcode(from, to, occupied, Set.of());
      }
      return Planner.downcode(from, to, positions(any), Set.of());
    } catch (CannotPlanException e) {
      throw NotPlannableException.ever(e.getMessage());
    }
  }

  private static List<Integer> positions(StripeRow row) {
    return row.getMembersList().stream().map(StripeMemberProto::getPosition).toList();
  }

  /** The source stripe of an input or of a block that stays. */
  static <S> S source(Map<Integer, S> sources, BlockRef ref) {
    S source = sources.get(ref.stripe());
    // The one compact stripe of a downcode is stripe 0 of the plan.
    return source != null ? source : sources.values().iterator().next();
  }

  /** How many resulting stripes there may be; some of them may be empty. */
  static int resultCount(Conversion conversion) {
    int last = 0;
    for (Conversion.Kept kept : conversion.kept()) {
      last = Math.max(last, kept.after().stripe());
    }
    return last + 1;
  }

  /** By place in the resulting stripes: the members that stay, as their old stripes know them. */
  static Map<BlockRef, StripeMemberProto> keptMembers(
      Conversion conversion, Map<Integer, StripeRow> sources) {
    Map<BlockRef, StripeMemberProto> kept = new TreeMap<>();
    for (Conversion.Kept block : conversion.kept()) {
      member(source(sources, block.before()), block.before().position())
          .ifPresent(member -> kept.put(block.after(), member));
    }
    return kept;
  }

  static java.util.Optional<StripeMemberProto> member(StripeRow row, int position) {
    return row.getMembersList().stream().filter(m -> m.getPosition() == position).findFirst();
  }
}
