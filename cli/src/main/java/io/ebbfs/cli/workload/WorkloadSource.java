package io.ebbfs.cli.workload;

import io.ebbfs.cli.options.ByteCount;
import io.ebbfs.workloads.traffic.Generator;
import io.ebbfs.workloads.traffic.Profile;
import io.ebbfs.workloads.traffic.SwimTrace;
import io.ebbfs.workloads.traffic.Workload;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The options that make a workload: a recorded trace, or a generator. */
final class WorkloadSource {
  static final String TRACE = "trace";
  private static final int READS_PER_FILE = 8;

  @Spec(Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "Jobs in the format of SWIM, for the workload 'trace'.")
  private Path trace;

  @Option(
      names = "--speed",
      paramLabel = "N",
      description = "Seconds of the trace that pass in one second (default: 600).")
  private int speed = 600;

  @Option(
      names = "--divide",
      paramLabel = "N",
      description = "Divisor of the lengths of the trace (default: 1000000).")
  private int divide = 1_000_000;

  @Option(
      names = "--files",
      paramLabel = "N",
      description = "Number of files of a generated workload (default: 400).")
  private int files = 400;

  @Option(
      names = "--mean-size",
      paramLabel = "BYTES",
      converter = ByteCount.class,
      description = "Mean length of a cold file, as 1048576, 1024k or 1m (default: 1m).")
  private long meanSize = 1 << 20;

  @Option(
      names = "--epochs",
      paramLabel = "N",
      description = "Number of epochs; each epoch has other hot files (default: 3).")
  private int epochs = 3;

  @Option(
      names = "--epoch-seconds",
      paramLabel = "N",
      description = "Length of an epoch (default: 60).")
  private int epochSeconds = 60;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of all random choices (default: 1).")
  private int seed = 1;

  boolean isTrace() {
    return trace != null;
  }

  int seed() {
    return seed;
  }

  Workload workload(String name) throws IOException {
    if (name.equals(TRACE)) {
      if (trace == null) {
        throw wrong("the workload 'trace' needs --trace FILE");
      }
      return new SwimTrace(speed, divide, 1).read(trace);
    }
    Generator generator =
        new Generator(
            atLeast("--files", files, 20),
            meanSize,
            atLeast("--epochs", epochs, 1),
            READS_PER_FILE,
            1000L * atLeast("--epoch-seconds", epochSeconds, 1),
            seed);
    try {
      return generator.generate(Profile.of(name));
    } catch (IllegalArgumentException e) {
      throw wrong(e.getMessage());
    }
  }

  private int atLeast(String option, int number, int least) {
    if (number < least) {
      throw wrong("%s %d: give at least %d".formatted(option, number, least));
    }
    return number;
  }

  private ParameterException wrong(String message) {
    return new ParameterException(command.commandLine(), message);
  }
}
