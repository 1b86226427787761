package io.ebbfs.namespace.simulation;

import io.ebbfs.coding.Gf256;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a block holds: nonzero coefficients by the id of the data block. Immutable.
 *
 * @param terms coefficient 1..255 by data block
 */
record Content(Map<Long, Integer> terms) {
  static final Content ZERO = new Content(Map.of());

  /** A data block as its client wrote it. */
  static Content of(long dataBlockId) {
    return new Content(Map.of(dataBlockId, 1));
  }

  /** Something that no code explains. */
  static Content garbage() {
    return new Content(Map.of(-1L, 1));
  }

  Content plus(int coefficient, Content other) {
    Map<Long, Integer> sum = new TreeMap<>(terms);
    other.terms.forEach(
        (id, c) -> {
          int term = sum.getOrDefault(id, 0) ^ Gf256.multiply(coefficient, c);
          if (term == 0) {
            sum.remove(id);
          } else {
            sum.put(id, term);
          }
        });
    return new Content(sum);
  }
}
