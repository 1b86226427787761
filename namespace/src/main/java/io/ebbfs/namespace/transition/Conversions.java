package io.ebbfs.namespace.transition;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.CannotPlanException;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.Conversion;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** What planning and committing a conversion have in common. Pure. */
final class Conversions {
  private Conversions() {}

  /** Most stripes that one conversion is about, before or after it. */
  static final int MAX_STRIPES = 16;

  /** How many stripes of a code are converted together, to become one of another. */
  static int sourcesTogether(String fromCode, String toCode) {
    return Planner.stripes(Codes.byName(fromCode), Codes.byName(toCode))
        .map(counts -> counts[0])
        .orElse(1);
  }

  /**
   * Stripes in the order in which they are merged: that of their group, so that the blocks come to
   * be where the placement wanted them; stripes of no group as they are given.
   */
  static SortedMap<Integer, StripeRow> bySlot(List<StripeRow> stripes, String toCode) {
    int together = sourcesTogether(stripes.get(0).getCode(), toCode);
    SortedMap<Integer, StripeRow> bySlot = new TreeMap<>();
    boolean oneGroup =
        stripes.get(0).hasGroupId()
            && stripes.stream().map(StripeRow::getGroupId).distinct().count() == 1;
    for (int i = 0; i < stripes.size(); i++) {
      bySlot.put(oneGroup ? stripes.get(i).getGroupSlot() % together : i, stripes.get(i));
    }
    return bySlot;
  }

  /**
   * The conversion of these stripes.
   *
   * @param sources by slot
   */
  static Conversion of(Map<Integer, StripeRow> sources, ErasureCode to)
      throws NotPlannableException {
    try {
      ErasureCode from = Codes.byName(sources.values().iterator().next().getCode());
      int slots = sources.keySet().stream().max(Integer::compare).orElse(0) + 1;
      List<List<Integer>> occupied = new ArrayList<>();
      for (int slot = 0; slot < slots; slot++) {
        occupied.add(sources.containsKey(slot) ? positions(sources.get(slot)) : List.of());
      }
      return Planner.convert(from, to, occupied, Set.of());
    } catch (CannotPlanException e) {
      throw NotPlannableException.ever(e.getMessage());
    }
  }

  private static List<Integer> positions(StripeRow row) {
    return row.getMembersList().stream().map(StripeMemberProto::getPosition).toList();
  }

  /** The source stripe of an input or of a block that stays. */
  static <S> S source(Map<Integer, S> sources, BlockRef ref) {
    return sources.get(ref.stripe());
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
