package io.ebbfs.coding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds the checks of what was written into a stripe: as many independent parity checks of its code
 * as there are written blocks, so that together they hold only if every written block is right.
 * Those that are plain sums are proven by checksums; the others by decoding known blocks back. The
 * cheapest are taken, and before them those with members that the written blocks were not computed
 * from. Pure functions.
 */
public final class CheckPlanner {
  private final ErasureCode code;
  private final Set<Integer> occupied;
  private final Set<Integer> present;
  private final List<Integer> written;
  private final Set<Integer> available;
  private final Echelon chosenRank;
  private final List<Equation> chosen = new ArrayList<>();

  private CheckPlanner(
      ErasureCode code, Set<Integer> occupied, Set<Integer> written, Set<Integer> unavailable) {
    this.code = code;
    this.occupied = new TreeSet<>(occupied);
    this.present = new TreeSet<>(occupied);
    present.removeIf(p -> !code.position(p).isData());
    this.written = List.copyOf(new TreeSet<>(written));
    this.available = new TreeSet<>(occupied);
    available.removeAll(unavailable);
    this.chosenRank = new Echelon();
    if (!available.containsAll(written)) {
      throw new IllegalArgumentException(
          "%s: positions %s were written, of which %s has no block"
              .formatted(code, written, available));
    }
  }

  /**
   * The checks of the written positions.
   *
   * @param occupied the positions of the stripe that hold a block
   * @param written what was written; everything else is taken for right
   * @param unavailable occupied positions that cannot be read
   * @param derivedFrom the positions that the written ones were computed from
   * @throws CannotPlanException if the written blocks do not follow from the others
   */
  public static List<StripeCheck> plan(
      ErasureCode code,
      Set<Integer> occupied,
      Set<Integer> written,
      Set<Integer> unavailable,
      Set<Integer> derivedFrom) {
    CheckPlanner planner = new CheckPlanner(code, occupied, written, unavailable);
    planner.choose(derivedFrom);
    return planner.checks();
  }

  // ---- which parity checks ---------------------------------------------------------------------

  private void choose(Set<Integer> derivedFrom) {
    List<Equation> candidates = parityEquations();
    Set<Integer> known = new TreeSet<>(derivedFrom);
    known.addAll(written);
    candidates.sort(
        Comparator.comparing((Equation e) -> !isSum(e))
            .thenComparing(e -> known.containsAll(e.terms().keySet()))
            .thenComparing(e -> e.terms().size()));
    candidates.forEach(this::consider);
    for (int position : written) {
      if (chosen.size() < written.size()) {
        consider(expressed(position));
      }
    }
    if (chosen.size() < written.size()) {
      throw new CannotPlanException(
          "%s: the written positions %s do not follow from %s: they cannot be checked"
              .formatted(code, written, stored()));
    }
  }

  /** Every parity with the data that it covers, as far as all of it can be read. */
  private List<Equation> parityEquations() {
    List<Equation> equations = new ArrayList<>();
    for (int p : available) {
      if (code.position(p).isParity()) {
        SortedMap<Integer, Integer> terms = new TreeMap<>();
        terms.put(p, 1);
        for (int d : present) {
          if (code.generator().get(p, d) != 0) {
            terms.put(d, code.generator().get(p, d));
          }
        }
        Equation equation = new Equation(terms);
        if (available.containsAll(terms.keySet())
            && (isSum(equation) || !written.containsAll(terms.keySet()))) {
          equations.add(equation);
        }
      }
    }
    return equations;
  }

  /** A written position in terms of those that were not. */
  private Equation expressed(int position) {
    Optional<SortedMap<Integer, Integer>> found =
        new Expressions(code, occupied, ReadCost.UNIFORM).cheapest(position, stored());
    SortedMap<Integer, Integer> terms = new TreeMap<>(found.orElse(new TreeMap<>()));
    if (!terms.isEmpty()) {
      terms.put(position, 1);
    }
    return new Equation(terms);
  }

  private Set<Integer> stored() {
    Set<Integer> stored = new TreeSet<>(available);
    written.forEach(stored::remove);
    return stored;
  }

  /** Takes it if it says something of the written blocks that the others do not. */
  private void consider(Equation equation) {
    if (chosenRank.add(columns(equation, written))) {
      chosen.add(equation);
    }
  }

  private static byte[] columns(Equation equation, Collection<Integer> positions) {
    byte[] row = new byte[positions.size()];
    int column = 0;
    for (int position : positions) {
      row[column++] = (byte) equation.terms().getOrDefault(position, 0).intValue();
    }
    return row;
  }

  private static boolean isSum(Equation equation) {
    return equation.terms().values().stream().allMatch(c -> c == 1);
  }

  private Set<Integer> writtenIn(Equation equation) {
    Set<Integer> in = new TreeSet<>(written);
    in.retainAll(equation.terms().keySet());
    return in;
  }

  // ---- how they are checked --------------------------------------------------------------------

  private List<StripeCheck> checks() {
    List<StripeCheck> checks = new ArrayList<>();
    List<Equation> others = new ArrayList<>();
    for (Equation equation : chosen) {
      if (isSum(equation)) {
        checks.add(
            new StripeCheck.Xor(writtenIn(equation), new TreeSet<>(equation.terms().keySet())));
      } else {
        others.add(equation);
      }
    }
    while (!others.isEmpty()) {
      checks.add(decode(others));
    }
    return checks;
  }

  /**
   * One combine for as many of the equations as determine a stored block each; they are taken out.
   */
  private StripeCheck decode(List<Equation> equations) {
    List<Integer> candidates = new ArrayList<>(stored());
    candidates.sort(Comparator.comparing(p -> code.position(p).isParity()));
    Echelon rank = new Echelon();
    List<Equation> together = new ArrayList<>();
    for (Equation equation : List.copyOf(equations)) {
      if (rank.add(columns(equation, candidates))) {
        together.add(equation);
        equations.remove(equation);
      }
    }
    if (together.isEmpty()) {
      throw new CannotPlanException(
          "%s: nothing that was stored before shows whether the written positions %s are right"
              .formatted(code, written));
    }
    List<Integer> known = rank.pivots().stream().map(candidates::get).toList();
    CombinePlan plan = CombinePlan.of(solvedFor(known, together));
    SymbolicCheck.verify(code, occupied, plan);
    Set<Integer> checked = new TreeSet<>();
    together.forEach(equation -> checked.addAll(writtenIn(equation)));
    return new StripeCheck.Decode(checked, plan);
  }

  /** The known positions by all the others of the equations. */
  private static SortedMap<BlockRef, SortedMap<BlockRef, Integer>> solvedFor(
      List<Integer> known, List<Equation> equations) {
    List<byte[]> rows = new ArrayList<>();
    equations.forEach(equation -> rows.add(columns(equation, known)));
    GfMatrix inverse = GfMatrix.ofRows(rows, known.size()).invert().orElseThrow();
    SortedMap<BlockRef, SortedMap<BlockRef, Integer>> solved = new TreeMap<>();
    for (int k = 0; k < known.size(); k++) {
      SortedMap<BlockRef, Integer> expression = new TreeMap<>();
      for (int e = 0; e < equations.size(); e++) {
        int factor = inverse.get(k, e);
        if (factor != 0) {
          for (Map.Entry<Integer, Integer> term : equations.get(e).terms().entrySet()) {
            if (!known.contains(term.getKey())) {
              Expressions.addTerm(
                  expression,
                  RepairPlanner.ref(term.getKey()),
                  Gf256.multiply(term.getValue(), factor));
            }
          }
        }
      }
      solved.put(RepairPlanner.ref(known.get(k)), expression);
    }
    return solved;
  }

  /** Rows in echelon form; tells whether one more is independent of them. */
  private static final class Echelon {
    private final List<byte[]> rows = new ArrayList<>();
    private final List<Integer> pivots = new ArrayList<>();

    boolean add(byte[] row) {
      byte[] rest = Arrays.copyOf(row, row.length);
      for (int r = 0; r < rows.size(); r++) {
        Gf256.addMultiple(rest, rest[pivots.get(r)] & 0xff, rows.get(r));
      }
      for (int c = 0; c < rest.length; c++) {
        if (rest[c] != 0) {
          int inverse = Gf256.inverse(rest[c] & 0xff);
          for (int i = 0; i < rest.length; i++) {
            rest[i] = (byte) Gf256.multiply(rest[i] & 0xff, inverse);
          }
          rows.add(rest);
          pivots.add(c);
          return true;
        }
      }
      return false;
    }

    List<Integer> pivots() {
      return pivots;
    }
  }
}
