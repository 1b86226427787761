package io.ebbfs.cli.fault;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.failpoint.FailPoint;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The fail points by name. */
@Command(name = "points", description = "Lists the fail points by name (docs/faults.md).")
final class PointsCommand implements Callable<Integer> {
  @Mixin private HelpOption help;

  @Override
  public Integer call() {
    for (FailPoint point : FailPoint.values()) {
      System.out.printf("%-30s %s%n", point.pointName(), point.meaning());
    }
    return 0;
  }
}
