package io.ebbfs.coding;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Finds the cheapest way to compute blocks of a stripe from blocks that can be read. */
final class Expressions {
  /** How many equations may be added up to get around unreadable blocks. */
  private static final int MAX_EQUATIONS = 4;

  /** In larger stripes than this only the equations of the code are searched, where they do. */
  private static final int MAX_DERIVED = 160;

  private final ErasureCode code;
  private final Set<Integer> occupied;
  private final ReadCost cost;

  Expressions(ErasureCode code, Set<Integer> occupied, ReadCost cost) {
    this.code = code;
    this.occupied = occupied;
    this.cost = cost;
  }

  /** Coefficient by readable position; empty if the block is not determined by what is readable. */
  Optional<SortedMap<Integer, Integer>> cheapest(int wanted, Set<Integer> readable) {
    Search search = new Search(wanted, readable);
    for (Equation equation : code.equations()) {
      if (equation.covers(wanted)) {
        search.extend(restricted(equation.terms()), 1);
      }
    }
    boolean exact = equationsAreShort() && costsAreEqual(readable);
    if (search.best != null && (exact || !isSmall())) {
      return Optional.of(search.best);
    }
    Optional<SortedMap<Integer, Integer>> derived =
        derive(Set.of(wanted), readable).map(found -> found.get(wanted));
    boolean searched =
        search.best != null && (derived.isEmpty() || search.bestCost <= costOf(derived.get()));
    return searched ? Optional.of(search.best) : derived;
  }

  /** Whether the stripe is small enough to derive in some milliseconds. */
  boolean isSmall() {
    return occupied.size() <= MAX_DERIVED;
  }

  /** Of a user's code there may be shorter equations than its parity rows. */
  private boolean equationsAreShort() {
    return !(code.shape() instanceof Shape.General);
  }

  private boolean costsAreEqual(Set<Integer> readable) {
    return readable.stream().mapToInt(cost::of).distinct().limit(2).count() < 2;
  }

  /**
   * All these blocks from the same reads, which together cost little; empty if they do not follow.
   * Whatever follows from cheap blocks alone is computed from those, however many they are, unless
   * dearer ones cost less in sum.
   */
  Optional<SortedMap<Integer, SortedMap<Integer, Integer>>> derive(
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
    return new Derivation(from, to, ref -> cost.of(ref.position()))
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

  /** Without the virtual zeros. */
  private SortedMap<Integer, Integer> restricted(SortedMap<Integer, Integer> terms) {
    SortedMap<Integer, Integer> restricted = new TreeMap<>(terms);
    restricted.keySet().retainAll(occupied);
    return restricted;
  }

  /** Adds equations up until no unreadable block is left besides the wanted one. */
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
      for (Equation equation : code.equations()) {
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
        SortedMap<Integer, Integer> terms, int position, Equation equation) {
      int factor = Gf256.divide(terms.get(position), equation.terms().get(position));
      SortedMap<Integer, Integer> sum = new TreeMap<>(terms);
      restricted(equation.terms()).forEach((p, c) -> addTerm(sum, p, Gf256.multiply(c, factor)));
      return sum;
    }

    private void consider(SortedMap<Integer, Integer> terms) {
      SortedMap<Integer, Integer> solved = new Equation(terms).solvedFor(wanted);
      long solvedCost = costOf(solved);
      if (solvedCost < bestCost) {
        bestCost = solvedCost;
        best = solved;
      }
    }
  }

  /** Adds coefficient * key to a linear combination; a term that vanishes is removed. */
  static <K> void addTerm(SortedMap<K, Integer> terms, K key, int coefficient) {
    int sum = terms.getOrDefault(key, 0) ^ coefficient;
    if (sum == 0) {
      terms.remove(key);
    } else {
      terms.put(key, sum);
    }
  }
}
