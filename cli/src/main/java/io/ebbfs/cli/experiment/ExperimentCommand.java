package io.ebbfs.cli.experiment;

import io.ebbfs.cli.options.HelpOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Experiments and their reports. */
@Command(
    name = "experiment",
    description = "Runs an experiment of conf/experiments, or writes the report of one.",
    subcommands = {ExperimentRunCommand.class, ExperimentReportCommand.class})
public final class ExperimentCommand {
  @Mixin private HelpOption help;
}
