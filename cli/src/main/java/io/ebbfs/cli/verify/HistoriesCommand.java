package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.verify.histories.Histories;
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

/** Linearizability of the namespace while namenodes and nodes of their store fail. */
@Command(
    name = "histories",
    description = {
      "Lets stock HDFS clients work on a few shared paths while namenodes and nodes of their store"
          + " are killed and frozen.",
      "A checker decides whether each history of calls and answers is linearizable."
    })
public final class HistoriesCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long calls are made (default: 600).")
  private long seconds = 600;

  @Option(
      names = "--namenodes",
      paramLabel = "N",
      description = "Namenodes on a shared store; 1: one with an embedded store (default: 3).")
  private int namenodes = 3;

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
            namenodes,
            seed,
            Optional.ofNullable(json).map(Path::toAbsolutePath),
            Optional.ofNullable(directory).map(Path::toAbsolutePath));
    return Histories.run(options, System.out) ? 0 : 1;
  }
}
