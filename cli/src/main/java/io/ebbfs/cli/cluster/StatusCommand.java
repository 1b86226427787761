package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.ClusterDirectory;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.StatusReport;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the processes of a local cluster, and its servers as the namenode knows them. */
@Command(
    name = "status",
    description = "Shows the processes, servers and disks of the local cluster.")
public final class StatusCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private ClusterDirectory directory;

  @Override
  public Integer call() throws ClusterException {
    System.out.print(new StatusReport(directory.open()).text());
    return 0;
  }
}
