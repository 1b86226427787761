package io.ebbfs.cli.workload;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.cli.options.ClusterDirectory;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.Json;
import io.ebbfs.common.config.Units;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.traffic.GrepJob;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Hadoop's example job over the files of the local cluster. */
@Command(
    name = "grep",
    description = "Runs Hadoop's example MapReduce job 'grep' on the local cluster.")
final class WorkloadGrepCommand implements Callable<Integer> {
  private static final long TIMEOUT_MILLIS = TimeUnit.HOURS.toMillis(6);

  @Mixin private HelpOption help;
  @Mixin private ClusterDirectory directory;
  @Mixin private Json json;
  @Spec private CommandSpec command;

  @Parameters(index = "0", paramLabel = "PATH", description = "The folder with the files.")
  private String path;

  @Parameters(
      index = "1",
      paramLabel = "PATTERN",
      description = "A regular expression, as java.util.regex has it.")
  private String pattern;

  @Option(
      names = "--maps",
      paramLabel = "N",
      description = "Number of maps that run at once (default: 4).")
  private int maps = 4;

  @Override
  public Integer call() throws IOException, ClusterException, InterruptedException {
    GrepJob.Result result = job().run(path, pattern, TIMEOUT_MILLIS);
    if (json.isAsked()) {
      System.out.println(new ObjectMapper().writeValueAsString(result));
    } else {
      System.out.printf(
          Locale.ROOT,
          "%d matches in %s, %.2f s, %s/s%n",
          result.matches(),
          Units.showBytes(result.bytes()),
          result.seconds(),
          Units.showBytes((long) (result.bytes() / Math.max(1e-3, result.seconds()))));
    }
    return 0;
  }

  private GrepJob job() throws ClusterException {
    try {
      return new GrepJob(directory.open(), maps, true);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), "--maps: " + e.getMessage());
    }
  }
}
