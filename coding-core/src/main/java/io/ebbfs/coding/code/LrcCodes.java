package io.ebbfs.coding.code;

import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Builds locally repairable codes LRC(data, groups, globals): a parity for each group of data, and
 * globals over all data. Any {@code globals + 1} losses decode, which is proven when a code is
 * built. docs/codes.md says how the coefficients are found.
 */
final class LrcCodes {
  private static final int MAX_DATA = 128;
  private static final int MAX_GLOBALS = 4;
  // With these, for 12 data blocks and two globals, every loss decodes that can in theory.
  private static final int[] FIRST_HALF = {8, 13, 15, 14, 11, 7};

  private LrcCodes() {}

  static ErasureCode build(int data, int groups, int globals) {
    String name = "LRC(" + data + "," + groups + "," + globals + ")";
    checkSizes(name, data, groups, globals);
    String failure = "";
    for (int[] coefficients : candidates(data, groups, globals)) {
      ErasureCode code = build(name, data, groups, powers(coefficients, globals));
      Optional<List<Position>> fatal = ToleranceCheck.firstFatal(code, code.tolerance());
      if (fatal.isEmpty()) {
        return code;
      }
      failure = ": with the best of them the loss of " + ToleranceCheck.names(fatal.get());
    }
    throw new IllegalArgumentException(
        "%s: no coefficients were found with which any %d losses decode%s does not; use less data in a group, fewer globals, or a code such as %s"
            .formatted(name, globals + 1, failure, Codes.LRC_FAST));
  }

  /**
   * The code that stripes of a Reed-Solomon code become if each stripe keeps its parity 0, a plain
   * sum, as the local parity of a group, and only the other parities are merged. Its globals are
   * the parities of the Reed-Solomon code over all data, without parity 0.
   */
  static ErasureCode ofReedSolomon(int data, int groups, int globals) {
    String name = "RS-LRC(" + data + "," + groups + "," + globals + ")";
    checkSizes(name, data, groups, globals);
    if (globals + 1 > RsCodes.MAX_PARITIES) {
      throw new IllegalArgumentException(
          "%s: Reed-Solomon codes here have at most %d parities, so globals must be at most %d"
              .formatted(name, RsCodes.MAX_PARITIES, RsCodes.MAX_PARITIES - 1));
    }
    List<byte[]> rows = RsCodes.parityRows(data, globals + 1);
    return ToleranceCheck.proven(
        build(name, data, groups, rows.subList(1, rows.size())), "use less data or fewer globals");
  }

  private static void checkSizes(String name, int data, int groups, int globals) {
    if (data < 1
        || data > MAX_DATA
        || groups < 1
        || data % groups != 0
        || globals < 1
        || globals > MAX_GLOBALS) {
      throw new IllegalArgumentException(
          "%s: data must be 1 to %d and a multiple of the groups, globals 1 to %d; choose in these, as %s does"
              .formatted(name, MAX_DATA, MAX_GLOBALS, Codes.LRC_FAST));
    }
  }

  private static List<int[]> candidates(int data, int groups, int globals) {
    List<int[]> candidates = new ArrayList<>();
    if (data == 2 * FIRST_HALF.length && globals == 2) {
      candidates.add(ofTwelve());
    }
    if (globals > 1) {
      LrcCoefficients.distinctSums(data).ifPresent(candidates::add);
      LrcCoefficients.distinctSumsBetweenGroups(data, groups).ifPresent(candidates::add);
    }
    candidates.add(LrcCoefficients.counting(data));
    return candidates;
  }

  private static int[] ofTwelve() {
    int[] coefficients = new int[2 * FIRST_HALF.length];
    for (int d = 0; d < coefficients.length; d++) {
      coefficients[d] = FIRST_HALF[d % FIRST_HALF.length] << (d < FIRST_HALF.length ? 0 : 4);
    }
    return coefficients;
  }

  /** The rows of the globals: the coefficients, then their squares, then their cubes. */
  private static List<byte[]> powers(int[] coefficients, int globals) {
    List<byte[]> rows = new ArrayList<>();
    for (int g = 1; g <= globals; g++) {
      byte[] row = new byte[coefficients.length];
      for (int d = 0; d < row.length; d++) {
        row[d] = (byte) Gf256.power(coefficients[d], g);
      }
      rows.add(row);
    }
    return rows;
  }

  private static ErasureCode build(String name, int data, int groups, List<byte[]> globals) {
    CodeParameters.Lrc parameters = new CodeParameters.Lrc(data, groups, globals.size());
    List<Position> positions = new ArrayList<>();
    for (int d = 0; d < data; d++) {
      positions.add(new Position(d, "D" + d, PositionKind.DATA));
    }
    for (int g = 0; g < groups; g++) {
      positions.add(new Position(parameters.localParity(g), "L" + g, PositionKind.LOCAL_PARITY));
    }
    for (int g = 0; g < globals.size(); g++) {
      positions.add(new Position(parameters.global(g), "G" + g, PositionKind.GLOBAL_PARITY));
    }
    List<byte[]> parities = new ArrayList<>();
    for (int g = 0; g < groups; g++) {
      byte[] local = new byte[data];
      for (int i = 0; i < parameters.groupSize(); i++) {
        local[g * parameters.groupSize() + i] = 1;
      }
      parities.add(local);
    }
    parities.addAll(globals);
    return new ErasureCode(
        name,
        "lrc",
        parameters,
        data,
        globals.size() + 1,
        positions,
        parities,
        equations(parities, data));
  }

  /** One equation for each parity: its row of coefficients, and 1 for the parity. */
  static List<ParityEquation> equations(List<byte[]> parities, int data) {
    List<ParityEquation> equations = new ArrayList<>();
    for (int j = 0; j < parities.size(); j++) {
      byte[] row = java.util.Arrays.copyOf(parities.get(j), data + parities.size());
      row[data + j] = 1;
      equations.add(ParityEquation.of(row));
    }
    return equations;
  }
}
