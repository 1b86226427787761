package io.ebbfs.cli.lab;

import io.ebbfs.cli.options.HelpOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A cluster on this machine whose chunk servers and clients have links of a given rate. */
@Command(
    name = "lab",
    description = "Runs a cluster with a network namespace and a shaped link for each server.",
    subcommands = {
      LabUpCommand.class,
      LabStatusCommand.class,
      LabDownCommand.class,
      LabDfsCommand.class,
      LabExecCommand.class
    },
    footer = {
      "",
      "A lab has a network namespace for each chunk server, one for clients, and one for the"
          + " namenode, Kafka and the control plane. The links of servers and clients have the"
          + " rate in each direction. A lab needs root.",
      "'ebb lab machines' sets up three machines with the packages instead (docs/lab.md)."
    })
public final class LabCommand {
  @Mixin private HelpOption help;
}
