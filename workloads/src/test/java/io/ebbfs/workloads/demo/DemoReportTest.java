package io.ebbfs.workloads.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.common.charts.ChartLibrary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of the demo is one file that holds its data and the chart library. */
class DemoReportTest {
  @TempDir Path directory;

  @Test
  void thePageNeedsNothingElseAndHoldsTheData() throws Exception {
    DemoReport report = new DemoReport();
    report.files = 7;
    report.faults = List.of("deleted /a/</script><!--<script>", "<!--CHARTS-->");
    Path json = directory.resolve("demo-report.json");
    Path html = directory.resolve("demo-report.html");
    report.write(json, html);

    String page = Files.readString(html);
    assertThat(page.contains(ChartLibrary.elements())).isTrue();
    String rest = page.replace(ChartLibrary.elements(), "");
    assertThat(rest)
        .contains("Content-Security-Policy", "default-src 'none'")
        .doesNotContain("http://", "https://", "src=", "href=", "<!--CHARTS-->", "/*REPORT*/");
    String data = rest.substring(rest.indexOf("const report = ") + 15);
    JsonNode shown = new ObjectMapper().readTree(data);
    assertThat(shown).isEqualTo(new ObjectMapper().readTree(json.toFile()));
    assertThat(shown.path("faults").get(0).asText()).isEqualTo("deleted /a/</script><!--<script>");
  }
}
