package io.ebbfs.namespace.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Runs simulated schedules. A failure prints its seed; {@code -Debbfs.simulation.seed=N} replays
 * it, {@code -Debbfs.simulation.schedules=N} runs more, {@code -Debbfs.simulation.steps=N} longer
 * ones.
 */
class SimulationTest {
  private static final long FIRST_SEED = Long.getLong("ebbfs.simulation.seed", 1L);
  private static final int STEPS = Integer.getInteger("ebbfs.simulation.steps", 100);

  @Test
  void everyPromiseHoldsInEverySchedule() {
    boolean replay = System.getProperty("ebbfs.simulation.seed") != null;
    int schedules = Integer.getInteger("ebbfs.simulation.schedules", replay ? 1 : 60);
    for (long seed = FIRST_SEED; seed < FIRST_SEED + schedules; seed++) {
      run(seed);
    }
  }

  private static void run(long seed) {
    Simulation simulation = null;
    try {
      simulation = new Simulation(seed);
      simulation.run(STEPS);
    } catch (Throwable e) {
      List<String> log = simulation == null ? List.of() : simulation.log();
      throw new AssertionError(
          "replay with -Debbfs.simulation.seed="
              + seed
              + " -Debbfs.simulation.steps="
              + STEPS
              + "\n"
              + String.join("\n", log),
          e);
    }
    assertThat(simulation.log()).isNotEmpty();
  }
}
