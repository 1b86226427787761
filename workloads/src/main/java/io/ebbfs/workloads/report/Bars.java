package io.ebbfs.workloads.report;

import java.util.List;

/** Horizontal bars from zero, with whiskers for the spread and a mark for the theoretical value. */
final class Bars {
  /**
   * A bar.
   *
   * @param value the length; the length of the second part is 0 if there is none
   * @param low end of the whisker; null for none
   * @param mark a tick at another value; null for none
   * @param text at the end of the bar
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

  /** The names of the parts of a bar in the legend; null for a part that the plot lacks. */
  record Names(String value, String second, String range, String mark) {}

  /**
   * The axis.
   *
   * @param label with the unit
   * @param unit behind each number, or ""
   */
  record Axis(String label, String unit) {}

  private record Plot(
      String kind,
      String xLabel,
      String unit,
      Names names,
      boolean axisPerGroup,
      List<Group> groups) {}

  private Bars() {}

  static String html(String label, Axis axis, Names names, List<Group> groups) {
    return Chart.html(label, new Plot("bars", axis.label(), axis.unit(), names, false, groups));
  }

  /**
   * Bars of which only those of one group can be compared: the longest of each group has the same
   * length. There is no axis, so the texts tell the values.
   */
  static String perGroup(String label, Names names, List<Group> groups) {
    return Chart.html(label, new Plot("bars", null, "", names, true, groups));
  }
}
