package io.ebbfs.cli;

import io.ebbfs.cli.bench.BenchCommand;
import io.ebbfs.cli.cluster.AdminCommand;
import io.ebbfs.cli.cluster.BackupCommand;
import io.ebbfs.cli.cluster.DfsCommand;
import io.ebbfs.cli.cluster.DownCommand;
import io.ebbfs.cli.cluster.QuotasCommand;
import io.ebbfs.cli.cluster.StatusCommand;
import io.ebbfs.cli.cluster.UpCommand;
import io.ebbfs.cli.codes.CodesCommand;
import io.ebbfs.cli.demo.DemoCommand;
import io.ebbfs.cli.experiment.ExperimentCommand;
import io.ebbfs.cli.fault.FaultCommand;
import io.ebbfs.cli.lab.LabCommand;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.WholeNumber;
import io.ebbfs.cli.server.ChunkServerCommand;
import io.ebbfs.cli.server.ControlCommand;
import io.ebbfs.cli.server.HttpFsCommand;
import io.ebbfs.cli.server.KafkaCommand;
import io.ebbfs.cli.server.NamenodeCommand;
import io.ebbfs.cli.server.RestoreCommand;
import io.ebbfs.cli.server.StoreCommand;
import io.ebbfs.cli.verify.SoakCommand;
import io.ebbfs.cli.verify.VerifyCommand;
import io.ebbfs.cli.workload.WorkloadCommand;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Every command and every server process of Java. Exit code 0: done; 1: the command ran and found
 * something wrong; 2: refused, with one message that names the value and the remedy.
 */
@Command(
    name = "ebb",
    description = "Runs and measures EbbFS on this machine.",
    subcommands = {
      UpCommand.class,
      StatusCommand.class,
      DownCommand.class,
      DfsCommand.class,
      AdminCommand.class,
      BackupCommand.class,
      QuotasCommand.class,
      LabCommand.class,
      DemoCommand.class,
      WorkloadCommand.class,
      ExperimentCommand.class,
      CodesCommand.class,
      BenchCommand.class,
      FaultCommand.class,
      VerifyCommand.class,
      SoakCommand.class,
      NamenodeCommand.class,
      StoreCommand.class,
      RestoreCommand.class,
      ChunkServerCommand.class,
      ControlCommand.class,
      KafkaCommand.class,
      HttpFsCommand.class
    })
public final class Ebb {
  @Mixin private HelpOption help;

  private Ebb() {}

  /** Runs one command and exits with its code. */
  public static void main(String[] arguments) {
    int code = 1;
    try {
      code = commandLine().execute(arguments);
    } catch (Error e) {
      e.printStackTrace();
    }
    System.out.flush();
    // Threads of libraries must not keep a process alive that has nothing to do.
    System.exit(code);
  }

  /** The whole tree; its output goes where System.out and System.err point now. */
  static CommandLine commandLine() {
    CommandLine tree = new CommandLine(new Ebb());
    addOldName(tree, "prove", new VerifyCommand());
    addOldName(tree, "control-plane", new ControlCommand());
    tree.setExpandAtFiles(false);
    tree.setUsageHelpAutoWidth(true);
    tree.setParameterExceptionHandler(Refusals::ofArguments);
    tree.setExecutionExceptionHandler(Refusals::ofRun);
    WholeNumber.register(tree);
    passArgumentsOn(tree, "dfs");
    passArgumentsOn(tree, "admin");
    // These words of 'admin' are commands of ours, with options of their own.
    for (CommandLine own : tree.getSubcommands().get("admin").getSubcommands().values()) {
      own.setStopAtPositional(false);
      own.setUnmatchedOptionsArePositionalParams(false);
    }
    passArgumentsOn(tree, "lab", "dfs");
    passArgumentsOn(tree, "lab", "exec");
    // The last one wins, and --set may be given many times.
    tree.getSubcommands().get("namenode").setOverwrittenOptionsAllowed(true);
    return tree;
  }

  /** A name that scripts may still use; the help does not show it. */
  private static void addOldName(CommandLine tree, String name, Object command) {
    tree.addSubcommand(name, command);
    tree.getSubcommands().get(name).getCommandSpec().usageMessage().hidden(true);
  }

  /** What follows the command's own options belongs to another program, also words with dashes. */
  private static void passArgumentsOn(CommandLine tree, String... path) {
    CommandLine command = tree;
    for (String name : path) {
      Map<String, CommandLine> below = command.getSubcommands();
      command = below.get(name);
    }
    command.setStopAtPositional(true);
    command.setUnmatchedOptionsArePositionalParams(true);
  }
}
