package io.ebbfs.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ebbfs.common.charts.ChartLibrary;
import io.ebbfs.workloads.results.Results;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReportTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @TempDir Path directory;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int report() {
    return report(false);
  }

  private int report(boolean mixedCommits) {
    return new Report(directory, mixedCommits)
        .write(new PrintStream(out, true), new PrintStream(err, true));
  }

  private Path file(String name) throws IOException {
    return Files.createDirectories(directory.resolve("runs")).resolve(name);
  }

  private void write(List<Results> all) throws IOException {
    for (Results results : all) {
      MAPPER.writeValue(file(results.system().name() + ".json").toFile(), results);
    }
  }

  /** The page without the scripts that are the same in every page. */
  private String page() throws IOException {
    String page = Files.readString(directory.resolve("report.html"));
    String scripts = ChartLibrary.elements();
    assertThat(page.contains(scripts)).as("the page contains the chart library").isTrue();
    return page.replace(scripts, "");
  }

  @Test
  void allSystemsGiveAPageAndAFileForPrograms() throws IOException {
    write(Synthetic.all());
    assertThat(report()).as(err.toString()).isZero();
    assertThat(out.toString()).contains("EbbFS-PC, bound 1.5", "report.html", "goals");

    JsonNode json = MAPPER.readTree(directory.resolve("report.json").toFile());
    assertThat(json.path("format").asInt()).isEqualTo(Figures.FORMAT);
    assertThat(json.path("claims").path(0).path("verdict").asText()).isEqualTo("CONFIRMED");
    assertThat(json.path("degradedReads")).hasSize(9 * 5);
    assertThat(json.findValuesAsText("median")).doesNotContain("NaN", "Infinity");

    String page = page();
    assertThat(page)
        .contains("Figure 9", "Figures 10 and 11", "Figure 12", "Table 2", "Table 3", "Table 4")
        .contains("Time to safety", "Sensitivity: bound", "MapReduce")
        .doesNotContain("<!--BODY-->", "NaN", "Infinity", "null", "http://", "https://", "src=");
  }

  @Test
  void compressedResultsGiveTheSamePage() throws IOException {
    write(Synthetic.all());
    assertThat(report()).as(err.toString()).isZero();
    String plain = Files.readString(directory.resolve("report.json"));
    for (Results results : Synthetic.all()) {
      Path file = file(results.system().name() + ".json");
      try (OutputStream compressed = new GZIPOutputStream(Files.newOutputStream(file("x")))) {
        Files.copy(file, compressed);
      }
      Files.delete(file);
      Files.move(file("x"), file(results.system().name() + ".json.gz"));
    }
    assertThat(report()).as(err.toString()).isZero();
    assertThat(directory.resolve("report.json")).hasContent(plain);
  }

  /** Also the library: it must not load anything. Its name spaces are identifiers, no addresses. */
  @Test
  void aPageNeedsNothingElse() throws IOException {
    write(Synthetic.all());
    assertThat(report()).as(err.toString()).isZero();
    String page = Files.readString(directory.resolve("report.html"));
    assertThat(Pattern.compile("(src|href)\\s*=\\s*[\"']?(https?:)?//").matcher(page).find())
        .isFalse();
    assertThat(page.contains("<link") || page.contains("<script src") || page.contains("@import"))
        .isFalse();
    assertThat(page.contains("content=\"default-src 'none'; script-src 'unsafe-inline'"))
        .as("the browser is told to load nothing")
        .isTrue();
  }

  /** Every series and mark of a chart is in the data that the plotting library draws. */
  @Test
  void plotsHoldWhatTheyShow() throws IOException {
    write(Synthetic.all());
    assertThat(report()).as(err.toString()).isZero();
    List<JsonNode> plots = plots(page());
    assertThat(plots).extracting(plot -> plot.path("kind").asText()).contains("bars", "scatter");

    JsonNode latency = plots.get(0);
    assertThat(latency.path("kind").asText()).isEqualTo("scatter");
    assertThat(latency.path("series").findValuesAsText("name"))
        .contains("EbbFS-PC, bound 1.5", "RS(10,4)")
        .doesNotContain("three replicas"); // beyond the axis, and told in words
    JsonNode point = latency.path("series").get(0).path("points").get(0);
    assertThat(point.path("label").asText()).isEqualTo("CC1");
    assertThat(point.path("low").asDouble())
        .isLessThanOrEqualTo(point.path("y").asDouble())
        .isPositive();
    assertThat(point.path("high").asDouble()).isGreaterThanOrEqualTo(point.path("y").asDouble());
    assertThat(point.path("text").asText()).startsWith("EbbFS-PC, bound 1.5, CC1: ");

    JsonNode traffic =
        plots.stream()
            .filter(p -> p.path("xLabel").asText().startsWith("blocks read and written"))
            .findFirst()
            .orElseThrow();
    assertThat(traffic.path("groups").findValuesAsText("title"))
        .containsExactly("Lost: a disk", "Lost: a server");
    JsonNode bar = traffic.path("groups").get(0).path("bars").get(0);
    assertThat(bar.path("label").asText()).isEqualTo("EbbFS-PC, bound 1.5");
    assertThat(bar.path("mark").asDouble()).as("what the arithmetic says").isPositive();
    assertThat(bar.path("low").asDouble()).isLessThanOrEqualTo(bar.path("high").asDouble());
    assertThat(traffic.path("names").path("mark").asText()).isEqualTo("arithmetic");

    assertThat(plots)
        .filteredOn(p -> p.path("yLabel").asText().equals("stored bytes per byte"))
        .filteredOn(p -> p.path("levels").findValuesAsText("text").contains("bound 1.5"))
        .as("a plot of storage for each workload, with the bound")
        .hasSize(5);
  }

  private static List<JsonNode> plots(String page) throws IOException {
    Matcher data =
        Pattern.compile("<script type=\"application/json\">(.*?)</script>").matcher(page);
    List<JsonNode> plots = new ArrayList<>();
    while (data.find()) {
      plots.add(MAPPER.readTree(data.group(1)));
    }
    return plots;
  }

  @Test
  void aSingleSystemGivesAPageToo() throws IOException {
    write(List.of(Synthetic.product()));
    assertThat(report()).as(err.toString()).isZero();
    assertThat(page()).contains("not measured here").doesNotContain("NaN", "null");
  }

  @Test
  void resultsThatHoldNothingYetGiveAPageThatSaysSo() throws IOException {
    Results r = Synthetic.product();
    Results empty =
        new Results(
            r.format(),
            r.experiment(),
            r.system(),
            r.environment(),
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null);
    write(List.of(empty));
    assertThat(report()).as(err.toString()).isZero();
    assertThat(page())
        .contains("No degraded reads were measured", "No disk or server was lost")
        .doesNotContain("NaN", "null");
  }

  @Test
  void namesFromResultsAreEscaped() throws IOException {
    write(List.of(Synthetic.system("x", "<script>&", "PC(2x5)", "PC(6x5)", 1.5)));
    assertThat(report()).isZero();
    assertThat(page()).contains("&lt;script&gt;&amp;").doesNotContain("<script>&");
  }

  @Test
  void aDirectoryWithoutRunsIsRefused() throws IOException {
    assertThat(report()).isEqualTo(2);
    assertThat(err.toString()).contains("holds no runs", directory.toString(), "experiment run");
    Files.writeString(file(".half.json"), "{"); // somebody is writing it
    assertThat(report()).isEqualTo(2);
  }

  @Test
  void anotherFormatIsRefusedByName() throws IOException {
    ObjectNode tree = MAPPER.valueToTree(Synthetic.product());
    tree.put("format", 99);
    MAPPER.writeValue(file("old.json").toFile(), tree);
    assertThat(report()).isEqualTo(2);
    assertThat(err.toString()).contains("old.json", "format 99", "format " + Results.FORMAT);
  }

  @Test
  void aBrokenFileIsNamed() throws IOException {
    Files.writeString(file("pc.json"), "{\"format\": 1, \"reads\": 7");
    assertThat(report()).isEqualTo(2);
    assertThat(err.toString()).contains("pc.json");
  }

  private void writeTwoCommits() throws IOException {
    write(
        List.of(
            Synthetic.of(Synthetic.product(), "1111111111111111111111111111111111111111"),
            Synthetic.of(
                Synthetic.single("RS(6,3)"), "2222222222222222222222222222222222222222-dirty")));
  }

  @Test
  void systemsOfDifferentCommitsAreRefusedByName() throws IOException {
    writeTwoCommits();
    assertThat(report()).isEqualTo(2);
    assertThat(err.toString())
        .contains("pc-1.5: 111111111111 of 2026-01-01", "RS(6,3): 222222222222-dirty of 2026-01-01")
        .contains("--mixed-commits", "again");
    assertThat(directory.resolve("report.html")).doesNotExist();
  }

  @Test
  void systemsOfDifferentCommitsAreNamedOnTopOfThePageIfAllowed() throws IOException {
    writeTwoCommits();
    assertThat(report(true)).as(err.toString()).isZero();
    String page = page();
    assertThat(page.substring(0, page.indexOf("</header>")))
        .contains("different commits: pc-1.5: 111111111111 of 2026-01-01, RS(6,3): 222222222222");
    JsonNode json = MAPPER.readTree(directory.resolve("report.json").toFile());
    assertThat(json.path("environment").path("commit").asText()).startsWith("1111");
    assertThat(json.path("runs").findValuesAsText("commit")).hasSize(2).doesNotHaveDuplicates();
  }

  @Test
  void resultsWithoutACommitAreOfAnUnknownOne() throws IOException {
    ObjectNode tree = MAPPER.valueToTree(Synthetic.product());
    ((ObjectNode) tree.path("environment")).remove("commit");
    MAPPER.writeValue(file("pc-1.5.json").toFile(), tree);
    assertThat(report()).as(err.toString()).isZero();
    write(List.of(Synthetic.single("RS(6,3)")));
    assertThat(report()).isEqualTo(2);
    assertThat(err.toString()).contains("pc-1.5: unknown commit of 2026-01-01");
  }

  @Test
  void theSamplesOfTheBoundAreToldOnce() throws IOException {
    write(Synthetic.all());
    assertThat(report()).as(err.toString()).isZero();
    assertThat(page().split("samples above the bound", -1)).hasSize(2);
  }

  @Test
  void fieldsOfALaterWriterAreNoObstacle() throws IOException {
    ObjectNode tree = MAPPER.valueToTree(Synthetic.product());
    tree.put("later", 1);
    MAPPER.writeValue(file("pc.json").toFile(), tree);
    assertThat(report()).as(err.toString()).isZero();
  }

  @Test
  void variantsAloneGiveAPageOfSensitivity() throws IOException {
    write(
        List.of(
            Synthetic.named(Synthetic.product(), "pc@small=0"),
            Synthetic.named(Synthetic.product(), "pc@small=0.9")));
    assertThat(report()).as(err.toString()).isZero();
    assertThat(page())
        .contains("Sensitivity: small", "Storage over time", "2 systems")
        .doesNotContain("What the paper claims", "NaN", "null");
  }

  @Test
  void aSystemWithoutATitleIsCalledByItsName() throws IOException {
    ObjectNode tree = MAPPER.valueToTree(Synthetic.product());
    ((ObjectNode) tree.path("system")).putNull("title");
    MAPPER.writeValue(file("pc.json").toFile(), tree);
    assertThat(report()).as(err.toString()).isZero();
    assertThat(out.toString()).contains("pc-1.5");
  }
}
