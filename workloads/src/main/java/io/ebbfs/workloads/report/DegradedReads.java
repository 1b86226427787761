package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Reads;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/**
 * Figure 9: the latency of a read of a block whose only holder is dead, by workload. A workload's
 * latency is a weighted mean: each code has a mean latency of degraded reads, and a weight, which
 * is the share of the workload's block reads on data in the code. An unencoded block is replicated,
 * so it counts with the latency of a healthy read.
 */
final class DegradedReads {
  /** The least share of a workload's reads that must be on codes whose reads were measured. */
  static final double COVERED_AT_LEAST = 0.95;

  /**
   * A workload on a system.
   *
   * @param overhead stored bytes per byte of encoded data; of all data for replicas
   * @param millis of a degraded read, over repetitions (each with another dead server)
   * @param healthyMillis the same of a healthy read
   * @param sourceBlocks blocks that a degraded read needs in theory, by the same weighted mean;
   *     null if a code is unknown
   * @param readsByCode the weights
   */
  record Point(
      String system,
      String title,
      String workload,
      double overhead,
      Spread millis,
      Spread healthyMillis,
      Double sourceBlocks,
      Map<String, Double> readsByCode) {}

  /**
   * Bytes over links per degraded read, compared with theory, by code.
   *
   * @param linkRatio bytes that servers received per byte of the sources
   * @param off the largest deviation of a repetition's ratio. The server that decodes may hold some
   *     sources itself, so not all sources cross a link. The least number that does was recorded;
   *     in older files it is taken as one less than the sources.
   */
  record Traffic(
      String system,
      String title,
      String code,
      int reads,
      double sourceBlocks,
      Spread linkRatio,
      double off) {}

  private DegradedReads() {}

  static List<Point> points(Results results) {
    List<Point> points = new ArrayList<>();
    for (WorkloadInfo workload : results.workloads()) {
      List<Double> degraded = new ArrayList<>();
      for (int repetition : repetitions(results)) {
        mixture(results, workload, repetition).ifPresent(degraded::add);
      }
      if (!degraded.isEmpty()) {
        points.add(point(results, workload, Spread.of(degraded)));
      }
    }
    return points;
  }

  private static Point point(Results results, WorkloadInfo workload, Spread millis) {
    double overhead =
        results.system().fast() == null ? workload.overhead() : workload.encodedOverhead();
    return new Point(
        results.system().name(),
        results.system().title(),
        workload.name(),
        overhead,
        millis,
        healthy(results),
        CodeTable.mean(workload.readsByCode(), CodeTable::repairReads),
        workload.readsByCode());
  }

  /** The mean latency of healthy reads, over repetitions; null if there were none. */
  static Spread healthy(Results results) {
    return Spread.of(
        repetitions(results).stream()
            .map(repetition -> mean(results, reads(repetition, "healthy")))
            .flatMapToDouble(OptionalDouble::stream)
            .boxed()
            .toList());
  }

  /** Milliseconds of a degraded read of a workload in one repetition. */
  static Optional<Double> mixture(Results results, WorkloadInfo workload, int repetition) {
    double sum = 0;
    double covered = 0;
    double all = 0;
    for (Map.Entry<String, Double> share : workload.readsByCode().entrySet()) {
      all += share.getValue();
      OptionalDouble latency = latency(results, repetition, share.getKey());
      if (latency.isPresent()) {
        sum += share.getValue() * latency.getAsDouble();
        covered += share.getValue();
      }
    }
    return covered == 0 || covered < COVERED_AT_LEAST * all
        ? Optional.empty()
        : Optional.of(sum / covered);
  }

  private static OptionalDouble latency(Results results, int repetition, String code) {
    OptionalDouble degraded =
        mean(results, reads(repetition, "degraded").and(r -> code.equals(r.code())));
    if (degraded.isPresent() || !code.isEmpty()) {
      return degraded;
    }
    OptionalDouble same = mean(results, reads(repetition, "healthy").and(r -> r.code().isEmpty()));
    return same.isPresent() ? same : mean(results, reads(repetition, "healthy"));
  }

  private static Predicate<Reads> reads(int repetition, String what) {
    return r -> r.repetition() == repetition && r.what().equals(what);
  }

  private static OptionalDouble mean(Results results, Predicate<Reads> which) {
    return results.reads().stream()
        .filter(which)
        .flatMap(r -> r.millis().stream())
        .mapToDouble(Double::doubleValue)
        .average();
  }

  private static List<Integer> repetitions(Results results) {
    return results.reads().stream().map(Reads::repetition).distinct().sorted().toList();
  }

  /** The traffic of the reads during which links were counted. */
  static List<Traffic> traffic(Results results) {
    List<Traffic> traffic = new ArrayList<>();
    List<Reads> counted =
        results.reads().stream()
            .filter(r -> r.what().equals("degraded") && r.linkBytes() > 0)
            .filter(r -> !r.code().isEmpty()) // a replica crosses the client's link only
            .filter(r -> r.sourceBlocks() > 0 && !r.millis().isEmpty())
            .toList();
    for (String code : counted.stream().map(Reads::code).distinct().sorted().toList()) {
      List<Reads> own = counted.stream().filter(r -> r.code().equals(code)).toList();
      traffic.add(
          new Traffic(
              results.system().name(),
              results.system().title(),
              code,
              own.stream().mapToInt(r -> r.millis().size()).sum(),
              own.stream().mapToDouble(Reads::sourceBlocks).average().orElseThrow(),
              Spread.of(own.stream().map(r -> linkRatio(results, r)).toList()),
              own.stream().mapToDouble(r -> off(results, r)).max().orElseThrow()));
    }
    return traffic;
  }

  private static double off(Results results, Reads reads) {
    double overLinks =
        reads.leastOverLinks() == null ? reads.sourceBlocks() - 1 : reads.leastOverLinks();
    double least = overLinks / reads.sourceBlocks();
    double ratio = linkRatio(results, reads);
    return least > 0 ? Links.off(ratio, least) : Math.max(0, ratio / Links.HEADERS - 1);
  }

  private static double linkRatio(Results results, Reads reads) {
    double blocks = reads.millis().size() * reads.sourceBlocks();
    return reads.linkBytes() / (blocks * results.environment().blockBytes());
  }
}
