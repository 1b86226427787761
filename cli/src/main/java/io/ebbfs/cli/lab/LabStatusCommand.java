package io.ebbfs.cli.lab;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.StatusReport;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the processes and servers of a lab. */
@Command(name = "status", description = "Shows the processes, servers and disks of the lab.")
final class LabStatusCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private LabDirectory directory;

  @Override
  public Integer call() throws ClusterException {
    System.out.print(new StatusReport(directory.open()).text());
    return 0;
  }
}
