package io.ebbfs.coding;

import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which block of a stripe is wrong when some of its parities do not agree with the data, although
 * every block agrees with its own checksums. Each parity and the data that it covers are an
 * equation; data that is wrong breaks every equation that covers it, all XOR equations by the same
 * {@linkplain Crc32cAlgebra#difference difference}; a parity that is wrong breaks its own alone.
 * Pure functions; thread safe.
 */
public final class ParityAudit {
  private ParityAudit() {}

  /**
   * What was found of one equation.
   *
   * @param holds whether the parity is what the data makes it
   * @param difference of an XOR equation that does not hold; null of another
   */
  public record Check(boolean holds, Integer difference) {
    public static final Check HOLDS = new Check(true, null);
    public static final Check FAILS = new Check(false, null);

    /** Of an XOR equation: the difference over a length that is the same for all of a stripe. */
    public static Check ofDifference(int difference) {
      return difference == 0 ? HOLDS : new Check(false, difference);
    }
  }

  /**
   * The culprits, all by position.
   *
   * @param wrongParities to be computed anew from the data
   * @param suspectData one of these is wrong, or several parities are wrong in the same way. The
   *     checksums that its writer gave it speak for the data: nothing can be decided from here
   */
  public record Verdict(SortedSet<Integer> wrongParities, SortedSet<Integer> suspectData) {
    public boolean clean() {
      return wrongParities.isEmpty() && suspectData.isEmpty();
    }
  }

  /** Whether a parity is the plain XOR of the data that it covers, in this stripe. */
  public static boolean isPlainXor(ErasureCode code, int parity, Collection<Integer> occupied) {
    return data(code, occupied).stream().allMatch(d -> code.generator().get(parity, d) <= 1);
  }

  /**
   * The coefficients of the equation of a parity: by data position, none is 0; virtual zeros are
   * left out.
   */
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
   * Finds the culprits by crossing equations. Data is suspect if it is covered by two checked
   * equations at least, and explains the failure of all that cover it; without a second equation
   * the parity is to blame.
   *
   * @param occupied positions of the stripe that hold a block
   * @param checks what was found, by parity; equations that could not be checked are left out
   */
  public static Verdict judge(
      ErasureCode code, Collection<Integer> occupied, Map<Integer, Check> checks) {
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
    return new Verdict(wrong, suspects);
  }

  private static Set<Integer> covering(ErasureCode code, int data, Set<Integer> parities) {
    Set<Integer> covering = new TreeSet<>(parities);
    covering.removeIf(parity -> code.generator().get(parity, data) == 0);
    return covering;
  }

  private static boolean alike(Set<Integer> parities, Map<Integer, Check> checks) {
    return parities.stream()
            .map(parity -> checks.get(parity).difference())
            .filter(difference -> difference != null)
            .distinct()
            .count()
        <= 1;
  }
}
