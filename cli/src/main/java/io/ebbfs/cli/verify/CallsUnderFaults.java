package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.verify.histories.HistoriesOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of verifications in which clients call a cluster while its namenodes fail. */
final class CallsUnderFaults {
  @Mixin private HelpOption help;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long calls are made (default: 600 for histories, 60 for failover).")
  private Long seconds;

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

  HistoriesOptions options(long defaultSeconds, int namenodes) {
    long length = seconds == null ? defaultSeconds : seconds;
    if (length < 1) {
      throw new ParameterException(
          command.commandLine(), "--seconds is %d: give at least 1".formatted(length));
    }
    return new HistoriesOptions(
        Duration.ofSeconds(length),
        namenodes,
        seed,
        Optional.ofNullable(json).map(Path::toAbsolutePath),
        Optional.ofNullable(directory).map(Path::toAbsolutePath));
  }
}
