package io.ebbfs.coding.checksum;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds which blocks of a stripe are wrong if parities do not agree with the data, although every
 * block agrees with its own checksums. Each parity and the data that it covers form an equation. A
 * wrong data block breaks every equation that covers it, and all XOR equations by the same
 * {@linkplain Crc32cAlgebra#difference difference}. A wrong parity breaks only its own equation.
 * Example: if one row and one column of PC(6x5) fail by the same difference, the data block where
 * they cross is suspect. Pure and thread safe.
 */
public final class WrongBlockFinder {
  private WrongBlockFinder() {}

  /**
   * The result of checking one equation.
   *
   * @param holds whether the parity agrees with the data
   * @param difference of an XOR equation that fails; null for any other equation
   */
  public record EquationResult(boolean holds, Integer difference) {
    public static final EquationResult HOLDS = new EquationResult(true, null);
    public static final EquationResult FAILS = new EquationResult(false, null);

    /** The result of an XOR equation. All differences of a stripe are over the same length. */
    public static EquationResult ofDifference(int difference) {
      return difference == 0 ? HOLDS : new EquationResult(false, difference);
    }
  }

  /**
   * The blocks that are or may be wrong, by position.
   *
   * @param wrongParities parities that have to be computed again from the data
   * @param suspectData one of these data blocks is wrong, or several parities are wrong in the same
   *     way. The equations cannot tell which, and the checksums of the writer agree with the data
   */
  public record WrongBlocks(SortedSet<Integer> wrongParities, SortedSet<Integer> suspectData) {
    public boolean clean() {
      return wrongParities.isEmpty() && suspectData.isEmpty();
    }
  }

  /** Whether a parity is the plain XOR of the data that it covers, in this stripe. */
  public static boolean isPlainXor(ErasureCode code, int parity, Collection<Integer> occupied) {
    return data(code, occupied).stream().allMatch(d -> code.generator().get(parity, d) <= 1);
  }

  /** The equation of a parity: nonzero coefficient by data position, without virtual zeros. */
  public static SortedMap<Integer, Integer> equation(
      ErasureCode code, int parity, Collection<Integer> occupied) {
    if (!code.position(parity).isParity()) {
      throw new IllegalArgumentException(code + ": position " + parity + " is no parity");
    }
    SortedMap<Integer, Integer> equation = new TreeMap<>();
    for (int d : data(code, occupied)) {
      if (code.generator().get(parity, d) != 0) {
        equation.put(d, code.generator().get(parity, d));
      }
    }
    return equation;
  }

  private static SortedSet<Integer> data(ErasureCode code, Collection<Integer> occupied) {
    SortedSet<Integer> data = new TreeSet<>(occupied);
    data.removeIf(position -> code.position(position).isParity());
    return data;
  }

  /**
   * Finds the wrong blocks by crossing equations. A data block is suspect if at least two checked
   * equations cover it and all of them fail alike. A failed equation without a suspect data block
   * means that its parity is wrong.
   *
   * @param occupied positions of the stripe that hold a block
   * @param checks the result of each checked equation, by parity
   */
  public static WrongBlocks find(
      ErasureCode code, Collection<Integer> occupied, Map<Integer, EquationResult> checks) {
    SortedSet<Integer> wrong = new TreeSet<>();
    checks.forEach(
        (parity, check) -> {
          if (!check.holds()) {
            wrong.add(parity);
          }
        });
    SortedSet<Integer> suspects = new TreeSet<>();
    Set<Integer> explained = new HashSet<>();
    if (wrong.size() > 1) {
      for (int d : data(code, occupied)) {
        Set<Integer> covering = covering(code, d, checks.keySet());
        if (covering.size() > 1 && wrong.containsAll(covering) && alike(covering, checks)) {
          suspects.add(d);
          explained.addAll(covering);
        }
      }
    }
    wrong.removeAll(explained);
    return new WrongBlocks(wrong, suspects);
  }

  private static Set<Integer> covering(ErasureCode code, int data, Set<Integer> parities) {
    Set<Integer> covering = new TreeSet<>(parities);
    covering.removeIf(parity -> code.generator().get(parity, data) == 0);
    return covering;
  }

  private static boolean alike(Set<Integer> parities, Map<Integer, EquationResult> checks) {
    return parities.stream()
            .map(parity -> checks.get(parity).difference())
            .filter(difference -> difference != null)
            .distinct()
            .count()
        <= 1;
  }
}
