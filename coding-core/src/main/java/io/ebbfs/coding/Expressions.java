package io.ebbfs.coding;

import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Finds the cheapest way to compute one block of a stripe from blocks that can be read. */
final class Expressions {
  /** How many equations may be added up to get around unreadable blocks. */
  private static final int MAX_EQUATIONS = 4;

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
    return search.best != null ? Optional.of(search.best) : solve(wanted, readable);
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

  /** Some parity check that has the wanted block and no other unreadable one; any cost. */
  private Optional<SortedMap<Integer, Integer>> solve(int wanted, Set<Integer> readable) {
    java.util.List<byte[]> constraints = new java.util.ArrayList<>();
    constraints.add(code.checkColumn(wanted));
    for (int p : occupied) {
      if (p != wanted && !readable.contains(p)) {
        constraints.add(code.checkColumn(p));
      }
    }
    byte[] right = new byte[constraints.size()];
    right[0] = 1;
    return GfMatrix.ofRows(constraints, code.parityCount())
        .solve(right)
        .map(weights -> checkOf(weights).solvedFor(wanted));
  }

  private Equation checkOf(byte[] weights) {
    SortedMap<Integer, Integer> terms = new TreeMap<>();
    for (int p : occupied) {
      byte[] column = code.checkColumn(p);
      int sum = 0;
      for (int j = 0; j < column.length; j++) {
        sum ^= Gf256.multiply(weights[j] & 0xff, column[j] & 0xff);
      }
      if (sum != 0) {
        terms.put(p, sum);
      }
    }
    return new Equation(terms);
  }
}
