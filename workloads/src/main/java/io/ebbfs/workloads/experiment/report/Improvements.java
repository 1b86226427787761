package io.ebbfs.workloads.experiment.report;

import io.ebbfs.workloads.experiment.Results;
import io.ebbfs.workloads.experiment.report.DegradedReads.Point;
import io.ebbfs.workloads.experiment.report.Reconstruction.Loss;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Table 4: by how much an adapting system needs less than one with a single code. */
final class Improvements {
  /**
   * One against one. Every figure is the share that is saved (0.25: a quarter less; below zero:
   * more), and null if one side was not measured.
   *
   * @param degradedRead the mean of the workloads
   * @param degradedReadByWorkload each
   * @param degradedReadByBlocks each, if latency were in proportion to the blocks read
   * @param diskTransfer traffic, and what is read to check rebuilt blocks
   * @param trafficArithmetic if every lost block is the only one of its stripe
   * @param serverTrafficByPlan if what a server's loss took of each stripe is read for at once
   * @param storage of encoded bytes, the mean of the workloads
   * @param paper what the paper's Table 4 says, recalled and not verified; null if it says nothing
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
