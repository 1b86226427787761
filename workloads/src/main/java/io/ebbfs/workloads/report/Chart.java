package io.ebbfs.workloads.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * A plot of the page: an element with the plot's data as JSON. The script {@code charts.js} draws
 * it. {@link Bars}, {@link Lines} and {@link Scatter} are the kinds of plots, and the script reads
 * their fields.
 */
final class Chart {
  private static final ObjectMapper JSON =
      new ObjectMapper().setSerializationInclusion(JsonInclude.Include.NON_NULL);

  private Chart() {}

  /**
   * @param label text for screen readers
   */
  static String html(String label, Object plot) {
    try {
      // No text of a name must be able to end the script element.
      String json = JSON.writeValueAsString(plot).replace("<", "\\u003c");
      return "<div class=\"chart\" role=\"img\" aria-label=\"%s\"><script type=\"application/json\">%s</script></div>"
          .formatted(Html.escape(label), json);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the plot '" + label + "' cannot be written as JSON", e);
    }
  }
}
