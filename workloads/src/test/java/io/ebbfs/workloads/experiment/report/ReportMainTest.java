package io.ebbfs.workloads.experiment.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ebbfs.workloads.experiment.Results;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReportMainTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @TempDir Path directory;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int report() {
    return ReportMain.run(directory, new PrintStream(out, true), new PrintStream(err, true));
  }

  private Path file(String name) throws IOException {
    return Files.createDirectories(directory.resolve("runs")).resolve(name);
  }

  private void write(List<Results> all) throws IOException {
    for (Results results : all) {
      MAPPER.writeValue(file(results.system().name() + ".json").toFile(), results);
    }
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

    String page = Files.readString(directory.resolve("report.html"));
    assertThat(page)
        .contains("Figure 9", "Figures 10 and 11", "Figure 12", "Table 2", "Table 3", "Table 4")
        .contains("Time to safety", "Sensitivity: bound", "MapReduce")
        .doesNotContain("<!--BODY-->", "NaN", "Infinity", "null", "http://", "https://", "src=");
  }

  @Test
  void aSingleSystemGivesAPageToo() throws IOException {
    write(List.of(Synthetic.product()));
    assertThat(report()).as(err.toString()).isZero();
    assertThat(Files.readString(directory.resolve("report.html")))
        .contains("not measured here")
        .doesNotContain("NaN", "null");
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
            null);
    write(List.of(empty));
    assertThat(report()).as(err.toString()).isZero();
    assertThat(Files.readString(directory.resolve("report.html")))
        .contains("No degraded reads were measured", "No disk or server was lost")
        .doesNotContain("NaN", "null");
  }

  @Test
  void namesFromResultsAreEscaped() throws IOException {
    write(List.of(Synthetic.system("x", "<script>&", "PC(2x5)", "PC(6x5)", 1.5)));
    assertThat(report()).isZero();
    assertThat(Files.readString(directory.resolve("report.html")))
        .contains("&lt;script&gt;&amp;")
        .doesNotContain("<script>&");
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
    assertThat(Files.readString(directory.resolve("report.html")))
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
