package io.ebbfs.coding;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A parity check: the sum of coefficient * block over its positions is zero.
 *
 * @param terms coefficient (1..255) by position
 */
record Equation(SortedMap<Integer, Integer> terms) {
  /** From a row of a parity check matrix. */
  static Equation of(byte[] row) {
    SortedMap<Integer, Integer> terms = new TreeMap<>();
    for (int p = 0; p < row.length; p++) {
      if (row[p] != 0) {
        terms.put(p, row[p] & 0xff);
      }
    }
    return new Equation(terms);
  }

  boolean covers(int position) {
    return terms.containsKey(position);
  }

  /** What a position is by this equation: coefficients of the others. It must be covered. */
  SortedMap<Integer, Integer> solvedFor(int position) {
    int inverse = Gf256.inverse(terms.get(position));
    SortedMap<Integer, Integer> solved = new TreeMap<>();
    for (Map.Entry<Integer, Integer> term : terms.entrySet()) {
      if (term.getKey() != position) {
        solved.put(term.getKey(), Gf256.multiply(term.getValue(), inverse));
      }
    }
    return solved;
  }
}
