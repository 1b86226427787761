package io.ebbfs.namespace.simulation;

import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
import java.util.List;

/** The codes that schedules use. */
final class SimCodes {
  /** The built-in pairs. */
  static final List<CodeFamily> PAIRS =
      List.of(
          Codes.family("product"), Codes.family("lrc"), Codes.family("rs"), Codes.family("rs-lrc"));

  /** A pair that a user defined by matrices: two stripes of one merge by their parities alone. */
  private static final CodeFamily OWN_PAIR = new CodeFamily("sim-pair", "sim-four", "sim-eight", 2);

  private static final List<String> OTHERS =
      List.of("XOR(2,1)", "RS(4,2)", "RS(12,2)", "RS(10,4)", "PC(4x5)", "LRC(12,3,2)", "sim-five");

  static {
    Codes.define(
        List.of(
            Codes.ofRows("sim-four", 2, List.of(row(1, 1, 1, 1), row(1, 2, 4, 8))),
            Codes.ofRows(
                "sim-eight",
                2,
                List.of(row(1, 1, 1, 1, 1, 1, 1, 1), row(1, 2, 4, 8, 16, 32, 64, 128))),
            Codes.ofRows("sim-five", 2, List.of(row(1, 1, 1, 1, 1), row(1, 2, 4, 8, 16)))),
        List.of(OWN_PAIR));
  }

  private SimCodes() {}

  private static byte[] row(int... coefficients) {
    byte[] row = new byte[coefficients.length];
    for (int i = 0; i < row.length; i++) {
      row[i] = (byte) coefficients[i];
    }
    return row;
  }

  /** The pairs of a world. */
  static List<CodeFamily> pairs(World world) {
    if (!world.anyCode()) {
      return PAIRS;
    }
    List<CodeFamily> pairs = new ArrayList<>(PAIRS);
    pairs.add(OWN_PAIR);
    return pairs;
  }

  /** The codes that files are encoded with. */
  static List<ErasureCode> codes(World world) {
    List<ErasureCode> codes = new ArrayList<>();
    for (CodeFamily pair : pairs(world)) {
      codes.add(pair.fastCode());
      codes.add(pair.compactCode());
    }
    if (world.anyCode()) {
      OTHERS.forEach(name -> codes.add(Codes.byName(name)));
    }
    return codes;
  }
}
