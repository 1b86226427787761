package io.ebbfs.cli.workload;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Prints the properties of workloads. */
@Command(
    name = "show",
    description = "Shows the properties of workloads beside those in the HACFS paper.")
final class WorkloadShowCommand implements Callable<Integer> {
  @Mixin private ShownWorkloads workloads;

  @Override
  public Integer call() throws IOException {
    return workloads.show();
  }
}
