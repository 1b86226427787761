package io.ebbfs.cli.fault;

import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.common.failpoint.FailPoints.Armed;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Arms a fail point of a running cluster. */
@Command(name = "arm", description = "Lets the next process that passes a fail point die there.")
final class ArmCommand implements Callable<Integer> {
  @Mixin private FaultTarget target;

  @Parameters(paramLabel = "POINT", description = "A name that 'ebb fault points' lists.")
  private String name;

  @Option(
      names = "--action",
      paramLabel = "A",
      description = "What happens there: kill, error or 'stall SECONDS' (default: kill).")
  private String action = "kill";

  @Option(
      names = "--skip",
      paramLabel = "N",
      description = "Passes before the point fires (default: 0).")
  private int skip;

  @Option(
      names = "--server",
      paramLabel = "N",
      description = "Only the chunk server with this number.")
  private Integer server;

  @Option(
      names = "--process",
      paramLabel = "NAME",
      description = "Only this process: namenode, control or server-NN.")
  private String process = "";

  @Override
  public Integer call() throws ClusterException {
    FailPoint point = FailPoint.byName(name);
    if (point == null) {
      throw new ClusterException("no fail point '" + name + "': 'ebb fault points' lists them");
    }
    String only = server == null ? process : "server-%02d".formatted(server);
    try {
      Armed armed = Armed.parse(action).in(only).after(skip);
      target.cluster().arm(point, armed);
      System.out.printf("armed %s: %s%n", point.pointName(), armed.text().replace('\n', ' '));
    } catch (IOException e) {
      throw new ClusterException(e.getMessage() + ": choose kill, error or 'stall SECONDS'", e);
    }
    return 0;
  }
}
