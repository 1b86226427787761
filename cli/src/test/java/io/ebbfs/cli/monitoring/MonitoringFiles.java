package io.ebbfs.cli.monitoring;

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
import org.yaml.snakeyaml.Yaml;

/** The dashboard of Grafana and the alert rules of Prometheus. */
public final class MonitoringFiles {
  private static final Path HOME = Path.of("..");
  private static final Path DASHBOARD = HOME.resolve("conf/grafana-dashboard.json");
  private static final Path ALERTS = HOME.resolve("conf/prometheus-alerts.yaml");

  private MonitoringFiles() {}

  /** The panels of the dashboard but its headings. */
  static List<JsonNode> panels() throws IOException {
    List<JsonNode> panels = new ArrayList<>();
    new ObjectMapper().readTree(DASHBOARD.toFile()).get("panels").forEach(panels::add);
    return panels.stream().filter(panel -> !panel.get("type").asText().equals("row")).toList();
  }

  /** The alert rules. */
  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> rules() throws IOException {
    Map<String, Object> file = new Yaml().load(Files.readString(ALERTS));
    return ((List<Map<String, Object>>) file.get("groups"))
        .stream()
            .flatMap(group -> ((List<Map<String, Object>>) group.get("rules")).stream())
            .toList();
  }

  /** What both of them ask Prometheus. */
  static List<String> expressions() throws IOException {
    List<String> expressions = new ArrayList<>();
    for (JsonNode panel : panels()) {
      panel.get("targets").forEach(target -> expressions.add(target.get("expr").asText()));
    }
    rules().forEach(rule -> expressions.add(rule.get("expr").toString()));
    return expressions;
  }

  /** The metrics that both of them name. */
  public static Set<String> metrics() throws IOException {
    Set<String> names = new TreeSet<>();
    for (String expression : expressions()) {
      names.addAll(ExportedMetrics.namedIn(expression));
    }
    return names;
  }
}
