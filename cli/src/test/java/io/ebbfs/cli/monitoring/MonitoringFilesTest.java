package io.ebbfs.cli.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/**
 * The dashboard of Grafana and the alert rules of Prometheus name only metrics that a process
 * exports.
 */
class MonitoringFilesTest {
  private static final Path HOME = Path.of("..");
  private static final Path DASHBOARD = HOME.resolve("conf/grafana-dashboard.json");
  private static final Path ALERTS = HOME.resolve("conf/prometheus-alerts.yaml");
  private static final Pattern COUNTER = Pattern.compile("\\b(ebbfs_[a-z0-9_]+_total)");
  private static final Pattern RATE =
      Pattern.compile("\\b(?:rate|increase)\\((ebbfs_[a-z0-9_]+_total)");

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(1)).toList();
  }

  private static List<JsonNode> panels() throws IOException {
    List<JsonNode> panels = new ArrayList<>();
    new ObjectMapper().readTree(DASHBOARD.toFile()).get("panels").forEach(panels::add);
    return panels.stream().filter(panel -> !panel.get("type").asText().equals("row")).toList();
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> rules() throws IOException {
    Map<String, Object> file = new Yaml().load(Files.readString(ALERTS));
    return ((List<Map<String, Object>>) file.get("groups"))
        .stream()
            .flatMap(group -> ((List<Map<String, Object>>) group.get("rules")).stream())
            .toList();
  }

  private static List<String> expressions() throws IOException {
    List<String> expressions = new ArrayList<>();
    for (JsonNode panel : panels()) {
      panel.get("targets").forEach(target -> expressions.add(target.get("expr").asText()));
    }
    rules().forEach(rule -> expressions.add(rule.get("expr").toString()));
    return expressions;
  }

  @Test
  void everyMetricIsExported() throws Exception {
    Set<String> exported = ExportedMetrics.names();
    for (String expression : expressions()) {
      assertThat(exported).as(expression).containsAll(ExportedMetrics.namedIn(expression));
    }
  }

  @Test
  void aCounterIsShownByItsRate() throws Exception {
    for (String expression : expressions()) {
      assertThat(all(RATE, expression)).as(expression).isEqualTo(all(COUNTER, expression));
    }
  }

  @Test
  void everyPanelHasAnExplanationAndAQuery() throws Exception {
    assertThat(panels()).hasSizeGreaterThan(20);
    for (JsonNode panel : panels()) {
      assertThat(panel.get("description").asText()).as(panel.get("title").asText()).isNotBlank();
      assertThat(panel.get("targets")).as(panel.get("title").asText()).isNotEmpty();
    }
  }

  @Test
  @SuppressWarnings("unchecked")
  void everyAlertHasASeverityAndARemedy() throws Exception {
    assertThat(rules()).extracting(rule -> rule.get("alert")).doesNotHaveDuplicates();
    for (Map<String, Object> rule : rules()) {
      Map<String, String> labels = (Map<String, String>) rule.get("labels");
      Map<String, String> annotations = (Map<String, String>) rule.get("annotations");
      assertThat(labels.get("severity")).as(rule.toString()).isIn("page", "ticket");
      assertThat(annotations).as(rule.toString()).containsOnlyKeys("summary", "remedy");
    }
  }
}
