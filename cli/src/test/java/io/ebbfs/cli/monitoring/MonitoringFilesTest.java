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
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/**
 * The dashboard of Grafana and the alert rules of Prometheus name only metrics that a process
 * exports: the sources hold the name of each as a string.
 */
class MonitoringFilesTest {
  private static final Path HOME = Path.of("..");
  private static final Path DASHBOARD = HOME.resolve("conf/grafana-dashboard.json");
  private static final Path ALERTS = HOME.resolve("conf/prometheus-alerts.yaml");
  private static final List<String> SOURCES =
      List.of(
          "adaptive-manager/src/main",
          "chunk-cluster/src",
          "common/src/main",
          "namenode/src/main",
          "raid-node/src/main",
          "store-ignite/src/main");
  private static final Pattern DECLARED = Pattern.compile("\"(ebbfs_[a-z0-9_]+)\"");
  private static final Pattern NAMED = Pattern.compile("\\b(ebbfs_[a-z0-9_]+)");
  private static final Pattern COUNTER = Pattern.compile("\\b(ebbfs_[a-z0-9_]+_total)");
  private static final Pattern RATE =
      Pattern.compile("\\b(?:rate|increase)\\((ebbfs_[a-z0-9_]+_total)");

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map((MatchResult r) -> r.group(1)).toList();
  }

  private static Set<String> declared() throws IOException {
    Set<String> names = new TreeSet<>();
    for (String source : SOURCES) {
      try (Stream<Path> files = Files.walk(HOME.resolve(source))) {
        for (Path file : files.filter(f -> f.toString().matches(".*\\.(java|cc)")).toList()) {
          names.addAll(all(DECLARED, Files.readString(file)));
        }
      }
    }
    return names;
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
    Set<String> declared = declared();
    assertThat(declared).hasSizeGreaterThan(50);
    for (String expression : expressions()) {
      assertThat(declared).as(expression).containsAll(all(NAMED, expression));
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
