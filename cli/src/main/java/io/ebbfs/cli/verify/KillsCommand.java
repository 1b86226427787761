package io.ebbfs.cli.verify;

import io.ebbfs.verify.kills.KillMatrix;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The kill matrix. */
@Command(
    name = "kills",
    description = {
      "Kills a process at every fail point of every kind of transition and starts it again.",
      "After each kill it checks that nothing is lost, wrong or left over."
    })
final class KillsCommand implements Callable<Integer> {
  @Mixin private ClusterVerification verification;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "WORDS",
      description =
          "Runs the cases whose name has all words of a part: 'REPAIR chunk-,raid-after'.")
  private List<String> only = List.of();

  @Option(names = "--quick", description = "Runs one case of each kind and process.")
  private boolean quick;

  @Override
  public Integer call() throws Exception {
    return KillMatrix.run(verification.options(only, quick)) ? 0 : 1;
  }
}
