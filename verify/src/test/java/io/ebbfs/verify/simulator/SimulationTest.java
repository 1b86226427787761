package io.ebbfs.verify.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Runs simulated schedules. A failure prints its seed. {@code -Debbfs.simulation.seed=N} replays
 * the seed, {@code -Debbfs.simulation.schedules=N} runs more schedules, and {@code
 * -Debbfs.simulation.steps=N} runs longer ones.
 */
class SimulationTest {
  private static final long FIRST_SEED = Long.getLong("ebbfs.simulation.seed", 1L);
  private static final int STEPS = Integer.getInteger("ebbfs.simulation.steps", 40);

  @Test
  void everyPromiseHoldsInEverySchedule() throws InterruptedException {
    run(false);
  }

  @Test
  void everyPromiseHoldsWhileBlocksLeaveTheirStripes() throws InterruptedException {
    EventCounts events = run(true);
    if (System.getProperty("ebbfs.simulation.seed") == null) {
      long releases =
          events.below("published RELEASE").values().stream().mapToLong(Long::longValue).sum();
      assertThat(releases).isGreaterThan(20);
    }
  }

  private static EventCounts run(boolean releases) throws InterruptedException {
    boolean replay = System.getProperty("ebbfs.simulation.seed") != null;
    int schedules = Integer.getInteger("ebbfs.simulation.schedules", replay ? 1 : 300);
    ScheduleRunner run =
        new ScheduleRunner(FIRST_SEED, schedules, new ScheduleRunner.Shape(1, STEPS, releases));
    run.run(1, () -> false, seed -> {});
    run.failure()
        .ifPresent(
            failure -> {
              throw failure.toError();
            });
    assertThat(run.events().of("schedules")).isEqualTo(schedules);
    return run.events();
  }
}
