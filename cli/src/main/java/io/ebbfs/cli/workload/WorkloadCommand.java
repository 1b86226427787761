package io.ebbfs.cli.workload;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Generated and recorded workloads; without a subcommand they are shown. */
@Command(
    name = "workload",
    description = {
      "Shows workloads, or runs one against the local cluster.",
      "Without a command it shows them."
    },
    subcommands = {WorkloadShowCommand.class, WorkloadRunCommand.class, WorkloadGrepCommand.class})
public final class WorkloadCommand implements Callable<Integer> {
  @Mixin private ShownWorkloads workloads;

  @Override
  public Integer call() throws IOException {
    return workloads.show();
  }
}
