package io.ebbfs.workloads.report;

import io.ebbfs.workloads.report.DegradedReads.Point;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Figure 9: degraded read latency over storage overhead, a point for each workload and system. */
final class Scatter {
  /** The end of the axis. Points beyond, such as three replicas, are described in words. */
  static final double WIDEST = 2.2;

  /** All points of a system. */
  private record Series(
      String name, String colour, boolean hollow, boolean round, List<Dot> points) {}

  /**
   * A point with its error bar.
   *
   * @param label beside the point; null for none
   * @param text of the tooltip
   */
  private record Dot(double x, double y, double low, double high, String label, String text) {}

  private record Plot(
      String kind, int height, String xLabel, String xUnit, String yLabel, List<Series> series) {}

  private Scatter() {}

  static String html(List<Point> points, Map<String, Style> styles) {
    List<Series> series =
        styles.values().stream()
            .map(style -> series(style, points))
            .filter(s -> !s.points().isEmpty())
            .toList();
    return Chart.html(
        "Degraded read latency over storage overhead",
        new Plot(
            "scatter",
            480,
            "stored bytes per byte of encoded data",
            "×",
            "latency of a degraded read, ms",
            series));
  }

  /** Only the points of systems at the paper's bound carry the names of their workloads. */
  private static Series series(Style style, List<Point> points) {
    boolean named = style.adapts() && !style.hollow();
    return points.stream()
        .filter(p -> p.system().equals(style.system()) && p.overhead() <= WIDEST)
        .map(p -> dot(p, named ? p.workload() : null))
        .collect(
            Collectors.collectingAndThen(
                Collectors.toList(),
                dots ->
                    new Series(
                        style.title(), style.colour(), style.hollow(), style.adapts(), dots)));
  }

  private static Dot dot(Point p, String label) {
    String text =
        "%s, %s: %s ms at %s"
            .formatted(
                p.title(), p.workload(), Format.spread(p.millis()), Format.factor(p.overhead()));
    return new Dot(
        p.overhead(), p.millis().median(), p.millis().low(), p.millis().high(), label, text);
  }
}
