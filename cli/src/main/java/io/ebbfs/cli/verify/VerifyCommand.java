package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Verifications that are too long for every test run. */
@Command(
    name = "verify",
    description = {
      "Verifies promises of EbbFS by runs that are too long for the tests.",
      "The exit code is 1 if a promise does not hold."
    },
    subcommands = {
      SimulatorCommand.class,
      KillsCommand.class,
      HistoriesCommand.class,
      FailoverCommand.class,
      DayCommand.class,
      ContractCommand.class,
      ConversionsCommand.class,
      PlacementCommand.class,
      PackingCommand.class,
      PolicyCommand.class,
      ScaleCommand.class
    })
public final class VerifyCommand {
  @Mixin private HelpOption help;
}
