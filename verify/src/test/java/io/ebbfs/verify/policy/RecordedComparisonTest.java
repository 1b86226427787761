package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.verify.policy.RecordedComparison.Row;
import io.ebbfs.workloads.results.Recording;
import io.ebbfs.workloads.results.Recording.Moves;
import io.ebbfs.workloads.results.Recording.Step;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A recording that is counted by hand: a file of 30 blocks fills one stripe of PC(6x5). It is
 * encoded from the second step on, and its reads make it fast from the fifth on.
 */
class RecordedComparisonTest {
  private static final int STEPS = 10;
  private static final int READ_IN = 3;
  private static final int LOST_IN = 2;
  private static final int AWAY_IN = 7;
  private static final String POLICIES =
      """
      policies:
        - name: all
          paths: [/data]
          family: product
          storageBound: null
          readHot: {perFile: 5}
          writeColdAfter: 0s
          fillWait: 0s
      """;

  @TempDir private Path directory;

  private static Recording recording(String policies, Moves moves) {
    List<Step> steps = new ArrayList<>();
    for (int step = 0; step < STEPS; step++) {
      Map<Integer, Integer> opens = Map.of();
      if (step == READ_IN) {
        opens = Map.of(0, 10);
      } else if (step == AWAY_IN) {
        opens = Map.of(0, 4);
      }
      steps.add(new Step(opens, step == LOST_IN ? 1 / 42.0 : 0, step == AWAY_IN ? 0.1 : 0, 1.8));
    }
    return new Recording(
        2_000,
        60_000,
        1 << 18,
        3_600_000,
        7 * 86_400_000L,
        policies,
        List.of(new Recording.File("/data/a", 30, -5_000)),
        steps,
        moves);
  }

  private static Row row(RecordedComparison compared, String name) {
    return compared.rows().stream().filter(r -> r.name().equals(name)).findFirst().orElseThrow();
  }

  /** A lost block of PC(6x5) is rebuilt from 5 blocks; a block of PC(2x5) is decoded from 2. */
  @Test
  void theMovesAreThoseOfThePlans() throws Exception {
    Moves measured = new Moves(42, 43, 5, 0);
    RecordedComparison compared =
        RecordedComparison.of("tiny", "pc", recording(POLICIES, measured));
    assertThat(row(compared, "encode")).isEqualTo(new Row("encode", 42, 42, 1.0));
    assertThat(row(compared, "convert")).isEqualTo(new Row("convert", 43, 43, 1.0));
    assertThat(row(compared, "repair").simulated()).isCloseTo(6, within(1e-9));
    assertThat(row(compared, "repair").ratio()).isCloseTo(6 / 5.0, within(1e-9));
    Row degraded = row(compared, "degraded reads");
    assertThat(degraded.simulated()).isCloseTo(4 * 30 * 0.1 * 2, within(1e-9));
    assertThat(degraded.ratio()).as("nothing was measured").isNull();
    assertThat(row(compared, "all moves").simulated()).isCloseTo(42 + 43 + 6 + 24, within(1e-9));
    assertThat(row(compared, "stored per byte").measured()).isCloseTo(1.8, within(1e-9));
    assertThat(row(compared, "stored per byte").simulated())
        .isCloseTo((3 + 3 * 1.4 + 6 * 1.8) / 10, within(1e-9));
    assertThat(compared.opens()).isEqualTo(14);
  }

  /** Copies of replicas are counted on neither side. */
  @Test
  void replicasMoveNothing() throws Exception {
    String none = POLICIES.replace("/data", "/nothing");
    RecordedComparison compared =
        RecordedComparison.of("tiny", "replicas", recording(none, new Moves(0, 0, 0, 0)));
    assertThat(compared.rows().subList(0, 5))
        .allSatisfy(row -> assertThat(row.simulated()).isZero());
    assertThat(row(compared, "stored per byte").simulated()).isEqualTo(3);
  }

  /** A file that was written later is write-cold later. */
  @Test
  void theAgeOfTheFilesCounts() throws Exception {
    String patient = POLICIES.replace("writeColdAfter: 0s", "writeColdAfter: 60s");
    RecordedComparison compared =
        RecordedComparison.of("tiny", "pc", recording(patient, new Moves(0, 0, 0, 0)));
    assertThat(row(compared, "encode").simulated()).isZero();
    String old = POLICIES.replace("writeColdAfter: 0s", "writeColdAfter: 7s");
    assertThat(
            row(
                    RecordedComparison.of("tiny", "pc", recording(old, new Moves(0, 0, 0, 0))),
                    "encode")
                .simulated())
        .isEqualTo(42);
  }

  private Path results(Object recording) throws IOException {
    Path file = directory.resolve("pc.json");
    Map<String, Object> tree =
        Map.of(
            "format",
            1,
            "experiment",
            "tiny",
            "system",
            Map.of("name", "pc"),
            "later",
            "a field of a later version",
            "recording",
            recording);
    new ObjectMapper().writeValue(file.toFile(), tree);
    return file;
  }

  @Test
  void aRecordingIsReadFromTheResultsOfAnExperiment() throws Exception {
    Recording recording = recording(POLICIES, new Moves(40, 43, 6, 24));
    RecordedComparison compared = RecordedComparison.of(results(recording));
    assertThat(compared).isEqualTo(RecordedComparison.of("tiny", "pc", recording));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    compared.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .contains("tiny, pc: 1 files of 30 blocks, 14 opens in 10 steps of 2 s")
        .containsPattern("encode +40.00 +42.00 +1.050");
    assertThat(compared.figures()).containsKeys("system", "opens", "rows");
  }

  @Test
  void whatCannotBeSimulatedIsRefusedByName() throws IOException {
    Path without = directory.resolve("old.json");
    Files.writeString(without, "{\"format\": 1, \"system\": {\"name\": \"pc\"}}");
    assertThatThrownBy(() -> RecordedComparison.of(without))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("old.json", "holds no recording", "recorded.yaml");
    Recording unknown = recording(POLICIES.replace("product", "prodct"), new Moves(0, 0, 0, 0));
    Path wrong = results(unknown);
    assertThatThrownBy(() -> RecordedComparison.of(wrong))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("pc.json", "prodct");
  }

  @Test
  void anOpenOfAFileThatIsNotThereIsRefused() {
    Recording good = recording(POLICIES, new Moves(0, 0, 0, 0));
    Recording bad =
        new Recording(
            good.stepMillis(),
            good.countedMillis(),
            good.blockBytes(),
            good.heatMillis(),
            good.memoryMillis(),
            good.policies(),
            good.files(),
            List.of(new Step(Map.of(1, 1), 0, 0, 3)),
            good.moves());
    assertThatThrownBy(() -> RecordedComparison.of("tiny", "pc", bad))
        .hasMessageContaining("step 0 opens file 1, and there are 1 files");
  }
}
