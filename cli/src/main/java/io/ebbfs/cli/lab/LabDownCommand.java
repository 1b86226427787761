package io.ebbfs.cli.lab;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.lab.Laboratory;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Stops a lab and removes everything it made. */
@Command(
    name = "down",
    description = {
      "Stops the lab and removes its networks and its files.",
      "Networks of labs that were killed are removed too."
    })
final class LabDownCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private LabDirectory directory;

  @Override
  public Integer call() throws ClusterException, InterruptedException {
    Laboratory.Removed removed = Laboratory.remove(Build.find(), directory.path());
    System.out.printf(
        "lab in %s is down: %d processes stopped, its network and files removed%s%n",
        directory.path(),
        removed.processes(),
        removed.abandoned() == 0
            ? ""
            : "; %d abandoned networks removed".formatted(removed.abandoned()));
    return 0;
  }
}
