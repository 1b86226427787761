package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Incident;
import io.ebbfs.workloads.results.Results.TimedRead;
import java.util.ArrayList;
import java.util.List;

/** The latency of clients' reads during a timetable of faults. */
final class TimetableEffects {
  private static final int SPANS = 40;

  /**
   * One system.
   *
   * @param incidents by time
   * @param before reads that ended before the first incident; null if there were none
   * @param after reads that ended later; null if there were none
   * @param course the latency over time, one entry for each span of time with reads
   */
  record Faults(
      String system,
      String title,
      List<Incident> incidents,
      Percentiles before,
      Percentiles after,
      List<Span> course) {}

  /** Reads that ended around a moment. */
  record Span(double second, Percentiles millis) {}

  private TimetableEffects() {}

  /** Null for a system without a timetable. */
  static Faults of(Results r) {
    if (r.incidents().isEmpty()) {
      return null;
    }
    List<Incident> incidents =
        r.incidents().stream().sorted((a, b) -> Double.compare(a.second(), b.second())).toList();
    double first = incidents.get(0).second();
    return new Faults(
        r.system().name(),
        r.system().title(),
        incidents,
        Percentiles.of(millis(r, 0, first)),
        Percentiles.of(millis(r, first, Double.MAX_VALUE)),
        course(r));
  }

  private static List<Double> millis(Results r, double from, double to) {
    return r.duringIncidents().stream()
        .filter(read -> read.second() >= from && read.second() < to)
        .map(TimedRead::millis)
        .toList();
  }

  private static List<Span> course(Results r) {
    double end = r.duringIncidents().stream().mapToDouble(TimedRead::second).max().orElse(0);
    double length = Math.max(1, end / SPANS);
    List<Span> course = new ArrayList<>();
    for (int i = 0; i * length <= end; i++) {
      Percentiles some = Percentiles.of(millis(r, i * length, (i + 1) * length));
      if (some != null) {
        course.add(new Span((i + .5) * length, some));
      }
    }
    return course;
  }
}
