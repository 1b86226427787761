package io.ebbfs.workloads.report;

import java.util.List;

/** Lines over a common x axis, with horizontal lines at bounds and vertical lines at moments. */
final class Lines {
  /** A line through points of x and y. */
  record Line(String name, String colour, boolean dashed, boolean dots, List<double[]> points) {
    static Line of(Style style, List<double[]> points) {
      return new Line(style.title(), style.colour(), style.hollow(), false, points);
    }
  }

  /** A horizontal line. */
  record Level(double y, String text) {}

  /** A vertical line at the moment of an event. */
  record Mark(double x, String text) {}

  /**
   * The vertical axis.
   *
   * @param label with the unit
   * @param to the end of the axis; null for the highest value that is no outlier; outliers are cut
   *     and marked
   */
  record Axis(String label, double from, Double to) {}

  /**
   * A plot.
   *
   * @param legend whether the plot has its own legend; otherwise the section has one
   * @param xTicks labels at the whole numbers from 0 on; empty for the numbers themselves
   */
  record Plot(
      boolean legend,
      String xLabel,
      Axis axis,
      List<String> xTicks,
      List<Line> lines,
      List<Level> levels,
      List<Mark> marks) {}

  private record Drawn(
      String kind,
      boolean legend,
      int height,
      String xLabel,
      String yLabel,
      double yFrom,
      Double yTo,
      List<String> xTicks,
      List<Line> lines,
      List<Level> levels,
      List<Mark> marks) {}

  private Lines() {}

  /** A plot under a title. */
  static String html(String title, int height, Plot p) {
    Axis y = p.axis();
    return "<div><h3>%s</h3>%s</div>"
        .formatted(
            Html.escape(title),
            Chart.html(
                title + ": " + y.label() + ", by " + p.xLabel(),
                new Drawn(
                    "lines",
                    p.legend(),
                    height,
                    p.xLabel(),
                    y.label(),
                    y.from(),
                    y.to(),
                    p.xTicks(),
                    p.lines(),
                    p.levels(),
                    p.marks())));
  }
}
