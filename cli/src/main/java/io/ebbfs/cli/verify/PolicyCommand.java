package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.policy.ComparedPolicies;
import io.ebbfs.verify.policy.PolicyComparison;
import io.ebbfs.verify.policy.PolicySweep;
import io.ebbfs.verify.policy.RecordedComparison;
import io.ebbfs.verify.policy.RegionPlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
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
      "With --against, the simulation is compared with minutes of a cluster instead.",
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
          "Workloads: CC1 to CC4, trace, zipf-daily, zipf-tail, flash, flap, flap-auto, flap-new"
              + " (default: all). A sweep takes one (default: CC1).")
  private List<String> workloads = List.of();

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "A recorded trace in the format of SWIM, for the workload 'trace'.")
  private Path trace;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Writes the figures to this file, compressed if its name ends with .gz.")
  private Path json;

  @Option(
      names = "--from",
      paramLabel = "FILE",
      description = "Prints the tables of figures that --json has written, and runs nothing.")
  private Path from;

  @Option(
      names = "--against",
      paramLabel = "FILE",
      description =
          "Simulates the recording in this runs/SYSTEM.json of an experiment, and prints the moves of"
              + " the cluster beside those of the simulation.")
  private Path against;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description =
          "Draws the region where adaptation pays to this SVG file, from the figures of --sweep"
              + " region that --from names.")
  private Path plot;

  @Option(
      names = "--sweep",
      paramLabel = "KIND",
      description =
          "Varies a setting instead: region (loss and read rates), rs_region (the same for the RS"
              + " pair), threshold or memory.")
  private String sweep;

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
    if (plot != null) {
      draw();
      return 0;
    }
    if (from != null) {
      ComparedPolicies.read(from).print(System.out);
      return 0;
    }
    if (against != null) {
      RecordedComparison compared = RecordedComparison.of(against);
      compared.print(System.out);
      RunFiles.write(Optional.ofNullable(json).map(Path::toAbsolutePath), compared.figures());
      return 0;
    }
    PolicyComparison.Options options =
        new PolicyComparison.Options(seed, seeds, days, workloads, Optional.ofNullable(trace));
    if (sweep != null) {
      RunFiles.write(
          Optional.ofNullable(json).map(Path::toAbsolutePath),
          new PolicySweep(sweepable(options)).run(kind(), System.out));
      return 0;
    }
    ComparedPolicies compared = new PolicyComparison(options).run(System.out);
    compared.print(System.out);
    if (json != null) {
      compared.write(json);
    }
    return 0;
  }

  private void draw() throws IOException {
    if (from == null) {
      throw new ParameterException(
          command.commandLine(),
          "--plot draws the figures that --from names: give --from docs/data/policy-sweep-region.json");
    }
    Files.writeString(plot, RegionPlot.of(from));
  }

  private PolicySweep.Kind kind() {
    for (PolicySweep.Kind kind : PolicySweep.Kind.values()) {
      if (kind.name().toLowerCase(Locale.ROOT).equals(sweep)) {
        return kind;
      }
    }
    throw new ParameterException(
        command.commandLine(),
        "no sweep '%s': choose region, rs_region, threshold or memory".formatted(sweep));
  }

  /** A sweep varies the reads of a profile or of zipf-daily. */
  private PolicyComparison.Options sweepable(PolicyComparison.Options options) {
    if (options.workloads().size() > 1 || !PolicySweep.workloads().containsAll(workloads)) {
      throw new ParameterException(
          command.commandLine(),
          "--workload %s does not go with --sweep: give one of %s"
              .formatted(workloads, PolicySweep.workloads()));
    }
    return options;
  }

  private void positive(String option, int number) {
    if (number < 1) {
      throw new ParameterException(
          command.commandLine(), option + " is " + number + ": give at least 1");
    }
  }
}
