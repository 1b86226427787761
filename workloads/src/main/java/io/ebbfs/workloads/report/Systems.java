package io.ebbfs.workloads.report;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.SystemInfo;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The systems of an experiment. They are recognized by their codes, their bound and whether they
 * weigh costs, not by names.
 */
final class Systems {
  static final String RS_10_4 = "RS(10,4)";

  /** The codes that the paper compares with, in its order. */
  static final List<String> SINGLE_CODES = List.of(Codes.RS_FAST, RS_10_4, Codes.LRC_COMPACT);

  static final double PRODUCT_BOUND = 1.5;
  static final double LRC_BOUND = 1.4;

  private final List<Results> all;

  Systems(List<Results> all) {
    this.all =
        all.stream()
            .sorted(
                Comparator.comparingInt((Results r) -> rank(r.system()))
                    .thenComparing(r -> !isPapers(r.system()))
                    .thenComparing(r -> r.system().bound() == null)
                    .thenComparing(r -> r.system().bound() == null ? 0 : -r.system().bound())
                    .thenComparing(r -> r.system().name()))
            .toList();
  }

  private static int rank(SystemInfo system) {
    if (system.fast() == null) {
      return 9;
    }
    if (system.adapts()) {
      return switch (system.fast()) {
        case Codes.PC_FAST -> 0;
        case Codes.LRC_FAST -> 1;
        default -> 2;
      };
    }
    int at = SINGLE_CODES.indexOf(system.compact());
    return at < 0 ? 8 : 4 + at;
  }

  /**
   * Whether a system has a threshold, as the paper's have, and the paper's bound for its codes;
   * true if the paper has none.
   */
  static boolean isPapers(SystemInfo system) {
    if (!system.adapts()) {
      return true;
    }
    if (system.weighsCosts()) {
      return false;
    }
    return switch (system.fast()) {
      case Codes.PC_FAST -> Objects.equals(system.bound(), PRODUCT_BOUND);
      case Codes.LRC_FAST -> Objects.equals(system.bound(), LRC_BOUND);
      default -> true;
    };
  }

  /** All systems, variants included. */
  List<Results> all() {
    return all;
  }

  /** The systems that are compared, which are all but variants of a setting. */
  List<Results> compared() {
    return all.stream().filter(r -> !isVariant(r.system())).toList();
  }

  static boolean isVariant(SystemInfo system) {
    return system.name().contains("@");
  }

  Optional<Results> single(String code) {
    return compared().stream()
        .filter(r -> !r.system().adapts() && code.equals(r.system().compact()))
        .findFirst();
  }

  /** EbbFS with the product codes at the paper's bound. */
  Optional<Results> product() {
    return adapting(Codes.PC_FAST, PRODUCT_BOUND);
  }

  /** EbbFS with the LRC codes at the paper's bound. */
  Optional<Results> lrc() {
    return adapting(Codes.LRC_FAST, LRC_BOUND);
  }

  /**
   * The adapting system with this fast code and a threshold.
   *
   * @param bound null for none
   */
  Optional<Results> adapting(String fast, Double bound) {
    return compared().stream()
        .filter(r -> r.system().adapts() && fast.equals(r.system().fast()))
        .filter(r -> !r.system().weighsCosts())
        .filter(r -> Objects.equals(bound, r.system().bound()))
        .findFirst();
  }
}
