package io.ebbfs.cli.experiment;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.workloads.report.Report;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes the report of results. */
@Command(
    name = "report",
    description = {
      "Writes DIR/report.html and DIR/report.json from the results in DIR/runs.",
      "Results of different commits are refused unless an option allows them."
    })
final class ExperimentReportCommand implements Callable<Integer> {
  @Mixin private HelpOption help;

  @Parameters(paramLabel = "DIR", description = "The output directory of 'ebb experiment run'.")
  private Path directory;

  @Option(
      names = "--mixed-commits",
      description = "Allows results that were measured at different commits.")
  private boolean mixedCommits;

  @Override
  public Integer call() {
    return new Report(directory, mixedCommits).write(System.out, System.err);
  }
}
