package io.ebbfs.workloads.report;

import java.util.ArrayList;
import java.util.List;

/** An HTML table. A column whose title begins with '#' holds numbers. Not thread safe. */
final class HtmlTable {
  private final List<String> columns;
  private final StringBuilder rows = new StringBuilder();
  private int count;

  HtmlTable(String... columns) {
    this.columns = List.of(columns);
  }

  HtmlTable row(Object... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(
          "%d cells for the %d columns %s".formatted(cells.length, columns.size(), columns));
    }
    List<String> html = new ArrayList<>();
    for (int i = 0; i < cells.length; i++) {
      html.add(cell(cells[i], columns.get(i).startsWith("#")));
    }
    rows.append("<tr>").append(String.join("", html)).append("</tr>\n");
    count++;
    return this;
  }

  private static String cell(Object cell, boolean number) {
    String mark = number ? "n" : "";
    String text = String.valueOf(cell == null ? Format.NONE : cell);
    if (cell instanceof Judged judged) {
      mark += judged.good ? " ok" : " bad";
      text = judged.text;
    }
    return "<td%s>%s</td>"
        .formatted(mark.isBlank() ? "" : " class=\"" + mark.trim() + "\"", Html.escape(text));
  }

  /** A cell whose colour says whether its value is good. */
  record Judged(String text, boolean good) {}

  boolean isEmpty() {
    return count == 0;
  }

  String html() {
    StringBuilder head = new StringBuilder();
    for (String column : columns) {
      boolean number = column.startsWith("#");
      head.append(number ? "<th class=\"n\">" : "<th>")
          .append(Html.escape(number ? column.substring(1) : column))
          .append("</th>");
    }
    return "<div class=\"scroll\"><table><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div>"
        .formatted(head, rows);
  }
}
