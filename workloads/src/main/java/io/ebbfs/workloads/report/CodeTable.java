package io.ebbfs.workloads.report;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.codes.CodeFigures;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The theoretical costs of codes, by name. The name "" stands for replicated data. */
final class CodeTable {
  /** The codes of the paper's Table 2, and the pair that EbbFS adds. */
  static final List<String> SHOWN =
      List.of(
          Codes.PC_FAST,
          Codes.PC_COMPACT,
          Codes.LRC_FAST,
          Codes.LRC_COMPACT,
          Codes.RS_FAST,
          "RS(10,4)",
          Codes.RS_COMPACT);

  private static final Map<String, Optional<CodeFigures>> KNOWN = new ConcurrentHashMap<>();

  private CodeTable() {}

  /** Empty for "" and for a code that this build does not know. */
  static Optional<CodeFigures> figures(String code) {
    return KNOWN.computeIfAbsent(code, CodeTable::compute);
  }

  private static Optional<CodeFigures> compute(String code) {
    try {
      return code.isEmpty() ? Optional.empty() : Optional.of(CodeFigures.of(Codes.byName(code)));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // a code that a user defined in a file
    }
  }

  /** Blocks read for one lost data block; null if unknown. */
  static Double repairReads(String code) {
    return code.isEmpty()
        ? Double.valueOf(1)
        : figures(code).map(CodeFigures::repairReadsData).orElse(null);
  }

  /** Blocks read and written per lost data block, with its share of parities; null if unknown. */
  static Double moved(String code) {
    return code.isEmpty()
        ? Double.valueOf(2)
        : figures(code).map(CodeFigures::movedPerLostDataBlock).orElse(null);
  }

  /**
   * The mean of a figure, weighted by shares. The shares need not add up to one. Null if a code
   * with a share above 0 has no figure.
   */
  static Double mean(
      Map<String, Double> shares, java.util.function.Function<String, Double> figure) {
    double sum = 0;
    double weight = 0;
    for (Map.Entry<String, Double> share : shares.entrySet()) {
      if (share.getValue() > 0) {
        Double value = figure.apply(share.getKey());
        if (value == null) {
          return null;
        }
        sum += share.getValue() * value;
        weight += share.getValue();
      }
    }
    return weight == 0 ? null : sum / weight;
  }
}
