package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.ClusterDirectory;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Stops every process of a local cluster. */
@Command(name = "down", description = "Stops the local cluster; its files stay.")
public final class DownCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private ClusterDirectory directory;

  @Override
  public Integer call() throws ClusterException, InterruptedException {
    LocalCluster cluster = directory.open();
    int running = cluster.running().size();
    cluster.stop();
    System.out.printf(
        "cluster in %s is down: %d processes stopped%n", cluster.directory(), running);
    return 0;
  }
}
