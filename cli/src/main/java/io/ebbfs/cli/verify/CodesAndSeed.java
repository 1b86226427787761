package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.coding.code.CodeRegistry;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The words of verifications that simulate the placement of some codes. */
final class CodesAndSeed {
  private static final List<String> COMMON =
      List.of("PC(6x5)", "PC(2x5)", "LRC(12,2,2)", "LRC(12,6,2)", "RS(12,3)", "RS(6,3)");

  @Mixin private HelpOption help;

  @Spec(Target.MIXEE)
  private CommandSpec command;

  @Parameters(
      paramLabel = "CODE",
      description = "Codes such as PC(2x5) or RS(10,4) (default: six in common use).")
  private List<String> names = List.of();

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of all random choices (default: 1).")
  private long seed = 1;

  List<String> codes() {
    CodeRegistry known = CodeRegistry.builtIn();
    try {
      return names.isEmpty()
          ? COMMON
          : names.stream().map(name -> known.byName(name).name()).toList();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage());
    }
  }

  long seed() {
    return seed;
  }
}
