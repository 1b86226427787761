package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.verify.histories.Histories;
import io.ebbfs.verify.histories.HistoriesOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Half a minute of histories with three namenodes. Longer runs are {@code ./ebb verify histories}.
 */
@Tag("process")
class HistoriesSystemTest {
  private static final long SEED = Long.getLong("ebbfs.seed", 20_261_124);

  @TempDir Path directory;

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void theNamespaceIsLinearizableWhileNamenodesAndStoreNodesAreKilledAndFrozen() throws Exception {
    Path json = directory.resolve("histories.json");
    HistoriesOptions options =
        new HistoriesOptions(Duration.ofSeconds(30), 3, SEED, Optional.of(json), Optional.empty());
    assertThat(Histories.run(options, System.out)).as("seed " + SEED + "; see the output").isTrue();
    JsonNode figures = new ObjectMapper().readTree(json.toFile());
    assertThat(figures.get("violations").asLong()).isZero();
    assertThat(figures.get("histories").asLong()).isPositive();
    assertThat(figures.get("operations").asLong()).isGreaterThan(100);
    assertThat(figures.get("faults").asLong()).isPositive();
  }
}
