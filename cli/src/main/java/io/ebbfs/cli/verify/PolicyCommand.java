package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.policy.PolicyComparison;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A simulated comparison of redundancy policies. */
@Command(
    name = "policy",
    description = {
      "Compares redundancy policies on simulated weeks of reads and failures.",
      "The adaptive ones run the manager's own policy function.",
      "A refuted goal is a result, not an error: the exit code is 0."
    })
final class PolicyCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(names = "--seed", paramLabel = "S", description = "The first seed (default: 1).")
  private long seed = 1;

  @Option(names = "--seeds", paramLabel = "N", description = "Number of seeds (default: 3).")
  private int seeds = 3;

  @Option(names = "--days", paramLabel = "N", description = "Simulated days (default: 28).")
  private int days = 28;

  @Option(
      names = "--workload",
      paramLabel = "W",
      split = ",",
      description =
          "Workloads: CC1 to CC4, FB, trace, zipf-daily, flash, flap, flap-auto (default: all).")
  private List<String> workloads = List.of();

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "A recorded trace in the format of SWIM, for the workload 'trace'.")
  private Path trace;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the figures to this file.")
  private Path json;

  @Override
  public Integer call() throws IOException {
    positive("--seeds", seeds);
    positive("--days", days);
    for (String name : workloads) {
      if (!PolicyComparison.workloads().contains(name)) {
        throw new ParameterException(
            command.commandLine(),
            "no workload '%s': choose among %s".formatted(name, PolicyComparison.workloads()));
      }
    }
    PolicyComparison comparison =
        new PolicyComparison(
            new PolicyComparison.Options(seed, seeds, days, workloads, Optional.ofNullable(trace)));
    RunFiles.write(Optional.ofNullable(json).map(Path::toAbsolutePath), comparison.run(System.out));
    return 0;
  }

  private void positive(String option, int number) {
    if (number < 1) {
      throw new ParameterException(
          command.commandLine(), option + " is " + number + ": give at least 1");
    }
  }
}
