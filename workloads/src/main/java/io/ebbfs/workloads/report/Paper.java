package io.ebbfs.workloads.report;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.results.Results.SystemInfo;
import java.util.Map;

/**
 * Numbers of "A Tale of Two Erasure Codes in HDFS" (Xia et al., FAST 2015). Numbers of its text are
 * certain. The cells of its Table 4 are recalled and not verified, so no claim is judged by them.
 */
final class Paper {
  /** A cell of Table 4, as shares saved; recalled, not verified. */
  record Improvement(double degradedRead, double reconstructionTime, double storage) {}

  /** "Reconstruction traffic", section 5.4: blocks read and written per lost data block. */
  static final Map<String, String> MOVED =
      Map.of(
          Systems.RS_10_4, "15.5",
          Codes.RS_FAST, "nearly 10",
          Codes.LRC_COMPACT, "nearly 10",
          Codes.PC_FAST, "8 to 9",
          Codes.LRC_FAST, "nearly 10");

  private static final Map<String, Improvement> PRODUCT =
      Map.of(
          Codes.RS_FAST, new Improvement(.252, .143, .023),
          Systems.RS_10_4, new Improvement(.461, .437, -.047),
          Codes.LRC_COMPACT, new Improvement(.254, .215, -.102));
  private static final Map<String, Improvement> LRC =
      Map.of(
          Codes.RS_FAST, new Improvement(.215, -.031, .077),
          Systems.RS_10_4, new Improvement(.433, .322, .011),
          Codes.LRC_COMPACT, new Improvement(.212, .056, -.042));

  private Paper() {}

  /** Table 4 for one of the paper's two systems against a single code; null for others. */
  static Improvement improvement(SystemInfo system, String against) {
    if (is(system, Codes.PC_FAST, Systems.PRODUCT_BOUND)) {
      return PRODUCT.get(against);
    }
    return is(system, Codes.LRC_FAST, Systems.LRC_BOUND) ? LRC.get(against) : null;
  }

  private static boolean is(SystemInfo system, String fast, double bound) {
    return fast.equals(system.fast())
        && system.bound() != null
        && system.bound() == bound
        && !system.weighsCosts()
        && !Systems.isVariant(system);
  }

  /** The blocks that a system moves per lost data block, in the paper's words; "" if unknown. */
  static String moved(SystemInfo system) {
    return system.fast() == null ? "" : MOVED.getOrDefault(system.fast(), "");
  }
}
