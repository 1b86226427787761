package io.ebbfs.workloads.experiment.report;

import io.ebbfs.workloads.experiment.report.DegradedReads.Point;
import io.ebbfs.workloads.experiment.report.Lines.Scale;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Figure 9: degraded read latency over storage overhead, a point for each workload and system. */
final class Scatter {
  /** Beyond, points would squeeze all others: three replicas are told in words. */
  static final double WIDEST = 2.2;

  private static final int LEFT = 52;
  private static final int RIGHT = 16;
  private static final int TOP = 24;
  private static final int BOTTOM = 40;

  private Scatter() {}

  static String html(List<Point> points, Map<String, Style> styles) {
    return Svg.both(Svg.WIDE, width -> draw(points, styles, width, width == Svg.WIDE ? 440 : 380));
  }

  private static String draw(List<Point> all, Map<String, Style> styles, int width, int height) {
    List<Point> points = all.stream().filter(p -> p.overhead() <= WIDEST).toList();
    double most = points.stream().mapToDouble(p -> p.millis().high()).max().orElse(1);
    double least = points.stream().mapToDouble(Point::overhead).min().orElse(1.3);
    double widest = points.stream().mapToDouble(Point::overhead).max().orElse(1.6);
    double margin = Math.max(.02, (widest - least) * .12);
    Scale x = new Scale(least - margin, widest + margin * 1.4, LEFT, width - RIGHT);
    Scale y = new Scale(0, most * 1.06, height - BOTTOM, TOP);
    Svg svg = new Svg(width, height);
    axes(svg, x, y, most, width, height);
    Labels labels = new Labels(LEFT, width, height);
    points.forEach(p -> labels.occupy(x.at(p.overhead()), y.at(p.millis().median())));
    points.stream()
        .sorted(Comparator.comparing(p -> !styles.get(p.system()).hollow()))
        .forEach(p -> point(svg, p, styles.get(p.system()), x, y));
    byName(points)
        .forEach(
            (name, own) -> {
              // On a narrow screen there is no room for all; the table has them.
              if (width >= Svg.HALF || !styles.get(name).hollow()) {
                name(svg, labels, styles.get(name), own, x, y);
              }
            });
    byName(points).values().stream()
        .filter(own -> styles.get(own.get(0).system()).adapts())
        .filter(own -> !styles.get(own.get(0).system()).hollow())
        .forEach(own -> workloads(svg, labels, own, x, y));
    return svg.html("Degraded read latency over storage overhead");
  }

  private static void axes(Svg svg, Scale x, Scale y, double most, int width, int height) {
    for (double tick : Ticks.between(0, most * 1.06, 5)) {
      svg.line(LEFT, y.at(tick), width - RIGHT, y.at(tick), "class=\"grid\"");
      svg.text(LEFT - 6, y.at(tick) + 4, "end", "", Ticks.text(tick));
    }
    for (double tick : Ticks.between(x.least(), x.most(), width < Svg.HALF ? 4 : 8)) {
      svg.line(x.at(tick), TOP, x.at(tick), height - BOTTOM, "class=\"grid\"");
      svg.text(x.at(tick), height - BOTTOM + 16, "middle", "", Ticks.text(tick) + "×");
    }
    svg.text(0, 13, "start", "ink", "ms of a degraded read");
    svg.text(width - RIGHT, height - 5, "end", "ink", "stored bytes per byte of encoded data");
  }

  private static Map<String, List<Point>> byName(List<Point> points) {
    Map<String, List<Point>> byName = new LinkedHashMap<>();
    points.forEach(p -> byName.computeIfAbsent(p.system(), s -> new ArrayList<>()).add(p));
    return byName;
  }

  private static void point(Svg svg, Point p, Style style, Scale x, Scale y) {
    double cx = x.at(p.overhead());
    double cy = y.at(p.millis().median());
    svg.line(
        cx,
        y.at(p.millis().low()),
        cx,
        y.at(p.millis().high()),
        "stroke=\"%s\" stroke-width=\"1.5\"".formatted(style.colour()));
    String tip =
        Html.escape(
            "%s, %s: %s ms at %s"
                .formatted(
                    p.title(),
                    p.workload(),
                    Format.spread(p.millis()),
                    Format.factor(p.overhead())));
    if (style.adapts()) {
      svg.add(
          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.5\"><title>%s</title></circle>",
          cx, cy, style.fill(), style.colour(), tip);
    } else {
      svg.add(
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"9\" height=\"9\" fill=\"%s\" stroke=\"var(--card)\"><title>%s</title></rect>",
          cx - 4.5, cy - 4.5, style.colour(), tip);
    }
  }

  /** Beside the topmost of its points. */
  private static void name(Svg svg, Labels labels, Style style, List<Point> own, Scale x, Scale y) {
    Point top =
        own.stream()
            .max((a, b) -> Double.compare(a.millis().median(), b.millis().median()))
            .orElseThrow();
    labels.place(
        svg,
        x.at(top.overhead()),
        y.at(top.millis().median()),
        "font-weight=\"600\" style=\"fill:%s\"".formatted(style.colour()),
        style.title(),
        "strong");
  }

  /** Points that lie on each other have one label. */
  private static void workloads(Svg svg, Labels labels, List<Point> own, Scale x, Scale y) {
    List<Point> rest = new ArrayList<>(own);
    while (!rest.isEmpty()) {
      Point first = rest.get(0);
      List<Point> near =
          rest.stream()
              .filter(p -> Math.abs(x.at(p.overhead()) - x.at(first.overhead())) < 12)
              .filter(p -> Math.abs(y.at(p.millis().median()) - y.at(first.millis().median())) < 15)
              .toList();
      rest.removeAll(near);
      double middle =
          near.stream().mapToDouble(p -> y.at(p.millis().median())).average().orElseThrow();
      String text = near.stream().map(Point::workload).collect(Collectors.joining(", "));
      labels.place(svg, x.at(first.overhead()), middle, "", text, "");
    }
  }
}
