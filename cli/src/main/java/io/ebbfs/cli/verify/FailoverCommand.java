package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.verify.histories.Failover;
import io.ebbfs.verify.histories.HistoriesOptions;
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

/** How long clients wait when the namenode that serves is killed. */
@Command(
    name = "failover",
    description = {
      "Lets 64 stock HDFS clients call three namenodes on a shared store, and kills the one that"
          + " serves, again and again.",
      "The longest call of a client is the gap that it sees; no error may reach a client."
    })
public final class FailoverCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long calls are made (default: 60).")
  private long seconds = 60;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of all random choices (default: a new one, which is printed).")
  private long seed = System.nanoTime() % 1_000_000;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the figures to this file.")
  private Path json;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the cluster lives (default: a temporary directory).")
  private Path directory;

  @Override
  public Integer call() throws Exception {
    if (seconds < 1) {
      throw new ParameterException(
          command.commandLine(), "--seconds is %d: give at least 1".formatted(seconds));
    }
    HistoriesOptions options =
        new HistoriesOptions(
            Duration.ofSeconds(seconds),
            3,
            seed,
            Optional.ofNullable(json).map(Path::toAbsolutePath),
            Optional.ofNullable(directory).map(Path::toAbsolutePath));
    return Failover.run(options, System.out) ? 0 : 1;
  }
}
