package io.ebbfs.workloads.report;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.results.Results.SystemInfo;

/**
 * The look of a system in every plot. The colour stands for its codes. A system with another bound
 * than the paper's, or with prices in place of a threshold, is hollow and dashed.
 *
 * @param colour of CSS
 * @param adapts adapting systems are round, others square
 */
record Style(String system, String title, String colour, boolean hollow, boolean adapts) {
  static Style of(SystemInfo system) {
    return new Style(
        system.name(),
        system.title(),
        "var(--" + colour(system) + ")",
        !Systems.isPapers(system),
        system.adapts());
  }

  private static String colour(SystemInfo system) {
    if (system.fast() == null) {
      return "rep";
    }
    if (system.adapts()) {
      return switch (system.fast()) {
        case Codes.PC_FAST -> "pc";
        case Codes.LRC_FAST -> "lrc";
        case Codes.RS_FAST -> "pair";
        default -> "other";
      };
    }
    return switch (system.compact()) {
      case Codes.RS_FAST -> "rs6";
      case Systems.RS_10_4 -> "rs10";
      case Codes.LRC_COMPACT -> "lrcs";
      default -> "other";
    };
  }
}
