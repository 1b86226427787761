package io.ebbfs.cli.bench;

import io.ebbfs.cli.options.HelpOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Comparisons with other systems. */
@Command(
    name = "bench",
    description = "Measures EbbFS on this machine.",
    subcommands = {
      MetadataCommand.class,
      DataCommand.class,
      NamenodesCommand.class,
      AppendCommand.class
    })
public final class BenchCommand {
  @Mixin private HelpOption help;
}
