package io.ebbfs.cli.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The benchmark of metadata on both systems, with small sizes. */
@Tag("process")
@Tag("long")
class MetadataBenchmarkSystemTest {
  @TempDir Path directory;

  /** The benchmark itself reads the copied files of both systems with a stock client. */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void bothSystemsServeCopiedFilesAndFreeTheirSpace() throws Exception {
    JsonNode report =
        run("--rows", "large", "--directory-files", "40", "--files", "2500", "--rounds", "1");
    assertThat(report.get("rows").findValuesAsText("name"))
        .containsExactly("stat-beside-report", "stat-beyond-cache");
    assertThat(report.get("measures").findValuesAsText("name"))
        .contains(
            "rename of a directory",
            "delete of a directory",
            "delete of a directory: until the space is free",
            "start until reads are served",
            "start until writes are served",
            "resident memory after a start and stats");
    for (JsonNode measure : report.get("measures")) {
      if (measure.get("name").asText().startsWith("start until")) {
        for (String system : List.of("ebbfs", "hdfs")) {
          assertThat(measure.get(system).get("median").asDouble()).as("%s", measure).isPositive();
        }
      }
    }
    assertThat(EbbProcess.processesBelow(directory)).as("processes left behind").isEmpty();
  }

  private JsonNode run(String... options) throws Exception {
    Path json = directory.resolve("report.json");
    List<String> words = new ArrayList<>(List.of("bench", "metadata", "--native-only"));
    words.addAll(List.of("--quick", "--seconds", "0.2", "--json", json.toString()));
    words.addAll(List.of("--dir", directory.resolve("systems").toString()));
    words.addAll(List.of(options));
    Path log = directory.resolve("benchmark.log");
    Process benchmark = EbbProcess.start(log, words);
    int exitCode = benchmark.waitFor();
    assertThat(exitCode).as(Files.readString(log)).isZero();
    return new ObjectMapper().readTree(json.toFile());
  }
}
