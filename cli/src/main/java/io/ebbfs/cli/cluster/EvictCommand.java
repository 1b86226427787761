package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Empties a server that is to leave, or takes it back. */
@Command(
    name = "evict",
    description = "Drains a server that is to leave: its blocks get places on other servers.",
    footer = {
      "",
      "The command waits and shows what is left; the drain goes on if the command is stopped."
    })
final class EvictCommand extends AdminTarget implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private ServerOrder order;

  @Option(names = "--cancel", description = "Takes the server back, as unevict does.")
  private boolean cancel;

  @Override
  public Integer call()
      throws ClusterException, ConfigException, IOException, InterruptedException {
    return run(namenode -> order.drain(namenode, cancel));
  }
}
