package io.ebbfs.cli.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The dashboard of Grafana and the alert rules of Prometheus name only metrics that a process
 * exports.
 */
class MonitoringFilesTest {
  private static final Pattern COUNTER = Pattern.compile("\\b(ebbfs_[a-z0-9_]+_total)");
  private static final Pattern RATE =
      Pattern.compile("\\b(?:rate|increase)\\((ebbfs_[a-z0-9_]+_total)");

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(1)).toList();
  }

  @Test
  void everyMetricIsExported() throws Exception {
    Set<String> exported = ExportedMetrics.names();
    for (String expression : MonitoringFiles.expressions()) {
      assertThat(exported).as(expression).containsAll(ExportedMetrics.namedIn(expression));
    }
  }

  @Test
  void aCounterIsShownByItsRate() throws Exception {
    for (String expression : MonitoringFiles.expressions()) {
      assertThat(all(RATE, expression)).as(expression).isEqualTo(all(COUNTER, expression));
    }
  }

  @Test
  void everyPanelHasAnExplanationAndAQuery() throws Exception {
    assertThat(MonitoringFiles.panels()).hasSizeGreaterThan(20);
    for (JsonNode panel : MonitoringFiles.panels()) {
      assertThat(panel.get("description").asText()).as(panel.get("title").asText()).isNotBlank();
      assertThat(panel.get("targets")).as(panel.get("title").asText()).isNotEmpty();
    }
  }

  @Test
  @SuppressWarnings("unchecked")
  void everyAlertHasASeverityAndARemedy() throws Exception {
    assertThat(MonitoringFiles.rules())
        .extracting(rule -> rule.get("alert"))
        .doesNotHaveDuplicates();
    for (Map<String, Object> rule : MonitoringFiles.rules()) {
      Map<String, String> labels = (Map<String, String>) rule.get("labels");
      Map<String, String> annotations = (Map<String, String>) rule.get("annotations");
      assertThat(labels.get("severity")).as(rule.toString()).isIn("page", "ticket");
      assertThat(annotations).as(rule.toString()).containsOnlyKeys("summary", "remedy");
    }
  }
}
