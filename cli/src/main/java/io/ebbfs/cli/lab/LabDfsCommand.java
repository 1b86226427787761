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

/** The stock shell where the clients of a lab are; its exit code is ours. */
@Command(
    name = "dfs",
    description = "Runs a stock 'hdfs dfs' on the lab, over the link of the clients.",
    footer = {"", "Example: ebb lab dfs -ls /"})
final class LabDfsCommand implements Callable<Integer> {
  @Mixin private LabDirectory directory;

  // Without -h, since other programs have options that begin so.
  @Option(names = "--help", usageHelp = true, description = "Shows this help.")
  private boolean help;

  @Parameters(paramLabel = "ARGUMENT", arity = "0..*", description = "The words for 'hdfs dfs'.")
  private List<String> words = List.of();

  @Override
  public Integer call() throws ClusterException, InterruptedException {
    LocalCluster cluster = directory.open();
    List<String> shell = cluster.stockClient().shell(words.toArray(String[]::new));
    return Terminal.run(cluster.layout().lab().clientCommand(shell));
  }
}
