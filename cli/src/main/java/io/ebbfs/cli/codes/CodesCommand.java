package io.ebbfs.cli.codes;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.Json;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.definitions.CodesFile;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.workloads.codes.CodesReport;
import io.ebbfs.workloads.codes.KernelSpeeds;
import io.ebbfs.workloads.codes.SimulatedReliability;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The costs of codes and conversions. */
@Command(
    name = "codes",
    description = "Shows the cost and the tolerance of each code, and the cost of conversions.")
public final class CodesCommand implements Callable<Integer> {
  private static final long SEED = 1;

  @Mixin private HelpOption help;
  @Mixin private Json json;
  @Spec private CommandSpec command;

  @Parameters(
      paramLabel = "NAME",
      description =
          "Codes such as PC(2x5), LRC(12,2,2) or RS(10,4) (default: those in common use).")
  private List<String> names = List.of();

  @Option(
      names = "--codes",
      paramLabel = "FILE",
      description = "A file that defines codes of your own, such as conf/codes.yaml.")
  private Path definitions;

  @ArgGroup private Instead instead = new Instead();

  /** Other figures than the table. */
  private static final class Instead {
    @Option(
        names = "--kernels",
        description =
            "Shows GB/s of every kernel, of ISA-L and jerasure alone, and of a memory copy.")
    private boolean kernels;

    @Option(
        names = "--simulate",
        description = "Shows a Monte Carlo simulation of losses beside the reliability model.")
    private boolean simulate;
  }

  @Override
  public Integer call() throws ConfigException, IOException {
    CodeRegistry known = definitions == null ? CodeRegistry.builtIn() : CodesFile.read(definitions);
    List<ErasureCode> shown =
        names.isEmpty() ? known.known() : names.stream().map(name -> named(known, name)).toList();
    if (instead.kernels) {
      return KernelSpeeds.run(shown, json.isAsked());
    }
    if (instead.simulate) {
      SimulatedReliability.print(shown, SEED, System.out);
    } else {
      CodesReport.print(known, shown, names.isEmpty(), json.isAsked());
    }
    return 0;
  }

  private ErasureCode named(CodeRegistry known, String name) {
    try {
      return known.byName(name);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage());
    }
  }
}
