package io.ebbfs.workloads.experiment.report;

import java.util.ArrayList;
import java.util.List;

/** Horizontal bars from zero, with whiskers for the spread and a mark for what theory says. */
final class Bars {
  private static final int LABEL = 210;
  private static final double LETTER = 6.8;
  private static final int HEAD = 26;

  /**
   * A bar.
   *
   * @param value its length, and that of its second part (0: none)
   * @param low end of the whisker; null for none
   * @param mark a tick of its own; null for none
   * @param text at its end
   */
  record Bar(
      String label,
      String colour,
      boolean hollow,
      double value,
      double second,
      Double low,
      Double high,
      Double mark,
      String text) {
    double reach() {
      double reach = Math.max(value + second, high == null ? 0 : high);
      return Math.max(reach, mark == null ? 0 : mark);
    }

    static Bar of(Style style, Spread spread, Double mark, String text) {
      boolean several = spread.count() > 1;
      return new Bar(
          style.title(),
          style.colour(),
          style.hollow(),
          spread.median(),
          0,
          several ? spread.low() : null,
          several ? spread.high() : null,
          mark,
          text);
    }
  }

  /** Bars under a heading, which may be "". */
  record Group(String title, List<Bar> bars) {}

  private Bars() {}

  static String html(String label, int wide, List<Group> groups) {
    return Svg.both(wide, width -> draw(label, width, groups));
  }

  private static String draw(String label, int width, List<Group> groups) {
    boolean narrow = width < Svg.HALF;
    int row = narrow ? 38 : 25;
    int left = narrow ? 0 : LABEL;
    List<Bar> all = new ArrayList<>();
    groups.forEach(g -> all.addAll(g.bars()));
    double reach = all.stream().mapToDouble(Bar::reach).max().orElse(1);
    int longest = all.stream().mapToInt(bar -> bar.text().length()).max().orElse(0);
    double scale = reach == 0 ? 0 : (width - left - longest * LETTER - 14) / reach;
    long heads = groups.stream().filter(g -> !g.title().isEmpty()).count();
    Svg svg = new Svg(width, (int) (all.size() * row + heads * HEAD + 4));
    double y = 0;
    for (Group group : groups) {
      if (!group.title().isEmpty()) {
        svg.text(0, y + 17, "start", "strong", group.title());
        y += HEAD;
      }
      for (Bar bar : group.bars()) {
        bar(svg, bar, left, y + (narrow ? 17 : 3), scale, narrow ? y + 12 : y + 16);
        y += row;
      }
    }
    svg.line(left, 0, left, y, "class=\"grid\"");
    return svg.html(label);
  }

  private static void bar(Svg svg, Bar bar, int left, double top, double scale, double textY) {
    double middle = top + 8.5;
    svg.text(0, textY, "start", "ink", bar.label());
    svg.add(
        "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"17\" rx=\"2\" fill=\"%s\" fill-opacity=\"%s\" stroke=\"%s\"%s/>",
        left,
        top,
        Math.max(1, bar.value() * scale),
        bar.colour(),
        bar.hollow() ? "0.15" : "0.85",
        bar.colour(),
        bar.hollow() ? " stroke-dasharray=\"4 3\"" : "");
    if (bar.second() > 0) {
      svg.add(
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"17\" fill=\"%s\" fill-opacity=\"0.35\" stroke=\"%s\"/>",
          left + bar.value() * scale, top, bar.second() * scale, bar.colour(), bar.colour());
    }
    if (bar.low() != null && (bar.high() - bar.low()) * scale > 1) {
      double low = left + bar.low() * scale;
      double high = left + bar.high() * scale;
      svg.line(low, middle, high, middle, "class=\"whisker\"");
      svg.line(low, middle - 4, low, middle + 4, "class=\"whisker\"");
      svg.line(high, middle - 4, high, middle + 4, "class=\"whisker\"");
    }
    if (bar.mark() != null) {
      double mark = left + bar.mark() * scale;
      svg.line(mark, top - 2, mark, top + 19, "class=\"halo\"");
      svg.line(mark, top - 2, mark, top + 19, "class=\"mark\"");
    }
    svg.text(left + bar.reach() * scale + 8, middle + 4, "start", "ink", bar.text());
  }
}
