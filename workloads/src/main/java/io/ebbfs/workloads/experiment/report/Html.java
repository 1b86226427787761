package io.ebbfs.workloads.experiment.report;

import java.util.List;

/** Pieces of HTML. Text is escaped here; what is called {@code html} is not. */
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

  /** Whatever is not there is named, not left out silently. */
  static String missing(String what) {
    return "<p>" + escape(what) + "</p>";
  }

  /** A legend of systems: lines, with dashes where a system is not at the paper's bound. */
  static String legend(List<Style> styles) {
    StringBuilder html = new StringBuilder("<div class=\"legend\">");
    for (Style style : styles) {
      html.append(
          "<span><svg viewBox=\"0 0 20 12\" aria-hidden=\"true\"><line x1=\"0\" x2=\"20\" y1=\"6\" y2=\"6\" stroke=\"%s\" stroke-width=\"3\"%s/></svg>%s</span>"
              .formatted(style.colour(), style.dashes(), escape(style.title())));
    }
    return html.append("</div>").toString();
  }
}
