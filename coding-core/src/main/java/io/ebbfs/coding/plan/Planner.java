package io.ebbfs.coding.plan;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans every computation on blocks of stripes: encoding, repair, degraded reads and conversions.
 * {@link PlanVerifier} has verified each plan that is returned. The occupied positions of a stripe
 * hold a block, lost or not; the other positions are virtual zeros. Every method throws a {@link
 * CannotPlanException} with the reason if there is no plan. Pure and thread safe.
 */
public final class Planner {
  private static final ConversionPlanner.Cache CONVERSIONS = new ConversionPlanner.Cache();

  private Planner() {}

  /**
   * Computes the parities of a new stripe. It reads each present data block once, and does not
   * write parities over virtual zeros alone.
   *
   * @param presentData the data positions that hold a block, at least one
   */
  public static CombinePlan encode(ErasureCode code, Collection<Integer> presentData) {
    if (presentData.isEmpty()) {
      throw new CannotPlanException(code + ": a stripe without data has no parities to write");
    }
    Set<Integer> occupied = code.occupied(presentData);
    SortedMap<BlockRef, SortedMap<BlockRef, Integer>> outputs = new TreeMap<>();
    for (int p : occupied) {
      if (code.position(p).isParity()) {
        SortedMap<BlockRef, Integer> expression = new TreeMap<>();
        for (int d : presentData) {
          if (code.generator().get(p, d) != 0) {
            expression.put(RepairPlanner.ref(d), code.generator().get(p, d));
          }
        }
        outputs.put(RepairPlanner.ref(p), expression);
      }
    }
    CombinePlan plan = CombinePlan.of(outputs);
    PlanVerifier.verify(code, occupied, plan);
    return plan;
  }

  /**
   * Rebuilds lost blocks. The plans run in order; a plan may read blocks that an earlier plan
   * wrote.
   *
   * @param occupied the positions of the stripe that hold a block, the lost ones included
   * @param lost the positions to rebuild
   * @param unavailable positions that cannot be read now and are not rebuilt
   */
  public static List<CombinePlan> repair(
      ErasureCode code,
      Set<Integer> occupied,
      Set<Integer> lost,
      Set<Integer> unavailable,
      ReadCost cost) {
    Set<Integer> rebuilt = new TreeSet<>(lost);
    rebuilt.retainAll(occupied);
    return new RepairPlanner(code, occupied, cost).plan(rebuilt, unavailable);
  }

  /**
   * Computes one block from other blocks, for a degraded read. The only output is the wanted
   * position.
   *
   * @param occupied the positions of the stripe that hold a block, the wanted one included
   * @param unreadable positions that cannot be read; the wanted position may be among them
   */
  public static CombinePlan readPlan(
      ErasureCode code, Set<Integer> occupied, Set<Integer> unreadable, int wanted, ReadCost cost) {
    if (!occupied.contains(code.position(wanted).index())) {
      throw new CannotPlanException(
          code + ": position " + wanted + " is a virtual zero; there is nothing to read");
    }
    Set<Integer> others = new HashSet<>(unreadable);
    others.remove(wanted);
    return new RepairPlanner(code, occupied, cost).plan(Set.of(wanted), others).get(0);
  }

  /**
   * Converts the fast stripes of a group to one compact stripe, as {@link #convert} does.
   *
   * @param occupied the positions that hold a block, by slot of the group; slots may be empty, and
   *     the last slots may be missing. Parity positions are ignored, because data determines them
   * @param unavailable blocks of the fast stripes that cannot be read
   */
  public static Conversion upcode(
      ErasureCode fast,
      ErasureCode compact,
      List<? extends Collection<Integer>> occupied,
      Set<BlockRef> unavailable) {
    return convert(fast, compact, occupied, unavailable);
  }

  /**
   * Converts one compact stripe to the fast stripes of a group, as {@link #convert} does.
   *
   * @param occupied the positions that hold a block; parity positions are ignored
   * @param unavailable blocks of the compact stripe (its index is 0) that cannot be read
   */
  public static Conversion downcode(
      ErasureCode compact,
      ErasureCode fast,
      Collection<Integer> occupied,
      Set<BlockRef> unavailable) {
    return convert(compact, fast, List.of(occupied), unavailable);
  }

  /**
   * Converts stripes of one code to stripes of another, with the fewest reads that a search finds.
   * Data blocks stay where they are and keep their order. If one code has m times the data of the
   * other, m stripes become one stripe, or one stripe becomes m.
   *
   * @param occupied the positions that hold a block, by stripe; stripes may be empty, and the last
   *     stripes may be missing. Parity positions are ignored, because data determines them
   * @param unavailable blocks of these stripes that cannot be read; such a block may still stay as
   *     it is, and the plan reads other blocks
   */
  public static Conversion convert(
      ErasureCode from,
      ErasureCode to,
      List<? extends Collection<Integer>> occupied,
      Set<BlockRef> unavailable) {
    return CONVERSIONS.plan(from, to, occupied, Set.of(), unavailable);
  }

  /**
   * Subtracts dead data from the parities of a stripe, which keeps its code: the dead positions are
   * virtual zeros afterwards. Parities that cover no dead data stay, and parities over virtual
   * zeros alone are dropped. The plan reads dead data and old parities, or live data where that is
   * less.
   *
   * @param occupied the positions that hold a block; parity positions are ignored
   * @param dead some of the data positions that hold a block, not all of them
   */
  public static Conversion subtract(
      ErasureCode code, Collection<Integer> occupied, Collection<Integer> dead) {
    Set<BlockRef> refs = new TreeSet<>();
    dead.forEach(position -> refs.add(RepairPlanner.ref(position)));
    return CONVERSIONS.plan(code, code, List.of(occupied), refs, Set.of());
  }

  /**
   * How many full stripes of each code a conversion has. Example: 3 and 1 for PC(2x5) to PC(6x5).
   *
   * @return the number of stripes of {@code from}, then of {@code to}, one of them 1; empty if
   *     neither data count is a multiple of the other
   */
  public static Optional<int[]> stripes(ErasureCode from, ErasureCode to) {
    return ConversionPlanner.stripes(from, to);
  }
}
