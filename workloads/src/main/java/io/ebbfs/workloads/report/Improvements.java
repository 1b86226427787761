package io.ebbfs.workloads.report;

import io.ebbfs.workloads.report.DegradedReads.Point;
import io.ebbfs.workloads.report.Reconstruction.Loss;
import io.ebbfs.workloads.results.Results;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Table 4: the savings of adapting systems against systems with a single code. */
final class Improvements {
  /**
   * One system against another. Every figure is the share that is saved (0.25: a quarter less;
   * below zero: more). It is null if one of the systems was not measured.
   *
   * @param degradedRead the mean of the workloads
   * @param degradedReadByWorkload each workload
   * @param degradedReadByBlocks each workload, if latency were in proportion to the blocks read
   * @param diskTransfer traffic and the reads that check rebuilt blocks
   * @param trafficArithmetic in theory, if every lost block is the only one of its stripe
   * @param serverTrafficByPlan by the plans, in which lost blocks of one stripe share reads
   * @param storage of encoded bytes, the mean of the workloads
   * @param paper the cell of the paper's Table 4, recalled and not verified; null if there is none
   */
  record Pair(
      String system,
      String title,
      String against,
      Double degradedRead,
      Map<String, Double> degradedReadByWorkload,
      Map<String, Double> degradedReadByBlocks,
      Double diskTime,
      Double serverTime,
      Double diskTraffic,
      Double diskTransfer,
      Double serverTraffic,
      Double trafficArithmetic,
      Double serverTrafficByPlan,
      Double storage,
      Paper.Improvement paper) {
    /** The workload that gains least; empty if none was measured. */
    Optional<Map.Entry<String, Double>> least() {
      return degradedReadByWorkload.entrySet().stream().min(Map.Entry.comparingByValue());
    }
  }

  private Improvements() {}

  static List<Pair> of(Systems systems) {
    List<Pair> pairs = new ArrayList<>();
    for (Results own : systems.compared()) {
      if (own.system().adapts()) {
        for (String code : Systems.SINGLE_CODES) {
          systems.single(code).ifPresent(other -> pairs.add(pair(own, other, code)));
        }
      }
    }
    return pairs;
  }

  static Pair pair(Results own, Results other, String code) {
    Map<String, Double> reads = new LinkedHashMap<>();
    Map<String, Double> byBlocks = new LinkedHashMap<>();
    Map<String, Double> storage = new LinkedHashMap<>();
    List<Point> theirs = DegradedReads.points(other);
    for (Point point : DegradedReads.points(own)) {
      theirs.stream()
          .filter(p -> p.workload().equals(point.workload()))
          .findFirst()
          .ifPresent(
              p -> {
                put(reads, p, Spread.lowerBy(point.millis(), p.millis()));
                put(byBlocks, p, less(point.sourceBlocks(), p.sourceBlocks()));
              });
    }
    own.workloads()
        .forEach(
            w ->
                other.workloads().stream()
                    .filter(o -> o.name().equals(w.name()) && o.encodedOverhead() > 0)
                    .filter(o -> w.encodedOverhead() > 0)
                    .forEach(
                        o -> storage.put(w.name(), 1 - w.encodedOverhead() / o.encodedOverhead())));
    Optional<Loss> disk = loss(own, "disk");
    Optional<Loss> diskOther = loss(other, "disk");
    Optional<Loss> server = loss(own, "server");
    Optional<Loss> serverOther = loss(other, "server");
    return new Pair(
        own.system().name(),
        own.system().title(),
        code,
        mean(reads),
        reads,
        byBlocks,
        lower(disk, diskOther, Loss::secondsPerDataBlock),
        lower(server, serverOther, Loss::secondsPerDataBlock),
        lower(disk, diskOther, Loss::movedPerDataBlock),
        less(
            disk.map(Loss::transferPerDataBlock).orElse(null),
            diskOther.map(Loss::transferPerDataBlock).orElse(null)),
        lower(server, serverOther, Loss::movedPerDataBlock),
        less(
            disk.or(() -> server).map(Loss::arithmeticPerDataBlock).orElse(null),
            diskOther.or(() -> serverOther).map(Loss::arithmeticPerDataBlock).orElse(null)),
        lower(server, serverOther, Loss::plannedPerDataBlock),
        mean(storage),
        Paper.improvement(own.system(), code));
  }

  static Optional<Loss> loss(Results results, String what) {
    return Reconstruction.losses(results).stream().filter(l -> l.what().equals(what)).findFirst();
  }

  private static void put(Map<String, Double> into, Point point, Double value) {
    if (value != null) {
      into.put(point.workload(), value);
    }
  }

  private static Double lower(
      Optional<Loss> own, Optional<Loss> other, java.util.function.Function<Loss, Spread> of) {
    return Spread.lowerBy(own.map(of).orElse(null), other.map(of).orElse(null));
  }

  static Double less(Double own, Double other) {
    return own == null || other == null || other == 0 ? null : 1 - own / other;
  }

  private static Double mean(Map<String, Double> values) {
    return values.isEmpty()
        ? null
        : values.values().stream()
            .filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue)
            .average()
            .orElseThrow();
  }
}
