package io.ebbfs.cli.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The benchmark of data on both systems, with little data. */
@Tag("process")
@Tag("long")
class DataBenchmarkSystemTest {
  private static final List<String> MEASURED =
      List.of("megabytesPerSecond", "cpuSecondsPerGB", "serverCpuSecondsPerGB", "millis");

  @TempDir Path directory;

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void bothSystemsHaveFiguresOfEveryRow() throws Exception {
    JsonNode report = run("replicated", "striped", "small", "encoded");
    assertThat(report.get("rows")).hasSizeGreaterThan(20);
    for (JsonNode row : report.get("rows")) {
      assertThat(row.get("note").asText()).as("%s", row).isEmpty();
      for (String system : List.of("ebbfs", "hdfs")) {
        JsonNode side = row.get(system);
        assertThat(side.get("millis").asDouble()).as("%s", row).isPositive();
        if (row.get("client").asText().startsWith("stock x16")) {
          MEASURED.forEach(
              figure -> assertThat(side.get(figure).asDouble()).as("%s", row).isPositive());
        }
        if (row.get("name").asText().startsWith("repair") && side.has("trafficBytes")) {
          assertThat(side.get("trafficBytes")).as("%s", row).isEqualTo(side.get("plannedBytes"));
        }
      }
    }
    assertThat(EbbProcess.processesBelow(directory)).as("processes left behind").isEmpty();
  }

  private JsonNode run(String... groups) throws Exception {
    Path json = directory.resolve("report.json");
    Path log = directory.resolve("benchmark.log");
    Process benchmark =
        EbbProcess.start(
            log,
            List.of(
                "bench",
                "data",
                "--quick",
                "--rows",
                String.join(",", groups),
                "--json",
                json.toString(),
                "--dir",
                directory.resolve("systems").toString()));
    int exitCode = benchmark.waitFor();
    assertThat(exitCode).as(Files.readString(log)).isZero();
    return new ObjectMapper().readTree(json.toFile());
  }
}
