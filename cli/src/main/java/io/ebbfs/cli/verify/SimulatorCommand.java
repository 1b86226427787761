package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.Minutes;
import io.ebbfs.verify.simulator.PlantedBugTable;
import io.ebbfs.verify.simulator.SimulationRun;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Seeded schedules of faults on the namenode's own classes. */
@Command(
    name = "simulator",
    description = {
      "Runs schedules of random events and faults on the namenode's own classes.",
      "Each schedule has its own seed. Every promise is checked after every step."
    })
final class SimulatorCommand implements Callable<Integer> {
  private static final long SCHEDULES = 20_000;
  private static final long PLANTED_SCHEDULES = 1_000;

  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @ArgGroup private Length length = new Length();

  /** Where a run ends. */
  private static final class Length {
    @Option(
        names = "--schedules",
        paramLabel = "N",
        description = "Number of schedules (default: 20000).")
    private Long schedules;

    @Option(
        names = "--minutes",
        paramLabel = "M",
        converter = Minutes.class,
        description = "As many schedules as end in this time, instead of a number.")
    private Duration limit;
  }

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of the first schedule (default: 1); the next schedule has the next seed.")
  private long seed = 1;

  @Option(
      names = "--namenodes",
      paramLabel = "N",
      description = "Namenodes on one store (default: 1).")
  private int namenodes = 1;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description =
          "Most events in a schedule before it comes to rest (default: 40; 16 with several"
              + " namenodes).")
  private Integer steps;

  @Option(
      names = "--releases",
      description = "Lets blocks also leave their stripes. A seed gives another schedule then.")
  private boolean releases;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Schedules at the same time (default: one for each processor).")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the figures to this file.")
  private Path json;

  @Option(
      names = "--planted",
      description =
          "Plants bugs and prints which seeds find each of them, among 1000 or --schedules.")
  private boolean planted;

  @Override
  public Integer call() throws InterruptedException, IOException {
    if (planted) {
      return plantedBugs() ? 0 : 1;
    }
    return new SimulationRun(options()).run() ? 0 : 1;
  }

  private boolean plantedBugs() throws InterruptedException {
    long most = length.schedules == null ? PLANTED_SCHEDULES : length.schedules;
    SimulationRun.Options options = options();
    return new PlantedBugTable(seed, most, options.steps()).run(options.threads());
  }

  SimulationRun.Options options() {
    long schedules = length.schedules == null ? SCHEDULES : length.schedules;
    positive("--schedules", schedules);
    positive("--namenodes", namenodes);
    int most =
        steps != null
            ? steps
            : namenodes > 1 ? SimulationRun.STEPS_OF_SEVERAL : SimulationRun.STEPS;
    positive("--steps", most);
    positive("--threads", threads);
    return new SimulationRun.Options(
        length.limit == null ? schedules : Long.MAX_VALUE - Math.max(seed, 0),
        Optional.ofNullable(length.limit),
        seed,
        namenodes,
        most,
        releases,
        threads,
        Optional.ofNullable(json).map(Path::toAbsolutePath));
  }

  private void positive(String option, long number) {
    if (number < 1) {
      throw new ParameterException(
          command.commandLine(), option + " is " + number + ": give at least 1");
    }
  }
}
