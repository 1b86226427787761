package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Whether a code decodes without some positions; the same answers as {@link ErasureCode#decodes},
 * many times faster for codes that only add (products, XOR), since placement asks for thousands of
 * combinations of servers. Thread-safe.
 */
final class Losses {
  private static final Map<String, Losses> KNOWN = new ConcurrentHashMap<>();

  private final ErasureCode code;
  private final int tolerance;
  private final int parityCount;
  // Columns of the parity check matrix as bits, or null if the code multiplies.
  private final long[] columns;

  private Losses(ErasureCode code) {
    this.code = code;
    this.tolerance = code.tolerance();
    this.parityCount = code.parityCount();
    this.columns = columns(code);
  }

  static Losses of(ErasureCode code) {
    Losses known = KNOWN.get(code.name());
    if (known == null || !known.code.equals(code)) {
      known = new Losses(code);
      KNOWN.put(code.name(), known);
    }
    return known;
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

  /** Whether the stripe decodes without the first {@code count} positions listed. */
  boolean survives(int[] lost, int count) {
    if (count <= tolerance) {
      return true;
    }
    if (count > parityCount) {
      return false;
    }
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
