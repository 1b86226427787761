package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.verify.cluster.VerifyOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of verifications that start clusters. */
final class ClusterVerification {
  @Mixin private HelpOption help;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of all random choices (default: a new one, which is printed).")
  private long seed = System.nanoTime() % 1_000_000;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the clusters live (default: a temporary directory).")
  private Path directory;

  VerifyOptions options(List<String> only, boolean quick) {
    return new VerifyOptions(
        seed, only, Optional.ofNullable(directory).map(Path::toAbsolutePath), quick);
  }
}
