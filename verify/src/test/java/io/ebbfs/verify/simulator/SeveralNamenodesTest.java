package io.ebbfs.verify.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Short schedules with three namenodes on one store. A failure prints its seed. */
class SeveralNamenodesTest {
  private static final long FIRST_SEED = 1;
  private static final int SCHEDULES = 100;
  private static final int THREADS = 2;

  @Test
  void everyPromiseHoldsInEverySchedule() throws InterruptedException {
    ScheduleRunner.Shape shape = new ScheduleRunner.Shape(3, SimulationRun.STEPS_OF_SEVERAL);
    ScheduleRunner run = new ScheduleRunner(FIRST_SEED, SCHEDULES, shape);
    run.run(THREADS, () -> false, seed -> {});
    run.failure()
        .ifPresent(
            failure -> {
              throw failure.toError();
            });
    assertThat(run.events().of("schedules")).isEqualTo(SCHEDULES);
    assertThat(run.events().of("fault leader frozen")).isPositive();
    assertThat(run.events().of("fault former leader wakes up while another one leads"))
        .isPositive();
    System.out.printf("seeds %d to %d with 3 namenodes%n", FIRST_SEED, FIRST_SEED + SCHEDULES - 1);
  }
}
