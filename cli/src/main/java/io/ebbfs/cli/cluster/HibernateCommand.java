package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Units;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lets a server be away for a while. */
@Command(
    name = "hibernate",
    description = "Lets a server be stopped for a while; nothing is repaired for it meanwhile.",
    footer = {
      "",
      "The command waits until the server may be stopped. One rack hibernates at a time, or one"
          + " server",
      "if there are no racks. At the end of the time a server that is away is lost like any other."
    })
final class HibernateCommand extends AdminTarget implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private ServerOrder order;

  @Option(
      names = "--for",
      required = true,
      paramLabel = "TIME",
      description = "How long the server may be away from now on, such as 90m or 2h.")
  private String time;

  @Override
  public Integer call()
      throws ClusterException, ConfigException, IOException, InterruptedException {
    long millis =
        Units.durationMillis(time)
            .orElseThrow(
                () ->
                    new ClusterException(
                        "'--for %s' is no duration: write a number and s, m, h or d, such as 2h"
                            .formatted(time)));
    return run(namenode -> order.hibernate(namenode, millis));
  }
}
