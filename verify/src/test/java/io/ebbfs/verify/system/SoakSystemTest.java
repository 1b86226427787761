package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.verify.soak.Soak;
import io.ebbfs.verify.soak.SoakOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A minute of the soak. Longer runs are {@code ./ebb soak}. */
@Tag("process")
class SoakSystemTest {
  private static final long SEED = Long.getLong("ebbfs.seed", 20_261_123);

  @TempDir Path directory;

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void nothingIsLostWrongOrStuckWhileThingsBreak() throws Exception {
    Path json = directory.resolve("soak.json");
    SoakOptions options =
        new SoakOptions(Duration.ofMinutes(1), SEED, Optional.of(json), Optional.empty());
    assertThat(Soak.run(options, System.out)).as("seed " + SEED + "; see the output").isTrue();
    JsonNode figures = new ObjectMapper().readTree(json.toFile());
    assertThat(figures.get("acknowledged").asLong()).isGreaterThan(50);
    assertThat(figures.get("faults").asLong()).isGreaterThan(1);
    for (String name : new String[] {"wrong", "lost", "stuck", "orphans", "leaked"}) {
      assertThat(figures.get(name).asLong()).as(name).isZero();
    }
  }
}
