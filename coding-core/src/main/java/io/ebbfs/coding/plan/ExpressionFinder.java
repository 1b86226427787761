package io.ebbfs.coding.plan;

import io.ebbfs.coding.code.CodeParameters;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.code.ParityEquation;
import io.ebbfs.coding.gf.Gf256;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Finds how to compute blocks of a stripe from readable blocks of the same stripe, at the lowest
 * cost. It first adds up parity equations of the code. If these are not sure to contain the
 * cheapest answer, it also uses {@link BasisSearch}. Not thread-safe.
 */
final class ExpressionFinder {
  /** The most equations that are added up to avoid unreadable blocks. */
  private static final int MAX_EQUATIONS = 4;

  /** In stripes with more blocks, {@link BasisSearch} runs only if no equations serve. */
  private static final int MAX_DERIVED = 160;

  private final ErasureCode code;
  private final Set<Integer> occupied;
  private final ReadCost cost;

  ExpressionFinder(ErasureCode code, Set<Integer> occupied, ReadCost cost) {
    this.code = code;
    this.occupied = occupied;
    this.cost = cost;
  }

  /** Coefficient by readable position; empty if the readable blocks do not determine the block. */
  Optional<SortedMap<Integer, Integer>> cheapest(int wanted, Set<Integer> readable) {
    Search search = new Search(wanted, readable);
    for (ParityEquation equation : code.equations()) {
      if (equation.covers(wanted)) {
        search.extend(restricted(equation.terms()), 1);
      }
    }
    boolean exact = equationsAreShort() && costsAreEqual(readable);
    if (search.best != null && (exact || !isSmall())) {
      return Optional.of(search.best);
    }
    Optional<SortedMap<Integer, Integer>> derived =
        expressAll(Set.of(wanted), readable).map(found -> found.get(wanted));
    boolean searched =
        search.best != null && (derived.isEmpty() || search.bestCost <= costOf(derived.get()));
    return searched ? Optional.of(search.best) : derived;
  }

  /** Whether the stripe is small enough for a {@link BasisSearch} of some milliseconds. */
  boolean isSmall() {
    return occupied.size() <= MAX_DERIVED;
  }

  /** False for a user's code: combinations of its parity rows may be shorter than the rows. */
  private boolean equationsAreShort() {
    return !(code.parameters() instanceof CodeParameters.General);
  }

  private boolean costsAreEqual(Set<Integer> readable) {
    return readable.stream().mapToInt(cost::of).distinct().limit(2).count() < 2;
  }

  /**
   * How to compute several blocks from the same reads. A block that can be computed from cheap
   * blocks alone is computed from cheap blocks, unless fewer expensive blocks cost less in sum.
   *
   * @return by wanted position: coefficient by readable position; empty if the readable blocks do
   *     not determine all wanted blocks
   */
  Optional<SortedMap<Integer, SortedMap<Integer, Integer>>> expressAll(
      Set<Integer> wanted, Set<Integer> readable) {
    int[] data = occupied.stream().filter(p -> p < code.dataCount()).mapToInt(p -> p).toArray();
    SortedMap<BlockRef, byte[]> from = new TreeMap<>();
    readable.forEach(p -> from.put(RepairPlanner.ref(p), vector(p, data)));
    SortedMap<BlockRef, byte[]> to = new TreeMap<>();
    wanted.forEach(p -> to.put(RepairPlanner.ref(p), vector(p, data)));
    Comparator<BlockRef> cheapFirst = Comparator.comparingInt(ref -> cost.of(ref.position()));
    List<BlockRef> dataFirst = from.keySet().stream().sorted(cheapFirst).toList();
    List<BlockRef> paritiesFirst =
        from.keySet().stream().sorted(Comparator.reverseOrder()).sorted(cheapFirst).toList();
    return new BasisSearch(from, to, ref -> cost.of(ref.position()))
        .cheapest(List.of(dataFirst, paritiesFirst))
        .map(
            found -> {
              SortedMap<Integer, SortedMap<Integer, Integer>> byPosition = new TreeMap<>();
              found
                  .expressions()
                  .forEach((ref, terms) -> byPosition.put(ref.position(), positions(terms)));
              return byPosition;
            });
  }

  private byte[] vector(int position, int[] data) {
    byte[] vector = new byte[data.length];
    for (int i = 0; i < data.length; i++) {
      vector[i] = (byte) code.generator().get(position, data[i]);
    }
    return vector;
  }

  private static SortedMap<Integer, Integer> positions(SortedMap<BlockRef, Integer> terms) {
    SortedMap<Integer, Integer> positions = new TreeMap<>();
    terms.forEach((ref, coefficient) -> positions.put(ref.position(), coefficient));
    return positions;
  }

  long costOf(SortedMap<Integer, Integer> expression) {
    long sum = 0;
    for (int position : expression.keySet()) {
      sum += cost.of(position);
    }
    return sum;
  }

  /** The terms without virtual zeros. */
  private SortedMap<Integer, Integer> restricted(SortedMap<Integer, Integer> terms) {
    SortedMap<Integer, Integer> restricted = new TreeMap<>(terms);
    restricted.keySet().retainAll(occupied);
    return restricted;
  }

  /** Adds up equations until the wanted block is the only unreadable block in the sum. */
  private final class Search {
    private final int wanted;
    private final Set<Integer> readable;
    private SortedMap<Integer, Integer> best;
    private long bestCost = Long.MAX_VALUE;

    Search(int wanted, Set<Integer> readable) {
      this.wanted = wanted;
      this.readable = readable;
    }

    void extend(SortedMap<Integer, Integer> terms, int equations) {
      int unreadable = firstUnreadable(terms);
      if (unreadable < 0) {
        consider(terms);
        return;
      }
      if (equations == MAX_EQUATIONS) {
        return;
      }
      for (ParityEquation equation : code.equations()) {
        if (equation.covers(unreadable)) {
          SortedMap<Integer, Integer> sum = cancel(terms, unreadable, equation);
          if (sum.containsKey(wanted)) {
            extend(sum, equations + 1);
          }
        }
      }
    }

    private int firstUnreadable(SortedMap<Integer, Integer> terms) {
      for (int position : terms.keySet()) {
        if (position != wanted && !readable.contains(position)) {
          return position;
        }
      }
      return -1;
    }

    private SortedMap<Integer, Integer> cancel(
        SortedMap<Integer, Integer> terms, int position, ParityEquation equation) {
      int factor = Gf256.divide(terms.get(position), equation.terms().get(position));
      SortedMap<Integer, Integer> sum = new TreeMap<>(terms);
      restricted(equation.terms()).forEach((p, c) -> addTerm(sum, p, Gf256.multiply(c, factor)));
      return sum;
    }

    private void consider(SortedMap<Integer, Integer> terms) {
      SortedMap<Integer, Integer> solved = new ParityEquation(terms).solvedFor(wanted);
      long solvedCost = costOf(solved);
      if (solvedCost < bestCost) {
        bestCost = solvedCost;
        best = solved;
      }
    }
  }

  /** Adds coefficient * key to a linear combination, and removes a term that becomes zero. */
  static <K> void addTerm(SortedMap<K, Integer> terms, K key, int coefficient) {
    int sum = terms.getOrDefault(key, 0) ^ coefficient;
    if (sum == 0) {
      terms.remove(key);
    } else {
      terms.put(key, sum);
    }
  }
}
