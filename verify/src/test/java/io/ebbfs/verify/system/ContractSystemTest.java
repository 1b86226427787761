package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.verify.contract.ContractOptions;
import io.ebbfs.verify.contract.ContractRun;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Hadoop's contract tests of file systems, all on one cluster. The resource {@code
 * contract-left-out.txt} names those that do not pass on Apache HDFS: they fail there, or find that
 * HDFS does not claim to have what they test.
 */
@Tag("process")
class ContractSystemTest {
  /** Of Hadoop 3.5.0, on Apache HDFS and on EbbFS. */
  private static final int PASSED = 292;

  @TempDir Path directory;

  @Test
  void theSameTestsPassAsOnApacheHdfs() throws Exception {
    JsonNode result = run(false);
    assertThat(names(result.get("failed"))).as("failed tests").isEmpty();
    assertEndsAsOnHdfs(result);
  }

  /** The number and the names are those of Apache HDFS. */
  @Test
  @Tag("long")
  void apacheHdfsPassesTheSameTests() throws Exception {
    assertEndsAsOnHdfs(run(true));
  }

  private JsonNode run(boolean onHdfs) throws Exception {
    Path result = directory.resolve("result.json");
    ContractRun.run(
        new ContractOptions(
            onHdfs, List.of(), Optional.of(result), Optional.of(directory.resolve("run"))),
        System.out);
    return new ObjectMapper().readTree(result.toFile());
  }

  private static void assertEndsAsOnHdfs(JsonNode result) throws IOException {
    List<String> others = names(result.get("failed"));
    others.addAll(names(result.get("leftOut").findValues("name")));
    assertThat(others)
        .as("tests that do not pass")
        .containsExactlyInAnyOrderElementsOf(leftOutOnHdfs());
    assertThat(result.get("passed").asInt()).as("tests that pass").isEqualTo(PASSED);
  }

  private static List<String> names(Iterable<JsonNode> tests) {
    List<String> names = new ArrayList<>();
    tests.forEach(name -> names.add(name.asText()));
    return names;
  }

  private static List<String> leftOutOnHdfs() throws IOException {
    try (InputStream names =
        ContractSystemTest.class.getResourceAsStream("contract-left-out.txt")) {
      return new String(names.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }
}
