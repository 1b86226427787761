package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PolicySweepTest {
  private static final PolicyComparison.Options OPTIONS =
      new PolicyComparison.Options(1, 1, 4, List.of("CC1"), Optional.empty());

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  @SuppressWarnings("unchecked")
  private List<PolicySweep.Grid> grids(PolicySweep.Kind kind) throws IOException {
    Map<String, Object> json =
        new PolicySweep(OPTIONS).run(kind, new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return (List<PolicySweep.Grid>) json.get("grids");
  }

  /** Reads and failures make the fast code worth its conversions; without them nothing is. */
  @Test
  void adaptationPaysWhereReadsAndFailuresAreFrequent() throws IOException {
    List<PolicySweep.Grid> grids = grids(PolicySweep.Kind.REGION);
    PolicySweep.Grid compact = grids.get(0);
    int last = compact.rows().size() - 1;
    int most = compact.columns().size() - 1;
    assertThat(compact.cells().get(0).get(0)).isBetween(0.99, 1.02);
    assertThat(compact.cells().get(last).get(most)).isLessThan(0.8);
    assertThat(grids.get(1).notes().get(0).get(0)).isNotEmpty();
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .contains("CC1, 4 simulated days", compact.title(), "opens/day");
  }

  /** A system with another memory decides otherwise. */
  @Test
  void theMemoryMatters() throws IOException {
    List<Double> cells = grids(PolicySweep.Kind.MEMORY).get(0).cells().get(0);
    assertThat(cells.stream().distinct().count()).isGreaterThan(1);
  }

  @Test
  void lowThresholdsConvertMost() throws IOException {
    PolicySweep.Grid grid = grids(PolicySweep.Kind.THRESHOLD).get(0);
    List<Double> hour = grid.cells().get(0);
    assertThat(hour.get(hour.size() - 1)).as("hot from 300 opens on").isEqualTo(1.0);
    assertThat(hour.get(0)).isNotEqualTo(1.0);
    assertThat(grid.cells().get(0)).isNotEqualTo(grid.cells().get(3));
  }
}
