package io.ebbfs.verify.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The simulation finds planted bugs. {@code ./ebb verify simulator --planted} looks for all, also
 * for the bug that takes the most schedules.
 */
class PlantedBugsTest {
  private static final int SCHEDULES = 1_000;
  private static final int THREADS = 2;
  private static final int STEPS = 40;

  // Few schedules find this bug: the search begins shortly before one of them.
  private static final Map<PlantedBug, Long> FIRST_SEEDS =
      Map.of(PlantedBug.PUBLISHES_UNASKED, 940L);

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"NONE", "RECOVERS_BEFORE_SCAN"})
  void aPlantedBugIsFound(PlantedBug bug) throws InterruptedException {
    ScheduleRunner run =
        new ScheduleRunner(
            FIRST_SEEDS.getOrDefault(bug, 1L),
            SCHEDULES,
            new ScheduleRunner.Shape(bug.namenodes(), STEPS),
            bug);
    run.run(THREADS, () -> false, seed -> {});
    assertThat(run.failure()).as("what %d schedules find of %s", SCHEDULES, bug).isPresent();
    assertThat(run.failure().get().cause()).isInstanceOf(Violation.class);
    System.out.printf(
        "%s is found by seed %d: %s%n",
        bug, run.failure().get().seed(), run.failure().get().cause().getMessage());
  }
}
