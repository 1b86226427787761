package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.Terminal;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The stock shell on this terminal; its exit code is ours. */
@Command(
    name = "dfs",
    description = "Runs a stock 'hdfs dfs' on a cluster.",
    footer = {"", "Example: ebb dfs -ls /"})
public final class DfsCommand implements Callable<Integer> {
  @Mixin private ClusterAddress cluster;

  // Without -h, since the shell has options that begin so.
  @Option(names = "--help", usageHelp = true, description = "Shows this help.")
  private boolean help;

  @Parameters(paramLabel = "ARGUMENT", description = "The words for 'hdfs dfs'.")
  private List<String> arguments = List.of();

  @Override
  public Integer call()
      throws ClusterException, ConfigException, IOException, InterruptedException {
    return Terminal.run(cluster.client().shell(arguments.toArray(String[]::new)));
  }
}
