package io.ebbfs.coding.code;

import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Builds Reed-Solomon codes RS(k,m) that convert by their parities alone. Parity j of data i has
 * the coefficient point(j)^i. When stripes merge, their parities are multiplied by powers of the
 * points and added. These are the access-optimal convertible codes of Maturana and Rashmi (ITCS
 * 2020). Distinct points alone do not guarantee that every loss of m blocks decodes, so each code
 * is verified when it is built.
 */
final class RsCodes {
  static final int MAX_PARITIES = 4;
  private static final int[] UP_TO_THREE = {0x01, 0x02, 0x04};
  private static final int[] FOUR = {0x01, 0x0c, 0x35, 0x61};

  private RsCodes() {}

  static int[] points(int parities) {
    return parities <= UP_TO_THREE.length ? UP_TO_THREE : FOUR;
  }

  static ErasureCode build(int data, int parities) {
    String name = "RS(" + data + "," + parities + ")";
    if (data < 1 || data > 255 || parities < 1 || parities > MAX_PARITIES) {
      throw new IllegalArgumentException(
          name + ": data must be 1 to 255 and parities 1 to " + MAX_PARITIES + "; choose in these");
    }
    List<byte[]> rows = parityRows(data, parities);
    fatalLoss(rows, data)
        .ifPresent(
            lost -> {
              throw new IllegalArgumentException(
                  "%s: the loss of %s would not decode; use less data (33 at most with four parities)"
                      .formatted(name, lost));
            });
    CodeParameters.Rs parameters = new CodeParameters.Rs(data, parities);
    List<Position> positions = new ArrayList<>();
    for (int d = 0; d < data; d++) {
      positions.add(new Position(d, "D" + d, PositionKind.DATA));
    }
    for (int j = 0; j < parities; j++) {
      positions.add(new Position(parameters.parity(j), "P" + j, PositionKind.GLOBAL_PARITY));
    }
    return new ErasureCode(
        name, "rs", parameters, data, parities, positions, rows, LrcCodes.equations(rows, data));
  }

  static List<byte[]> parityRows(int data, int parities) {
    int[] points = points(parities);
    List<byte[]> rows = new ArrayList<>();
    for (int j = 0; j < parities; j++) {
      byte[] row = new byte[data];
      for (int i = 0; i < data; i++) {
        row[i] = (byte) Gf256.power(points[j], i);
      }
      rows.add(row);
    }
    return rows;
  }

  /**
   * A loss of m blocks that does not decode, by the names of the positions. There is none if and
   * only if every square minor of the parity rows is nonzero. If a minor is zero, the loss of its
   * data columns and of the parities outside the minor does not decode.
   */
  private static Optional<String> fatalLoss(List<byte[]> rows, int data) {
    int[][] cells = new int[rows.size()][data];
    for (int j = 0; j < rows.size(); j++) {
      for (int i = 0; i < data; i++) {
        cells[j][i] = rows.get(j)[i] & 0xff;
      }
    }
    for (int subset = 1; subset < 1 << rows.size(); subset++) {
      int[][] chosen = new int[Integer.bitCount(subset)][];
      List<String> lost = new ArrayList<>();
      int count = 0;
      for (int j = 0; j < rows.size(); j++) {
        if ((subset >> j & 1) != 0) {
          chosen[count++] = cells[j];
        } else {
          lost.add("P" + j);
        }
      }
      int[] columns = new int[count];
      if (count <= data && !columnsAreFree(chosen, columns, 0, 0, data)) {
        for (int i = count - 1; i >= 0; i--) {
          lost.add(0, "D" + columns[i]);
        }
        return Optional.of(String.join(", ", lost));
      }
    }
    return Optional.empty();
  }

  private static boolean columnsAreFree(
      int[][] rows, int[] columns, int depth, int first, int data) {
    if (depth == rows.length) {
      return determinant(rows, columns, rows.length, 0) != 0;
    }
    for (int c = first; c < data; c++) {
      columns[depth] = c;
      if (!columnsAreFree(rows, columns, depth + 1, c + 1, data)) {
        return false;
      }
    }
    return true;
  }

  /** The determinant of the first rows, without the columns in the mask; expands the last row. */
  private static int determinant(int[][] rows, int[] columns, int size, int leftOut) {
    if (size == 0) {
      return 1;
    }
    int sum = 0;
    for (int c = 0; c < columns.length; c++) {
      if ((leftOut >> c & 1) == 0) {
        int minor = determinant(rows, columns, size - 1, leftOut | 1 << c);
        sum ^= Gf256.multiply(rows[size - 1][columns[c]], minor);
      }
    }
    return sum;
  }
}
