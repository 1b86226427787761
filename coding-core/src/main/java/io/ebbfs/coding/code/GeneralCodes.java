package io.ebbfs.coding.code;

import java.util.ArrayList;
import java.util.List;

/** Builds codes from parity rows alone: XOR(k,1), and the codes that a user defines. */
final class GeneralCodes {
  /** The most positions of a user's code, because every loss up to the tolerance is tried. */
  static final int MAX_POSITIONS = 256;

  private GeneralCodes() {}

  /** One parity, the sum of all data. */
  static ErasureCode xor(int data) {
    if (data < 1 || data >= MAX_POSITIONS) {
      throw new IllegalArgumentException(
          "XOR(" + data + ",1): data must be 1 to " + (MAX_POSITIONS - 1) + "; choose in these");
    }
    byte[] row = new byte[data];
    java.util.Arrays.fill(row, (byte) 1);
    return build("XOR(" + data + ",1)", "xor", 1, List.of(row));
  }

  /**
   * A code with these parity rows over the data; its tolerance is not proven here.
   *
   * @param rows at least one, all of the same length, none of them zero
   */
  static ErasureCode build(String name, String family, int tolerance, List<byte[]> rows) {
    int data = rows.get(0).length;
    CodeParameters parameters = new CodeParameters.General(data, rows.size());
    List<Position> positions = new ArrayList<>();
    for (int d = 0; d < data; d++) {
      positions.add(new Position(d, "D" + d, PositionKind.DATA));
    }
    for (int j = 0; j < rows.size(); j++) {
      positions.add(new Position(data + j, "P" + j, kind(rows.get(j))));
    }
    return new ErasureCode(
        name, family, parameters, data, tolerance, positions, rows, LrcCodes.equations(rows, data));
  }

  /** A parity that does not cover all data is a local parity. */
  private static PositionKind kind(byte[] row) {
    for (byte coefficient : row) {
      if (coefficient == 0) {
        return PositionKind.LOCAL_PARITY;
      }
    }
    return PositionKind.GLOBAL_PARITY;
  }
}
