package io.ebbfs.cli.verify;

import io.ebbfs.verify.day.Day;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A day in the life of a cluster, compressed. */
@Command(
    name = "day",
    description = {
      "Lets a server join, drains one, lets one hibernate, loses a rack, fills the disks, levels"
          + " them, and kills a server that returns, while stock HDFS clients read and write.",
      "Tells for each step how many bytes were moved, and how many were necessary."
    })
final class DayCommand implements Callable<Integer> {
  @Mixin private ClusterVerification verification;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the figures to this file.")
  private Path json;

  @Override
  public Integer call() throws Exception {
    return Day.run(
            verification.options(List.of(), false),
            Optional.ofNullable(json).map(Path::toAbsolutePath),
            System.out)
        ? 0
        : 1;
  }
}
