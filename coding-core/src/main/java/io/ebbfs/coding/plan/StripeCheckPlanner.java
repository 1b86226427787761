package io.ebbfs.coding.plan;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.code.ParityEquation;
import io.ebbfs.coding.gf.Gf256;
import io.ebbfs.coding.gf.GfMatrix;
import java.util.ArrayList;
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
 * Plans how to verify the blocks that a transition has written into a stripe. It chooses as many
 * independent parity check equations of the code as there are written blocks, so that all equations
 * hold only if every written block is right. An equation that is a plain sum is verified by
 * checksums. What no sum covers is verified by the combine that writes it, if this combine can do
 * so, or else by decoding a block that was stored before.
 *
 * <p>Of the plain sums, the planner prefers those with blocks that the written blocks were not
 * computed from, then short ones. Example: a new column parity of PC(6x5) is verified by the
 * checksums of its column. Pure and thread safe.
 */
public final class StripeCheckPlanner {
  private final ErasureCode code;
  private final Set<Integer> occupied;
  private final Set<Integer> present;
  private final List<Integer> written;
  private final Set<Integer> available;
  private final RowEchelon chosenRank;
  private final List<ParityEquation> chosen = new ArrayList<>();
  private final Set<Integer> inCombines = new TreeSet<>();

  private StripeCheckPlanner(
      ErasureCode code, Set<Integer> occupied, Set<Integer> written, Set<Integer> unavailable) {
    this.code = code;
    this.occupied = new TreeSet<>(occupied);
    this.present = new TreeSet<>(occupied);
    present.removeIf(p -> !code.position(p).isData());
    this.written = List.copyOf(new TreeSet<>(written));
    this.available = new TreeSet<>(occupied);
    available.removeAll(unavailable);
    this.chosenRank = new RowEchelon();
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
   * @param written the positions that were written; all other blocks are assumed to be right
   * @param unavailable occupied positions that cannot be read
   * @param derivedFrom the positions from which the written blocks were computed
   * @param combines the written positions that the combine which writes them can check: the written
   *     positions in the equation that it checks, with their coefficients. Each equation has the
   *     position itself, and the written blocks that the combine reads
   * @throws CannotPlanException if the other blocks do not determine the written blocks
   */
  public static List<StripeCheck> plan(
      ErasureCode code,
      Set<Integer> occupied,
      Set<Integer> written,
      Set<Integer> unavailable,
      Set<Integer> derivedFrom,
      SortedMap<Integer, ParityEquation> combines) {
    StripeCheckPlanner planner = new StripeCheckPlanner(code, occupied, written, unavailable);
    planner.choose(derivedFrom, combines);
    return planner.checks();
  }

  // ---- which parity checks ---------------------------------------------------------------------

  private void choose(Set<Integer> derivedFrom, SortedMap<Integer, ParityEquation> combines) {
    List<ParityEquation> candidates = parityEquations();
    Set<Integer> known = new TreeSet<>(derivedFrom);
    known.addAll(written);
    candidates.sort(
        Comparator.comparing((ParityEquation e) -> known.containsAll(e.terms().keySet()))
            .thenComparing(e -> e.terms().size()));
    candidates.stream().filter(StripeCheckPlanner::isSum).forEach(this::consider);
    combines.forEach(
        (position, equation) -> {
          if (chosenRank.add(columns(equation, written))) {
            inCombines.add(position);
          }
        });
    candidates.stream().filter(e -> !isSum(e)).forEach(this::consider);
    for (int position : written) {
      if (isOpen()) {
        consider(expressed(position));
      }
    }
    if (isOpen()) {
      throw new CannotPlanException(
          "%s: the written positions %s do not follow from %s: they cannot be checked"
              .formatted(code, written, stored()));
    }
  }

  /** Whether the chosen equations do not yet show that every written block is right. */
  private boolean isOpen() {
    return chosen.size() + inCombines.size() < written.size();
  }

  /** The equation of each parity, if the parity and all data that it covers can be read. */
  private List<ParityEquation> parityEquations() {
    List<ParityEquation> equations = new ArrayList<>();
    for (int p : available) {
      if (code.position(p).isParity()) {
        SortedMap<Integer, Integer> terms = new TreeMap<>();
        terms.put(p, 1);
        for (int d : present) {
          if (code.generator().get(p, d) != 0) {
            terms.put(d, code.generator().get(p, d));
          }
        }
        ParityEquation equation = new ParityEquation(terms);
        if (available.containsAll(terms.keySet())
            && (isSum(equation) || !written.containsAll(terms.keySet()))) {
          equations.add(equation);
        }
      }
    }
    return equations;
  }

  /** The equation of a written position and blocks that were not written. */
  private ParityEquation expressed(int position) {
    Optional<SortedMap<Integer, Integer>> found =
        new ExpressionFinder(code, occupied, ReadCost.UNIFORM).cheapest(position, stored());
    SortedMap<Integer, Integer> terms = new TreeMap<>(found.orElse(new TreeMap<>()));
    if (!terms.isEmpty()) {
      terms.put(position, 1);
    }
    return new ParityEquation(terms);
  }

  private Set<Integer> stored() {
    Set<Integer> stored = new TreeSet<>(available);
    written.forEach(stored::remove);
    return stored;
  }

  /** Takes the equation if it is independent of the chosen ones, as to the written blocks. */
  private void consider(ParityEquation equation) {
    if (chosenRank.add(columns(equation, written))) {
      chosen.add(equation);
    }
  }

  private static byte[] columns(ParityEquation equation, Collection<Integer> positions) {
    byte[] row = new byte[positions.size()];
    int column = 0;
    for (int position : positions) {
      row[column++] = (byte) equation.terms().getOrDefault(position, 0).intValue();
    }
    return row;
  }

  private static boolean isSum(ParityEquation equation) {
    return equation.terms().values().stream().allMatch(c -> c == 1);
  }

  private Set<Integer> writtenIn(ParityEquation equation) {
    Set<Integer> in = new TreeSet<>(written);
    in.retainAll(equation.terms().keySet());
    return in;
  }

  // ---- how they are checked --------------------------------------------------------------------

  private List<StripeCheck> checks() {
    List<StripeCheck> checks = new ArrayList<>();
    if (!inCombines.isEmpty()) {
      checks.add(new StripeCheck.InCombine(inCombines));
    }
    List<ParityEquation> others = new ArrayList<>();
    for (ParityEquation equation : chosen) {
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
   * A combine that verifies as many of the equations as possible, each by decoding another stored
   * block. The method removes these equations from the list.
   */
  private StripeCheck decode(List<ParityEquation> equations) {
    List<Integer> candidates = new ArrayList<>(stored());
    candidates.sort(Comparator.comparing(p -> code.position(p).isParity()));
    RowEchelon rank = new RowEchelon();
    List<ParityEquation> together = new ArrayList<>();
    for (ParityEquation equation : List.copyOf(equations)) {
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
    PlanVerifier.verify(code, occupied, plan);
    Set<Integer> checked = new TreeSet<>();
    together.forEach(equation -> checked.addAll(writtenIn(equation)));
    return new StripeCheck.Decode(checked, plan);
  }

  /** The known positions as combinations of all the other positions of the equations. */
  private static SortedMap<BlockRef, SortedMap<BlockRef, Integer>> solvedFor(
      List<Integer> known, List<ParityEquation> equations) {
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
              ExpressionFinder.addTerm(
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
}
