package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ComparedPoliciesTest {
  private static final Path DOCS = Path.of("..", "docs");
  private static final long MOST_BYTES = 300L << 10;

  @TempDir private Path directory;

  private static String printed(ComparedPolicies compared) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    compared.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static ComparedPolicies run() throws IOException {
    return new PolicyComparison(
            new PolicyComparison.Options(3, 2, 1, List.of("flash", "CC1"), Optional.empty()))
        .run(new PrintStream(new ByteArrayOutputStream()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"figures.json", "figures.json.gz"})
  void whatIsWrittenIsReadAgain(String name) throws IOException {
    ComparedPolicies compared = run();
    Path file = directory.resolve(name);
    compared.write(file);
    assertThat(ComparedPolicies.read(file)).isEqualTo(compared);
    assertThat(printed(ComparedPolicies.read(file))).isEqualTo(printed(compared));
    assertThat(printed(compared)).contains("seeds 3 to 4", "flash", "auto: at most 15%", "by seed");
  }

  /** Scripts read these names. */
  @Test
  void theMeansOfEachSystemAreWritten() throws IOException {
    ComparedPolicies compared = run();
    Path file = directory.resolve("figures.json");
    compared.write(file);
    JsonNode workloads = new ObjectMapper().readTree(file.toFile()).get("workloads");
    assertThat(workloads).hasSize(2);
    for (int i = 0; i < workloads.size(); i++) {
      ComparedPolicies.Result result = compared.results().get(i);
      assertThat(workloads.get(i).get("name").asText()).isEqualTo(result.workload());
      JsonNode systems = workloads.get(i).get("systems");
      assertThat(systems).hasSize(result.systems().size());
      for (JsonNode system : systems) {
        List<Ledger.Figures> seeds = result.systems().get(system.get("name").asText());
        assertThat(system.get("netBytesPerByteDay").asDouble())
            .isEqualTo((seeds.get(0).net() + seeds.get(1).net()) / 2, within(1e-12));
        assertThat(system.get("hotDegradedReadMillis").isNull())
            .isEqualTo(PolicyTable.hotMillis(seeds).isEmpty());
        assertThat(system.get("degradedReadMillis").asDouble())
            .isEqualTo(
                (seeds.get(0).degradedMillis() + seeds.get(1).degradedMillis()) / 2, within(1e-9));
      }
    }
  }

  @Test
  void anotherFormatIsRefused() throws IOException {
    Path file = directory.resolve("old.json");
    new ComparedPolicies(1, 1, 1, 1, List.of()).write(file);
    assertThatThrownBy(() -> ComparedPolicies.read(file))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("old.json", "the format 1", "--json");
  }

  /** The tables of the document are those of the published figures. */
  @ParameterizedTest
  @CsvSource({"policy-comparison.json.gz, 10", "policy-crowds.json.gz, 60"})
  void theDocumentShowsThePublishedFigures(String name, int seeds) throws IOException {
    Path file = DOCS.resolve("data").resolve(name);
    ComparedPolicies published = ComparedPolicies.read(file);
    assertThat(Files.size(file)).isLessThan(MOST_BYTES);
    assertThat(published.seeds()).isGreaterThanOrEqualTo(seeds);
    String document = Files.readString(DOCS.resolve("policy-comparison.md"));
    for (String line : printed(published).lines().toList()) {
      assertThat(document).contains(line);
    }
    assertThat(document).contains(printed(published).strip());
  }
}
