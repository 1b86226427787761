package io.ebbfs.cli.experiment;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.workloads.experiment.Experiment;
import io.ebbfs.workloads.experiment.ExperimentFile;
import io.ebbfs.workloads.experiment.Runner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs every system of an experiment. Exit code 1 if a system failed. */
@Command(
    name = "run",
    description = {
      "Runs every system of an experiment, each on a cluster of its own.",
      "A system that has its results already is left out, so an interrupted run can go on."
    })
final class ExperimentRunCommand implements Callable<Integer> {
  @Mixin private HelpOption help;

  @Parameters(
      paramLabel = "FILE",
      description = "An experiment, such as conf/experiments/hacfs.yaml.")
  private Path file;

  @Option(
      names = "--quick",
      description = "Takes the values below the file's key 'quick': about 15 minutes.")
  private boolean quick;

  @Option(
      names = "--loopback",
      description =
          "Runs without links of a rate, as users other than root must: times and bytes of links"
              + " are then not comparable.")
  private boolean loopback;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "NAME",
      description = "Runs only the systems of these names.")
  private List<String> only = List.of();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Where results go (default: results/NAME or results/NAME-quick).")
  private Path out;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "Jobs in the format of SWIM, for an experiment whose workload is a trace.")
  private Path trace;

  @Override
  public Integer call() throws ClusterException, ConfigException, IOException {
    Path jobs = trace == null ? null : trace.toAbsolutePath();
    Experiment experiment = ExperimentFile.read(file, quick, jobs);
    try {
      return new Runner(experiment, withoutLinks(), output(experiment), only).run();
    } catch (InterruptedException e) {
      throw new ClusterException("interrupted; run it again to go on", e);
    }
  }

  private boolean withoutLinks() {
    if (loopback || ShapedNetwork.isPossible()) {
      return loopback;
    }
    System.out.println(
        "Not root, so links have no rate: it runs on loopback. Blocks and bytes of"
            + " repairs and conversions are the same; times and bytes of links mean nothing.");
    return true;
  }

  private Path output(Experiment experiment) {
    String name = experiment.name() + (quick ? "-quick" : "");
    return (out == null ? Path.of("results", name) : out).toAbsolutePath();
  }
}
