package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.CannotPlanException;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Maps the stripes of a conversion, and their members, to the stripes that come out of it. The
 * attempt planner and the commit both use it, so that they agree. Pure.
 */
public final class ConversionMapper {
  private ConversionMapper() {}

  /** The largest number of stripes before or after one conversion. */
  public static final int MAX_STRIPES = 16;

  /** How many stripes of a code are converted together into stripes of another code. */
  public static int sourcesTogether(CodeRegistry codes, String fromCode, String toCode) {
    return Planner.stripes(codes.byName(fromCode), codes.byName(toCode))
        .map(counts -> counts[0])
        .orElse(1);
  }

  /**
   * The stripes by the slot that each takes in the merge. Stripes of one group keep the slots for
   * which the placement chose their disks; other stripes take slots in the order given.
   */
  public static SortedMap<Integer, StripeRow> bySlot(
      CodeRegistry codes, List<StripeRow> stripes, String toCode) {
    int together = sourcesTogether(codes, stripes.get(0).getCode(), toCode);
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
   * The conversion of these stripes to a code.
   *
   * @param sources by slot
   */
  public static Conversion of(CodeRegistry codes, Map<Integer, StripeRow> sources, ErasureCode to)
      throws NotPlannableException {
    try {
      ErasureCode from = codes.byName(sources.values().iterator().next().getCode());
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

  /** The subtraction of the tombstones of a stripe from its parities. */
  public static Conversion subtraction(CodeRegistry codes, StripeRow stripe)
      throws NotPlannableException {
    return subtraction(codes, stripe, Set.of());
  }

  /**
   * The subtraction of the tombstones of a stripe, and of the blocks that leave it, from its
   * parities.
   *
   * @param leaving positions of data
   */
  public static Conversion subtraction(CodeRegistry codes, StripeRow stripe, Set<Integer> leaving)
      throws NotPlannableException {
    List<Integer> dead =
        stripe.getMembersList().stream()
            .filter(m -> m.getTombstone() || leaving.contains(m.getPosition()))
            .map(StripeMemberProto::getPosition)
            .toList();
    try {
      return Planner.subtract(codes.byName(stripe.getCode()), positions(stripe), dead);
    } catch (CannotPlanException e) {
      throw NotPlannableException.ever(e.getMessage());
    }
  }

  private static List<Integer> positions(StripeRow row) {
    return row.getMembersList().stream().map(StripeMemberProto::getPosition).toList();
  }

  /** The old stripe to which an input or a block that stays belongs. */
  public static <S> S source(Map<Integer, S> sources, BlockRef ref) {
    return sources.get(ref.stripe());
  }

  /** How many new stripes there are at most; some of them may be empty. */
  static int resultCount(Conversion conversion) {
    int last = 0;
    for (Conversion.Kept kept : conversion.kept()) {
      last = Math.max(last, kept.after().stripe());
    }
    return last + 1;
  }

  /**
   * By place in the new stripes: the members that stay, as the rows of their old stripes have them.
   */
  public static Map<BlockRef, StripeMemberProto> keptMembers(
      Conversion conversion, Map<Integer, StripeRow> sources) {
    Map<BlockRef, StripeMemberProto> kept = new TreeMap<>();
    for (Conversion.Kept block : conversion.kept()) {
      member(source(sources, block.before()), block.before().position())
          .ifPresent(member -> kept.put(block.after(), member));
    }
    return kept;
  }

  /** The member of a stripe at a position. */
  public static Optional<StripeMemberProto> member(StripeRow row, int position) {
    return row.getMembersList().stream().filter(m -> m.getPosition() == position).findFirst();
  }
}
