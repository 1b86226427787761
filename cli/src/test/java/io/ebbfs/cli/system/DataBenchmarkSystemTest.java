package io.ebbfs.cli.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.testbed.network.ShapedNetwork;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  void bothSystemsHaveFiguresOfEveryRow() throws Exception {
    JsonNode report = run("--rows", "replicated,striped,small,random,encoded");
    assertThat(report.get("rows")).hasSizeGreaterThan(30);
    for (JsonNode row : report.get("rows")) {
      assertThat(row.get("note").asText()).as("%s", row).isEmpty();
      for (String system : List.of("ebbfs", "hdfs")) {
        JsonNode side = row.get(system);
        assertThat(side.get("millis").asDouble()).as("%s", row).isPositive();
        if (row.get("client").asText().endsWith("stock x16")) {
          MEASURED.forEach(
              figure -> assertThat(side.get(figure).asDouble()).as("%s", row).isPositive());
        }
        if (row.get("name").asText().startsWith("repair") && side.has("trafficBytes")) {
          assertThat(side.get("trafficBytes")).as("%s", row).isEqualTo(side.get("plannedBytes"));
        }
      }
    }
    eachRowOfTheNativeClientIsBesideTheSameRunOfHdfs(report.get("rows"));
    assertThat(EbbProcess.processesBelow(directory)).as("processes left behind").isEmpty();
  }

  private static void eachRowOfTheNativeClientIsBesideTheSameRunOfHdfs(JsonNode rows) {
    int pairs = 0;
    JsonNode before = null;
    for (JsonNode row : rows) {
      String client = row.get("client").asText();
      if (client.startsWith("native")) {
        assertThat(before.get("name")).as("%s", row).isEqualTo(row.get("name"));
        assertThat(client).endsWith(", " + before.get("client").asText());
        assertThat(row.get("hdfs")).as("%s", row).isEqualTo(before.get("hdfs"));
        assertThat(row.get("ebbfs")).as("%s", row).isNotEqualTo(before.get("ebbfs"));
        pairs++;
      }
      before = row;
    }
    // Two of each size of replicated files, three striped, two small, four random, six encoded.
    assertThat(pairs).isEqualTo(2 * 2 + 3 + 2 + 4 + 3 * 2);
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void linksCountTheBytesOfBothSystems() throws Exception {
    assumeThat(ShapedNetwork.isPossible()).as("links need root").isTrue();
    JsonNode report = run("--rows", "striped", "--warm-ups", "0", "--rate", "400mbit");
    assertThat(report.get("environment").get("rate").asText()).isEqualTo("400mbit");
    for (JsonNode row : report.get("rows")) {
      assertThat(row.get("note").asText()).as("%s", row).isEmpty();
      boolean reads = row.get("name").asText().startsWith("read");
      for (String system : List.of("ebbfs", "hdfs")) {
        JsonNode side = row.get(system);
        long received = side.get(reads ? "clientLinkBytes" : "serverLinkBytes").asLong();
        // A write sends parities too, six data blocks have three.
        double perByte = received / side.get("bytes").asDouble();
        assertThat(perByte).as("%s", row).isBetween(reads ? 1.0 : 1.5, reads ? 1.2 : 1.8);
        assertThat(side.get("megabytesPerSecond").asDouble()).as("%s", row).isLessThan(50);
      }
    }
    assertThat(EbbProcess.processesBelow(directory)).as("processes left behind").isEmpty();
  }

  private JsonNode run(String... words) throws Exception {
    Path json = directory.resolve("report.json");
    Path log = directory.resolve("benchmark.log");
    List<String> command = new ArrayList<>(List.of("bench", "data", "--quick"));
    command.addAll(List.of(words));
    command.addAll(List.of("--json", json.toString()));
    command.addAll(List.of("--dir", directory.resolve("systems").toString()));
    Process benchmark = EbbProcess.start(log, command);
    int exitCode = benchmark.waitFor();
    assertThat(exitCode).as(Files.readString(log)).isZero();
    return new ObjectMapper().readTree(json.toFile());
  }
}
