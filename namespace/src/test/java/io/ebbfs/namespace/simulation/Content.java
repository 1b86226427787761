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

  /** Adds up multiples of contents. */
  static final class Sum {
    private final Map<Long, Integer> terms = new TreeMap<>();

    Sum add(int coefficient, Content content) {
      if (coefficient != 0) {
        content.terms.forEach((id, c) -> add(Gf256.multiply(coefficient, c), id));
      }
      return this;
    }

    private void add(int coefficient, long id) {
      int term = terms.getOrDefault(id, 0) ^ coefficient;
      if (term == 0) {
        terms.remove(id);
      } else {
        terms.put(id, term);
      }
    }

    Content content() {
      return new Content(terms);
    }
  }
}
