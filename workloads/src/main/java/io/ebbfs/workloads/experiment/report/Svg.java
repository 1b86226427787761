package io.ebbfs.workloads.experiment.report;

import java.util.function.IntFunction;

/** Inline SVG: each plot twice, for wide and for narrow screens, so that letters stay legible. */
final class Svg {
  static final int WIDE = 1056;
  static final int HALF = 518;
  static final int THIRD = 338;
  static final int NARROW = 342;

  private final int width;
  private final int height;
  private final StringBuilder body = new StringBuilder();

  Svg(int width, int height) {
    this.width = width;
    this.height = height;
  }

  /** The same plot for both kinds of screens. */
  static String both(int wide, IntFunction<String> draw) {
    return "<div class=\"wide\">%s</div><div class=\"narrow\">%s</div>"
        .formatted(draw.apply(wide), draw.apply(NARROW));
  }

  Svg add(String format, Object... arguments) {
    body.append(Format.of(format, arguments));
    return this;
  }

  /**
   * @param look "" or "ink" or "strong"
   */
  Svg text(double x, double y, String anchor, String look, String text) {
    return add(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>",
        x, y, anchor, look.isEmpty() ? "" : " class=\"" + look + "\"", Html.escape(text));
  }

  Svg line(double x1, double y1, double x2, double y2, String attributes) {
    return add(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>", x1, y1, x2, y2, attributes);
  }

  String html(String label) {
    return "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%s</svg>"
        .formatted(width, height, Html.escape(label), body);
  }
}
