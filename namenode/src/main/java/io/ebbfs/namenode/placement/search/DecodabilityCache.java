package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Tells whether a code decodes without some positions. The answers are those of {@link
 * ErasureCode#decodes}, but many times faster: placement asks about thousands of combinations of
 * servers, most of them repeatedly. Answers are kept, and codes whose parities are plain XORs
 * (product codes) are computed with bits. Thread-safe.
 */
final class DecodabilityCache {
  private static final PerCodeCache<DecodabilityCache> KNOWN =
      new PerCodeCache<>(DecodabilityCache::new);
  // The number of answers kept for a code, as a power of two. A new answer replaces an old one.
  private static final int ANSWERS_BITS = 14;

  private final ErasureCode code;
  private final int tolerance;
  private final int parityCount;
  // The columns of the parity check matrix as bits; null if a coefficient is neither 0 nor 1.
  private final long[] columns;
  // Each entry: the positions as bits, then one bit for the answer. 0 is an empty entry, because no
  // question is about an empty set.
  private final AtomicLongArray answers = new AtomicLongArray(1 << ANSWERS_BITS);

  private DecodabilityCache(ErasureCode code) {
    this.code = code;
    this.tolerance = code.tolerance();
    this.parityCount = code.parityCount();
    this.columns = columns(code);
  }

  static DecodabilityCache of(ErasureCode code) {
    return KNOWN.of(code);
  }

  private static long[] columns(ErasureCode code) {
    if (code.parityCount() > Long.SIZE) {
      return null;
    }
    long[] columns = new long[code.size()];
    for (int parity = 0; parity < code.parityCount(); parity++) {
      byte[] row = code.generator().row(code.dataCount() + parity);
      for (int data = 0; data < row.length; data++) {
        if (row[data] != 0 && row[data] != 1) {
          return null;
        }
        columns[data] |= (long) row[data] << parity;
      }
      columns[code.dataCount() + parity] = 1L << parity;
    }
    return columns;
  }

  /** Whether the code has so few positions that a set of them fits into the bits of a long. */
  boolean hasMasks() {
    return code.size() < Long.SIZE;
  }

  /**
   * Whether the stripe decodes without the positions whose bits are set. Only for codes that {@link
   * #hasMasks}.
   */
  boolean survives(long lost) {
    int count = Long.bitCount(lost);
    if (count <= tolerance) {
      return true;
    }
    if (count > parityCount) {
      return false;
    }
    int slot = (int) (lost * 0x9E3779B97F4A7C15L >>> Long.SIZE - ANSWERS_BITS);
    long answer = answers.getPlain(slot);
    if (answer >>> 1 != lost) {
      answer = lost << 1 | (decodes(lost, count) ? 1 : 0);
      answers.setPlain(slot, answer);
    }
    return (answer & 1) == 1;
  }

  private boolean decodes(long lost, int count) {
    int[] positions = new int[count];
    long rest = lost;
    for (int i = 0; i < count; i++) {
      positions[i] = Long.numberOfTrailingZeros(rest);
      rest &= rest - 1;
    }
    return decodes(positions, count);
  }

  /** Whether the stripe decodes without the first {@code count} positions listed. */
  boolean survives(int[] lost, int count) {
    if (count <= tolerance) {
      return true;
    }
    if (count > parityCount) {
      return false;
    }
    return decodes(lost, count);
  }

  private boolean decodes(int[] lost, int count) {
    return columns == null ? code.decodes(lost, count) : independent(lost, count);
  }

  /** Lost positions can be rebuilt if their columns of the parity check matrix are independent. */
  private boolean independent(int[] lost, int count) {
    long[] basis = new long[count];
    for (int i = 0; i < count; i++) {
      long column = columns[lost[i]];
      for (int j = 0; j < i; j++) {
        // The lowest set bit of each basis vector is cleared in the column.
        if ((column & Long.lowestOneBit(basis[j])) != 0) {
          column ^= basis[j];
        }
      }
      if (column == 0) {
        return false;
      }
      basis[i] = column;
    }
    return true;
  }
}
