package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Ends the hibernation of a server. */
@Command(name = "wake", description = "Ends the hibernation of a server.")
final class WakeCommand extends AdminTarget implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private ServerOrder order;

  @Override
  public Integer call()
      throws ClusterException, ConfigException, IOException, InterruptedException {
    return run(order::wake);
  }
}
