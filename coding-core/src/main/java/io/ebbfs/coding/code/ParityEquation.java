package io.ebbfs.coding.code;

import io.ebbfs.coding.gf.Gf256;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A parity check equation: the sum of coefficient * block over its positions is zero. Example: in
 * PC(2x5) the five data blocks of a row and the parity of the row add up to zero. Immutable.
 *
 * @param terms coefficient (1..255) by position
 */
public record ParityEquation(SortedMap<Integer, Integer> terms) {
  /** The equation of a row of a parity check matrix. */
  static ParityEquation of(byte[] row) {
    SortedMap<Integer, Integer> terms = new TreeMap<>();
    for (int p = 0; p < row.length; p++) {
      if (row[p] != 0) {
        terms.put(p, row[p] & 0xff);
      }
    }
    return new ParityEquation(terms);
  }

  public boolean covers(int position) {
    return terms.containsKey(position);
  }

  /** The block at a covered position as a linear combination of the other covered blocks. */
  public SortedMap<Integer, Integer> solvedFor(int position) {
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
