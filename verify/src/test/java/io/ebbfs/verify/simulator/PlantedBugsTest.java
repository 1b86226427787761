package io.ebbfs.verify.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulation finds each planted bug. */
class PlantedBugsTest {
  private static final int SCHEDULES = 200;
  // The bug shows only if servers die between the checks of a conversion and its commit.
  private static final int SCHEDULES_OF_RARE_BUGS = 1_000;
  private static final int STEPS = 40;

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void aPlantedBugIsFound(PlantedBug bug) throws InterruptedException {
    int schedules = bug == PlantedBug.PUBLISHES_UNASKED ? SCHEDULES_OF_RARE_BUGS : SCHEDULES;
    ScheduleRunner run = new ScheduleRunner(1, schedules, STEPS, bug);
    run.run(1, () -> false, seed -> {});
    assertThat(run.failure()).as("what %d schedules find of %s", schedules, bug).isPresent();
    assertThat(run.failure().get().cause()).isInstanceOf(Violation.class);
    System.out.printf(
        "%s is found by seed %d: %s%n",
        bug, run.failure().get().seed(), run.failure().get().cause().getMessage());
  }
}
