package io.ebbfs.verify.simulator;

import io.ebbfs.coding.gf.Gf256;
import java.util.Map;
import java.util.TreeMap;

/**
 * The content of a simulated block: it has no bytes but the coefficients of a linear combination of
 * data blocks. Immutable.
 *
 * @param terms coefficients 1..255 by the id of the data block
 */
record BlockContent(Map<Long, Integer> terms) {
  static final BlockContent ZERO = new BlockContent(Map.of());

  /** A data block as its client wrote it. */
  static BlockContent of(long dataBlockId) {
    return new BlockContent(Map.of(dataBlockId, 1));
  }

  /** Wrong content, which no code gives. */
  static BlockContent garbage() {
    return new BlockContent(Map.of(-1L, 1));
  }

  /** Adds up multiples of contents. */
  static final class Sum {
    private final Map<Long, Integer> terms = new TreeMap<>();

    Sum add(int coefficient, BlockContent content) {
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

    BlockContent content() {
      return new BlockContent(terms);
    }
  }
}
