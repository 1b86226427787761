package io.ebbfs.cli.verify;

import io.ebbfs.verify.measure.CostComparison;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Conversions and repairs of a cluster, measured beside their plans. */
@Command(
    name = "conversions",
    description =
        "Compares the blocks and bytes of conversions and repairs on a cluster with their plans.")
final class ConversionsCommand implements Callable<Integer> {
  @Mixin private ClusterVerification verification;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "FAMILY",
      description = "Measures only these families of codes, as product or lrc.")
  private List<String> only = List.of();

  @Override
  public Integer call() throws Exception {
    return CostComparison.run(verification.options(only, false)) ? 0 : 1;
  }
}
