package io.ebbfs.cli.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.testbed.Build;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo as a whole, on a small tree: every step with real processes, kills and restarts. */
@Tag("process")
class DemoSystemTest {
  @TempDir Path directory;

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void everythingHoldsOnASmallTree() throws Exception {
    Path data = smallTree();
    Path output = directory.resolve("output");
    Process demo =
        EbbProcess.start(
            directory.resolve("demo.log"),
            List.of(
                "demo",
                data.toString(),
                "--output",
                output.toString(),
                "--dir",
                directory.resolve("cluster").toString()));
    int exitCode = demo.waitFor();
    String log = Files.readString(directory.resolve("demo.log"));
    assertThat(exitCode).as(log).isZero();

    JsonNode report = new ObjectMapper().readTree(output.resolve("demo-report.json").toFile());
    assertThat(report.get("mismatches").asInt()).isZero();
    assertThat(report.get("unreadable").asInt()).isZero();
    assertThat(report.get("verifications").size()).isEqualTo(7);
    for (String family : List.of("product", "lrc")) {
      assertThat(report.get("overheadFinal").get(family).asDouble())
          .isBetween(1.0, report.get("bound").get(family).asDouble());
      JsonNode packing = report.get("packingFinal").get(family);
      assertThat(packing.get("padding").asDouble() + packing.get("unfilled").asDouble())
          .as("%s: %s", family, packing)
          .isBetween(0.0, report.get("overheadFinal").get(family).asDouble() - 1);
    }
    for (String kind : List.of("ENCODE", "UPCODE", "DOWNCODE", "REPAIR")) {
      assertThat(report.get("transitions").get(kind).asLong()).as(kind).isPositive();
    }
    assertThat(report.get("fastCode")).hasSize(2);
    for (JsonNode code : report.get("fastCode")) {
      assertThat(code.get("shareOfReads").asDouble())
          .as("the reads fall on the fast code more than its bytes: %s", code)
          .isBetween(0.2, 1.0)
          .isGreaterThan(code.get("shareOfBytes").asDouble());
      assertThat(code.get("degradedReadBlocksFast").asDouble())
          .as("%s", code)
          .isPositive()
          .isLessThan(code.get("degradedReadBlocksCompact").asDouble());
    }
    assertThat(report.get("hotData")).hasSize(2);
    for (JsonNode hot : report.get("hotData")) {
      assertThat(hot.get("inFastCode").asDouble()).as("%s", hot).isBetween(0.75, 1.0);
      assertThat(hot.get("shareOfBytes").asDouble()).as("%s", hot).isBetween(0.01, 0.15);
    }
    assertThat(report.get("degradedReads").asLong()).isPositive();
    assertThat(report.get("repairedBlocks").asLong()).isPositive();
    assertThat(output.resolve("demo-report.html")).isNotEmptyFile();
    assertThat(EbbProcess.processesBelow(directory)).as("processes left behind").isEmpty();
  }

  /**
   * Long files have whole blocks. In so few files, the padding of other lengths would take the room
   * under the bounds that hot data needs.
   */
  private Path smallTree() throws Exception {
    Path data = Files.createDirectory(directory.resolve("data"));
    Random random = new Random(7);
    for (int i = 0; i < 400; i++) {
      Path subdirectory = Files.createDirectories(data.resolve("d" + i % 20));
      int size = i % 10 == 0 ? (1 + random.nextInt(2)) << 20 : random.nextInt(150_000);
      byte[] bytes = new byte[size];
      random.nextBytes(bytes);
      Files.write(subdirectory.resolve("file " + i), bytes);
    }
    Files.createFile(data.resolve("empty"));
    assertThat(Build.find().home()).isDirectory();
    return data;
  }
}
