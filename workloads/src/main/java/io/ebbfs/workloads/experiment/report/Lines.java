package io.ebbfs.workloads.experiment.report;

import java.util.List;
import java.util.stream.Collectors;

/** Lines over a common x axis; horizontal lines for bounds. */
final class Lines {
  private static final int LEFT = 46;
  private static final int RIGHT = 14;
  private static final int TOP = 24;
  private static final int BOTTOM = 34;

  /** A line through points of x and y. */
  record Line(Style style, List<double[]> points, boolean dots) {}

  /** A horizontal line. */
  record Level(double y, String text) {}

  /**
   * A plot.
   *
   * @param title above it
   * @param xTicks labels at whole numbers from 0; empty for numbers
   */
  record Plot(
      String title,
      String xLabel,
      double yFrom,
      double yTo,
      List<String> xTicks,
      List<Line> lines,
      List<Level> levels,
      List<Mark> marks) {
    Plot(
        String title,
        String xLabel,
        double yFrom,
        double yTo,
        List<String> xTicks,
        List<Line> lines,
        List<Level> levels) {
      this(title, xLabel, yFrom, yTo, xTicks, lines, levels, List.of());
    }
  }

  /** A vertical line: something happened. */
  record Mark(double x, String text) {}

  private Lines() {}

  static String html(Plot plot, int wide, int height) {
    return Svg.both(wide, width -> draw(plot, width, height));
  }

  private static String draw(Plot plot, int width, int height) {
    Svg svg = new Svg(width, height);
    double xTo =
        plot.lines().stream()
            .flatMap(l -> l.points().stream())
            .mapToDouble(p -> p[0])
            .max()
            .orElse(1);
    for (Mark mark : plot.marks()) {
      xTo = Math.max(xTo, mark.x());
    }
    boolean named = !plot.xTicks().isEmpty();
    double xFrom = named ? -0.3 : 0;
    double xEnd = named ? plot.xTicks().size() - 0.7 : xTo == 0 ? 1 : xTo;
    Scale x = new Scale(xFrom, xEnd, LEFT, width - RIGHT);
    Scale y = new Scale(plot.yFrom(), plot.yTo(), height - BOTTOM, TOP);
    svg.text(0, 13, "start", "strong", plot.title());
    for (double tick : Ticks.between(plot.yFrom(), plot.yTo(), 4)) {
      svg.line(LEFT, y.at(tick), width - RIGHT, y.at(tick), "class=\"grid\"");
      svg.text(LEFT - 6, y.at(tick) + 4, "end", "", Ticks.text(tick));
    }
    xAxis(svg, plot, x, height, named, xEnd);
    marks(svg, plot, x, height);
    plot.lines().forEach(line -> line(svg, line, x, y));
    for (Level level : plot.levels()) {
      double at = y.at(level.y());
      svg.line(LEFT, at, width - RIGHT, at, "class=\"axis\" stroke-dasharray=\"7 4\"");
      svg.text(LEFT + 4, at - 4, "start", "ink", level.text());
    }
    return svg.html(plot.title() + ", by " + plot.xLabel());
  }

  /** Their texts take turns on two lines, so that neighbours can be told apart. */
  private static void marks(Svg svg, Plot plot, Scale x, int height) {
    for (int i = 0; i < plot.marks().size(); i++) {
      Mark mark = plot.marks().get(i);
      double at = x.at(mark.x());
      svg.line(at, TOP, at, height - BOTTOM, "class=\"axis\" stroke-dasharray=\"2 3\"");
      svg.text(at + 3, TOP + 9 + 13 * (i % 2), "start", "ink", mark.text());
    }
  }

  private static void xAxis(Svg svg, Plot plot, Scale x, int height, boolean named, double xEnd) {
    if (named) {
      for (int i = 0; i < plot.xTicks().size(); i++) {
        svg.text(x.at(i), height - BOTTOM + 16, "middle", "", plot.xTicks().get(i));
      }
    } else {
      for (double tick : Ticks.between(0, xEnd, 5)) {
        svg.text(x.at(tick), height - BOTTOM + 16, "middle", "", Ticks.text(tick));
      }
    }
    svg.text((x.from() + x.to()) / 2, height - 4, "middle", "", plot.xLabel());
  }

  private static void line(Svg svg, Line line, Scale x, Scale y) {
    String points =
        line.points().stream()
            .map(p -> Format.of("%.1f,%.1f", x.at(p[0]), y.at(p[1])))
            .collect(Collectors.joining(" "));
    svg.add(
        "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"%s points=\"%s\"/>",
        line.style().colour(), line.style().dashes(), points);
    if (line.dots()) {
      line.points()
          .forEach(
              p ->
                  svg.add(
                      "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>",
                      x.at(p[0]), y.at(p[1]), line.style().colour()));
    }
  }

  /** From values to places. */
  record Scale(double least, double most, double from, double to) {
    double at(double value) {
      return from + (value - least) / (most - least) * (to - from);
    }
  }
}
