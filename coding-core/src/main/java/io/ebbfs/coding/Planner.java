package io.ebbfs.coding;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans everything that is computed from blocks of stripes. Pure functions; every plan has passed
 * {@link SymbolicCheck} when it is returned. "Occupied" are the positions of a stripe that hold a
 * block, lost or not; the others are virtual zeros. What cannot be done ends with a {@link
 * CannotPlanException} that says why.
 */
public final class Planner {
  private static final ConversionPlanner.Cache CONVERSIONS = new ConversionPlanner.Cache();

  private Planner() {}

  /**
   * The parities of a new stripe: each present data block is read once. Parities over virtual zeros
   * alone are not written.
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
    SymbolicCheck.verify(code, occupied, plan);
    return plan;
  }

  /**
   * Rebuilds lost blocks. The plans are run in order; one may read what an earlier one has written.
   *
   * @param occupied the positions of the stripe that hold a block, the lost ones included
   * @param lost the positions to rebuild
   * @param unavailable positions that cannot be read now and are not to be rebuilt
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
   * One block computed from others, for a degraded read: one output, the wanted position.
   *
   * @param occupied the positions of the stripe that hold a block, the wanted one included
   * @param unreadable positions that cannot be read; the wanted one is among them or not
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
   * Makes one compact stripe of the fast stripes of a group, as {@link #convert} does.
   *
   * @param occupied the positions that hold a block, by slot of the group; slots may be empty or
   *     missing at the end. Only data positions are looked at: the parities follow from them
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
   * Makes the fast stripes of a group of one compact stripe, as {@link #convert} does.
   *
   * @param occupied the positions that hold a block. Only data positions are looked at
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
   * Makes stripes of one code of stripes of another, with the fewest reads that the two generator
   * matrices allow as far as a search finds them; data stays in its order. If one code has m times
   * the data of the other, m stripes become one or one becomes m.
   *
   * @param occupied the positions that hold a block, by stripe; stripes may be empty or missing at
   *     the end. Only data positions are looked at: the parities follow from them
   * @param unavailable blocks of these stripes that cannot be read; they may stay as they are, and
   *     other combinations are sought where one would have to be read
   */
  public static Conversion convert(
      ErasureCode from,
      ErasureCode to,
      List<? extends Collection<Integer>> occupied,
      Set<BlockRef> unavailable) {
    return CONVERSIONS.plan(from, to, occupied, unavailable);
  }

  /**
   * How many full stripes a conversion is about: of these it makes those.
   *
   * @return the number of stripes of {@code from}, then of {@code to}, one of them 1; empty if
   *     neither data count is a multiple of the other
   */
  public static Optional<int[]> stripes(ErasureCode from, ErasureCode to) {
    return ConversionPlanner.stripes(from, to);
  }
}
