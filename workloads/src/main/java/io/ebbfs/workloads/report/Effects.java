package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Job;
import io.ebbfs.workloads.results.Results.Repair;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

/** Effects of a loss that the paper does not show: time at risk, latency of clients, jobs. */
final class Effects {
  private static final int POINTS = 60;

  /**
   * The time that stripes had less than full redundancy after a loss.
   *
   * @param seconds from the fault until a stripe was whole again
   * @param curve the share of the stripes that were whole after so many seconds
   */
  record Safety(String system, String title, String what, Percentiles seconds, List<Whole> curve) {}

  /** A point of the curve. */
  record Whole(double second, double share) {}

  /**
   * Reads of whole files by clients.
   *
   * @param what the loss: "none", or a kind of {@link Reconstruction#WHAT}
   * @param millis of all repetitions together
   * @param medianMillis the median of each repetition
   */
  record Foreground(
      String system, String title, String what, Percentiles millis, Spread medianMillis) {}

  /** A MapReduce job over a workload, with all servers and with one dead. */
  record Jobs(
      String system, String title, String workload, Spread healthySeconds, Spread degradedSeconds) {
    /** The degraded time per healthy time: 1.2 for a fifth more; null if one is missing. */
    Double slowdown() {
      return healthySeconds == null || degradedSeconds == null || healthySeconds.median() == 0
          ? null
          : degradedSeconds.median() / healthySeconds.median();
    }
  }

  private Effects() {}

  static List<Safety> safety(Results r) {
    List<Safety> all = new ArrayList<>();
    for (String what : Reconstruction.WHAT) {
      List<Double> seconds = sorted(r, what, Repair::safeAfterSeconds);
      if (!seconds.isEmpty()) {
        Percentiles percentiles = Percentiles.of(seconds);
        all.add(
            new Safety(r.system().name(), r.system().title(), what, percentiles, curve(seconds)));
      }
    }
    return all;
  }

  /** Turns the sorted seconds of single stripes into shares. */
  static List<Whole> curve(List<Double> sorted) {
    List<Whole> curve = new ArrayList<>();
    int points = Math.min(POINTS, sorted.size());
    for (int i = 1; i <= points; i++) {
      int whole = (int) Math.ceil((double) i * sorted.size() / points);
      curve.add(new Whole(sorted.get(whole - 1), (double) whole / sorted.size()));
    }
    return curve;
  }

  static List<Foreground> foreground(Results r) {
    return Stream.concat(Stream.of("none"), Reconstruction.WHAT.stream())
        .map(what -> foreground(r, what))
        .filter(Objects::nonNull)
        .toList();
  }

  private static Foreground foreground(Results r, String what) {
    Percentiles millis = Percentiles.of(sorted(r, what, Repair::foregroundMillis));
    return millis == null
        ? null
        : new Foreground(r.system().name(), r.system().title(), what, millis, medians(r, what));
  }

  private static Spread medians(Results r, String what) {
    return Spread.of(
        r.repairs().stream()
            .filter(repair -> repair.what().equals(what) && !repair.foregroundMillis().isEmpty())
            .map(repair -> Spread.of(repair.foregroundMillis()).median())
            .toList());
  }

  private static List<Double> sorted(Results r, String what, Function<Repair, List<Double>> of) {
    return r.repairs().stream()
        .filter(repair -> repair.what().equals(what))
        .flatMap(repair -> of.apply(repair).stream())
        .sorted()
        .toList();
  }

  static List<Jobs> jobs(Results r) {
    return r.jobs().stream()
        .map(Job::workload)
        .distinct()
        .map(
            workload ->
                new Jobs(
                    r.system().name(),
                    r.system().title(),
                    workload,
                    seconds(r, workload, "healthy"),
                    seconds(r, workload, "degraded")))
        .toList();
  }

  private static Spread seconds(Results r, String workload, String what) {
    return Spread.of(
        r.jobs().stream()
            .filter(job -> job.workload().equals(workload) && job.what().equals(what))
            .map(Job::seconds)
            .toList());
  }
}
