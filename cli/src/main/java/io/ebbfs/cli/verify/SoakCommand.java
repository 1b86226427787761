package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.Minutes;
import io.ebbfs.verify.soak.Soak;
import io.ebbfs.verify.soak.SoakOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Stock clients on a cluster in which something breaks all the time. */
@Command(
    name = "soak",
    description = {
      "Lets stock HDFS clients work on a cluster while something breaks every 10 to 20 seconds.",
      "At the end all that was acknowledged is compared with what is there.",
      "The exit code is 1 if anything is wrong, lost, stuck, orphaned or leaked."
    })
public final class SoakCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      converter = Minutes.class,
      description = "How long faults are injected (default: 10); the checks come on top.")
  private Duration length = Duration.ofMinutes(10);

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of all random choices (default: a new one, which is printed).")
  private long seed = System.nanoTime() % 1_000_000;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Writes the figures and findings to this file.")
  private Path json;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the cluster lives (default: a temporary directory).")
  private Path directory;

  @Override
  public Integer call() throws Exception {
    if (length.isNegative() || length.isZero()) {
      throw new ParameterException(
          command.commandLine(), "--minutes is not positive: give at least 0.1");
    }
    SoakOptions options =
        new SoakOptions(
            length,
            seed,
            Optional.ofNullable(json).map(Path::toAbsolutePath),
            Optional.ofNullable(directory).map(Path::toAbsolutePath));
    return Soak.run(options, System.out) ? 0 : 1;
  }
}
