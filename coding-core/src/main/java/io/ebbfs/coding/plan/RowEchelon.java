package io.ebbfs.coding.plan;

import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows in echelon form. They tell whether a further row is independent of them. Not thread-safe.
 */
final class RowEchelon {
  private final List<byte[]> rows = new ArrayList<>();
  private final List<Integer> pivots = new ArrayList<>();

  /** Adds the row; false if it depends on the rows so far. */
  boolean add(byte[] row) {
    byte[] rest = Arrays.copyOf(row, row.length);
    for (int r = 0; r < rows.size(); r++) {
      Gf256.addMultiple(rest, rest[pivots.get(r)] & 0xff, rows.get(r));
    }
    for (int c = 0; c < rest.length; c++) {
      if (rest[c] != 0) {
        int inverse = Gf256.inverse(rest[c] & 0xff);
        for (int i = 0; i < rest.length; i++) {
          rest[i] = (byte) Gf256.multiply(rest[i] & 0xff, inverse);
        }
        rows.add(rest);
        pivots.add(c);
        return true;
      }
    }
    return false;
  }

  /** The columns of the leading elements, in the order of the rows. */
  List<Integer> pivots() {
    return pivots;
  }
}
