package io.ebbfs.cli.cluster;

import io.ebbfs.testbed.cluster.StockClient;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.tools.DFSAdmin;
import org.apache.hadoop.util.ToolRunner;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Keeps a cluster whole, and the stock administration tool, whose exit code is ours. */
@Command(
    name = "admin",
    description =
        "Evicts servers, lets them hibernate, levels disks; or runs a stock 'hdfs dfsadmin'.",
    subcommands = {
      AdminStatusCommand.class,
      EvictCommand.class,
      UnevictCommand.class,
      HibernateCommand.class,
      WakeCommand.class,
      RebalanceCommand.class
    },
    footer = {
      "",
      "Words that begin with '-' are for 'hdfs dfsadmin'.",
      "Examples: ebb admin status; ebb admin evict HOST:PORT --dry-run; ebb admin -report"
    })
public final class AdminCommand implements Callable<Integer> {
  @Mixin private ClusterAddress cluster;

  // Without -h, since the tool has options that begin so.
  @Option(names = "--help", usageHelp = true, description = "Shows this help.")
  private boolean help;

  @Parameters(paramLabel = "ARGUMENT", description = "The words for 'hdfs dfsadmin'.")
  private List<String> arguments = List.of();

  /** The cluster that the words before a command name. */
  ClusterAddress cluster() {
    return cluster;
  }

  @Override
  public Integer call() throws Exception {
    StockClient client = cluster.client();
    Configuration settings = new HdfsConfiguration();
    settings.set(CommonConfigurationKeysPublic.FS_DEFAULT_NAME_KEY, client.uri());
    client.settings().forEach(settings::set);
    return ToolRunner.run(new DFSAdmin(settings), arguments.toArray(String[]::new));
  }
}
