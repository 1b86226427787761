package io.ebbfs.workloads.experiment.report;

import io.ebbfs.coding.Codes;
import io.ebbfs.workloads.experiment.Results;
import io.ebbfs.workloads.experiment.Results.SystemInfo;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The systems of an experiment, told apart by what they are, not by what they are called. */
final class Systems {
  static final String RS_10_4 = "RS(10,4)";

  /** What the paper compares with, in its order. */
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

  /** Whether its bound is the one of the paper for its codes; true where the paper has none. */
  static boolean isPapers(SystemInfo system) {
    if (!system.adapts()) {
      return true;
    }
    return switch (system.fast()) {
      case Codes.PC_FAST -> Objects.equals(system.bound(), PRODUCT_BOUND);
      case Codes.LRC_FAST -> Objects.equals(system.bound(), LRC_BOUND);
      default -> true;
    };
  }

  /** All, variants included. */
  List<Results> all() {
    return all;
  }

  /** Those that are compared: no variants of a setting. */
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
   * The system that changes from this code.
   *
   * @param bound null for none
   */
  Optional<Results> adapting(String fast, Double bound) {
    return compared().stream()
        .filter(r -> r.system().adapts() && fast.equals(r.system().fast()))
        .filter(r -> Objects.equals(bound, r.system().bound()))
        .findFirst();
  }
}
