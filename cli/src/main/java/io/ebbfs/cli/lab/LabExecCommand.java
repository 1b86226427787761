package io.ebbfs.cli.lab;

import io.ebbfs.cli.options.Terminal;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Any command where the clients of a lab are; its exit code is ours. */
@Command(
    name = "exec",
    description = "Runs a command where the clients of the lab are.",
    footer = {"", "Example: ebb lab exec ip address"})
final class LabExecCommand implements Callable<Integer> {
  @Mixin private LabDirectory directory;

  // Without -h, since other programs have options that begin so.
  @Option(names = "--help", usageHelp = true, description = "Shows this help.")
  private boolean help;

  @Parameters(paramLabel = "COMMAND", arity = "1..*", description = "The command and its words.")
  private List<String> words = List.of();

  @Override
  public Integer call() throws ClusterException, InterruptedException {
    LocalCluster cluster = directory.open();
    return Terminal.run(cluster.layout().lab().clientCommand(words));
  }
}
