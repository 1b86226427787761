package io.ebbfs.verify.simulator;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.List;

/** The codes that schedules use. */
final class SimCodes {
  private static final ErasureCode FOUR =
      Codes.ofRows("sim-four", 2, List.of(row(1, 1, 1, 1), row(1, 2, 4, 8)));
  private static final ErasureCode EIGHT =
      Codes.ofRows(
          "sim-eight", 2, List.of(row(1, 1, 1, 1, 1, 1, 1, 1), row(1, 2, 4, 8, 16, 32, 64, 128)));
  private static final ErasureCode FIVE =
      Codes.ofRows("sim-five", 2, List.of(row(1, 1, 1, 1, 1), row(1, 2, 4, 8, 16)));

  /**
   * A user's pair of codes, defined by matrices. Two fast stripes merge by their parities alone.
   */
  private static final CodeFamily OWN_PAIR = new CodeFamily("sim-pair", FOUR, EIGHT);

  /** The codes of the simulated cluster. */
  static final CodeRegistry REGISTRY =
      CodeRegistry.of(List.of(FOUR, EIGHT, FIVE), List.of(OWN_PAIR));

  private static final List<String> OTHERS =
      List.of("XOR(2,1)", "RS(4,2)", "RS(12,2)", "RS(10,4)", "PC(4x5)", "LRC(12,3,2)", "sim-five");

  private SimCodes() {}

  private static byte[] row(int... coefficients) {
    byte[] row = new byte[coefficients.length];
    for (int i = 0; i < row.length; i++) {
      row[i] = (byte) coefficients[i];
    }
    return row;
  }

  /** The pairs of a world. */
  static List<CodeFamily> pairs(SimWorld world) {
    return world.anyCode() ? REGISTRY.families() : CodeRegistry.builtIn().families();
  }

  /** The codes that files are encoded with. */
  static List<ErasureCode> codes(SimWorld world) {
    List<ErasureCode> codes = new ArrayList<>();
    for (CodeFamily pair : pairs(world)) {
      codes.add(pair.fastCode());
      codes.add(pair.compactCode());
    }
    if (world.anyCode()) {
      OTHERS.forEach(name -> codes.add(REGISTRY.byName(name)));
    }
    return codes;
  }
}
