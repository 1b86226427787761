package io.ebbfs.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.common.charts.ChartLibrary;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Environment;
import io.ebbfs.workloads.results.MetadataResults.Figures;
import io.ebbfs.workloads.results.MetadataResults.Measure;
import io.ebbfs.workloads.results.MetadataResults.Row;
import io.ebbfs.workloads.results.MetadataResults.Run;
import io.ebbfs.workloads.results.MetadataResults.Values;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JSON file that scripts read, and the page beside it. */
class MetadataPageTest {
  @TempDir Path directory;

  private static Run run(double opsPerSecond, double micros) {
    return new Run(1000, 2, opsPerSecond, micros, micros / 2, 9, 1.5, 2.5, 3.5);
  }

  private static MetadataResults results(boolean withHdfs) {
    Figures ebbfs = Figures.of(List.of(run(3000, 20), run(1000, 40), run(2000, 30)));
    Figures hdfs = withHdfs ? Figures.of(List.of(run(1000, 60), run(500, 80))) : null;
    return new MetadataResults(
        new Environment(
            "abc-dirty",
            "2026-01-02T03:04:05Z",
            2,
            "a processor",
            "Linux",
            "17",
            "3.5.0",
            2048,
            List.of("-Xmx2048m"),
            true,
            0.8,
            3),
        List.of(
            new Row("stat", MetadataResults.NATIVE, 64, ebbfs, hdfs),
            new Row("create", MetadataResults.STOCK, 16, ebbfs, hdfs)),
        List.of(
            new Measure(
                "start until reads are served",
                "s",
                "1,000,000 files",
                10.0,
                Values.of(List.of(3.0, 1.0)),
                withHdfs ? Values.of(List.of(8.0)) : null)),
        Figures.of(List.of(run(140_000, 6.5))));
  }

  @Test
  void theFloorIsToldOnceWhereItWasMeasured() throws Exception {
    assertThat(MetadataPage.of(results(true)))
        .containsOnlyOnce("answers each call with the same bytes")
        .contains("takes 6.50 µs of processor time for a call");
  }

  @Test
  void theJsonHasTheFieldsThatScriptsRead() throws Exception {
    Path json = directory.resolve("below/bench.json");
    assertThat(MetadataPage.write(results(true), json))
        .isEqualTo(directory.resolve("below/bench.html"));
    JsonNode written = new ObjectMapper().readTree(json.toFile());
    JsonNode row = written.get("rows").get(0);
    assertThat(names(row)).containsExactly("name", "client", "connections", "ebbfs", "hdfs");
    assertThat(row.get("client").asText()).isEqualTo("native");
    assertThat(written.get("rows").get(1).get("client").asText()).isEqualTo("stock");
    assertThat(names(row.get("ebbfs")))
        .containsExactly(
            "opsPerSecond",
            "serverMicrosPerOp",
            "serverKernelMicrosPerOp",
            "p50Millis",
            "p99Millis",
            "p999Millis",
            "runs");
    assertThat(row.get("ebbfs").get("opsPerSecond").asDouble()).isEqualTo(2000);
    assertThat(row.get("hdfs").get("opsPerSecond").asDouble()).isEqualTo(750);
    assertThat(row.get("hdfs").get("serverMicrosPerOp").asDouble()).isEqualTo(70);
    assertThat(row.get("ebbfs").get("runs")).hasSize(3);
    assertThat(written.get("measures").get(0).get("ebbfs").get("median").asDouble()).isEqualTo(2);
    assertThat(written.get("environment").get("commit").asText()).isEqualTo("abc-dirty");
    assertThat(new ObjectMapper().readValue(json.toFile(), MetadataResults.class))
        .isEqualTo(results(true));
  }

  private static List<String> names(JsonNode node) {
    List<String> names = new ArrayList<>();
    node.fieldNames().forEachRemaining(names::add);
    return names;
  }

  @Test
  void thePageShowsEveryRowAndNeedsNothingElse() throws Exception {
    String page = Files.readString(MetadataPage.write(results(true), directory.resolve("b.json")));
    String rest = page.replace(ChartLibrary.elements(), "");
    assertThat(rest)
        .contains("Native load generator, 64 connections", "Stock Java clients, 16 connections")
        .contains("stat", "create", "2.67", "0.43", "start until reads are served (s)")
        .contains("quick run", "abc-dirty", "-Xmx2048m")
        .doesNotContain("http://", "https://", "src=", "<!--BODY-->", "<!--CHARTS-->");
  }

  @Test
  void withoutHdfsThePageShowsEbbfsAlone() throws Exception {
    String page = Files.readString(MetadataPage.write(results(false), directory.resolve("b.json")));
    assertThat(page).contains("2,000").doesNotContain("\"mark\":28.0");
    assertThat(page.split("<td class=\"n ok\">", -1))
        .as("the goal of the start, and no ratio")
        .hasSize(2);
  }

  @Test
  void eachPlotMarksTheGoalsOfTheMainRows() throws Exception {
    String page = Files.readString(MetadataPage.write(results(true), directory.resolve("b.json")));
    assertThat(page)
        .as("0.4 of 70 us; twice 750 operations per second; 1.2 times those of stock clients")
        .contains("\"mark\":28.0", ", goal 28", "\"mark\":1500.0", "\"mark\":900.0");
  }
}
