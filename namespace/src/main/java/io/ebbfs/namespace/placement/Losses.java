package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Whether a code decodes without some positions; the same answers as {@link ErasureCode#decodes},
 * many times faster, since placement asks for thousands of combinations of servers, most of them
 * again and again: answers are kept, and codes that only add (products, XOR) are computed with
 * bits. Thread-safe.
 */
final class Losses {
  private static final PerCode<Losses> KNOWN = new PerCode<>(Losses::new);
  // Answers kept of a code; a later one takes the place of another.
  private static final int ANSWERS_BITS = 14;

  private final ErasureCode code;
  private final int tolerance;
  private final int parityCount;
  // Columns of the parity check matrix as bits, or null if the code multiplies.
  private final long[] columns;
  // Positions as bits, then one bit for the answer; 0: none yet (no question is about nothing).
  private final AtomicLongArray answers = new AtomicLongArray(1 << ANSWERS_BITS);

  private Losses(ErasureCode code) {
    this.code = code;
    this.tolerance = code.tolerance();
    this.parityCount = code.parityCount();
    this.columns = columns(code);
  }

  static Losses of(ErasureCode code) {
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

  /** Whether sets of positions can be given as bits. */
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

  /** Independent columns of the parity check matrix are those of positions that can be rebuilt. */
  private boolean independent(int[] lost, int count) {
    long[] basis = new long[count];
    for (int i = 0; i < count; i++) {
      long column = columns[lost[i]];
      for (int j = 0; j < i; j++) {
        // Each vector of the basis is reduced by its lowest bit.
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
