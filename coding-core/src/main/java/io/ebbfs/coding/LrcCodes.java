package io.ebbfs.coding;

import java.util.ArrayList;
import java.util.List;

/**
 * Locally repairable codes whose globals agree, so that only local parities change at a conversion.
 * The coefficients make every loss decode that can decode in theory; docs/codes.md says how they
 * were chosen.
 */
final class LrcCodes {
  private static final int TOLERANCE = 3;
  private static final int DATA = 12;
  private static final int GLOBALS = 2;
  private static final int[] FIRST_HALF = {8, 13, 15, 14, 11, 7};

  private LrcCodes() {}

  static ErasureCode build(int data, int groups, int globals) {
    String name = "LRC(" + data + "," + groups + "," + globals + ")";
    if (data != DATA || globals != GLOBALS || groups != 6 && groups != 2) {
      throw new IllegalArgumentException(
          name
              + ": no coefficients are known that make it decode every possible loss; use "
              + Codes.LRC_FAST
              + " or "
              + Codes.LRC_COMPACT);
    }
    Shape.Lrc shape = new Shape.Lrc(data, groups, globals);
    List<Position> positions = new ArrayList<>();
    for (int d = 0; d < data; d++) {
      positions.add(new Position(d, "D" + d, PositionKind.DATA));
    }
    for (int g = 0; g < groups; g++) {
      positions.add(new Position(shape.localParity(g), "L" + g, PositionKind.LOCAL_PARITY));
    }
    for (int g = 0; g < globals; g++) {
      positions.add(new Position(shape.global(g), "G" + g, PositionKind.GLOBAL_PARITY));
    }
    List<byte[]> parities = parityRows(shape);
    return new ErasureCode(
        name, "lrc", shape, data, TOLERANCE, positions, parities, equations(parities, data));
  }

  private static List<byte[]> parityRows(Shape.Lrc shape) {
    List<byte[]> parities = new ArrayList<>();
    for (int g = 0; g < shape.groups(); g++) {
      byte[] local = new byte[DATA];
      for (int i = 0; i < shape.groupSize(); i++) {
        local[g * shape.groupSize() + i] = 1;
      }
      parities.add(local);
    }
    byte[] first = new byte[DATA];
    byte[] squares = new byte[DATA];
    for (int d = 0; d < DATA; d++) {
      int c = FIRST_HALF[d % FIRST_HALF.length] << (d < FIRST_HALF.length ? 0 : 4);
      first[d] = (byte) c;
      squares[d] = (byte) Gf256.multiply(c, c);
    }
    parities.add(first);
    parities.add(squares);
    return parities;
  }

  static List<Equation> equations(List<byte[]> parities, int data) {
    List<Equation> equations = new ArrayList<>();
    for (int j = 0; j < parities.size(); j++) {
      byte[] row = java.util.Arrays.copyOf(parities.get(j), data + parities.size());
      row[data + j] = 1;
      equations.add(Equation.of(row));
    }
    return equations;
  }
}
