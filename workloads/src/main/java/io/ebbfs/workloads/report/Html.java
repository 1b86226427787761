package io.ebbfs.workloads.report;

import java.util.List;

/** Pieces of HTML. Text is escaped here; arguments named {@code html} are not. */
final class Html {
  private Html() {}

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  static String section(String title, String explanation, String... html) {
    return "<section><h2>%s</h2>%s%s</section>\n"
        .formatted(
            escape(title),
            explanation.isEmpty() ? "" : "<p>" + escape(explanation) + "</p>",
            String.join("\n", html));
  }

  static String details(String title, String html) {
    return "<details><summary>%s</summary>%s</details>".formatted(escape(title), html);
  }

  /** A sentence in place of a table or plot that has no data. */
  static String missing(String what) {
    return "<p>" + escape(what) + "</p>";
  }

  /**
   * A legend for all plots of a section, with a line for each system. The line is dashed if the
   * system has another bound than the paper's. A press on a name hides and shows its lines.
   */
  static String legend(List<Style> styles) {
    StringBuilder html = new StringBuilder("<div class=\"legend\">");
    for (Style style : styles) {
      html.append(
          "<button type=\"button\" aria-pressed=\"true\"><i style=\"border-top:3px %s %s\"></i>%s</button>"
              .formatted(
                  style.hollow() ? "dashed" : "solid", style.colour(), escape(style.title())));
    }
    return html.append("</div>").toString();
  }
}
