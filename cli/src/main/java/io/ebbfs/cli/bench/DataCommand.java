package io.ebbfs.cli.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.LiveFiles;
import io.ebbfs.workloads.data.DataBenchmark;
import io.ebbfs.workloads.data.DataOptions;
import io.ebbfs.workloads.data.DataOptions.Sizes;
import io.ebbfs.workloads.results.DataResults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Files of EbbFS beside files of HDFS. */
@Command(
    name = "data",
    description = {
      "Measures reads, writes and repairs of EbbFS beside Apache HDFS, in turn on the same"
          + " machine.",
      "Prints medians and ratios."
    })
public final class DataCommand implements Callable<Integer> {
  private static final int MOST_ROUNDS = 100;

  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(
      names = "--quick",
      description = "Takes about 5 minutes: fewer rows, less data, one round.")
  private boolean quick;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the figures to this file.")
  private Path json;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Chooses the offsets of random reads (default: ${DEFAULT-VALUE}).")
  private long seed = 42;

  @Option(
      names = "--rows",
      paramLabel = "GROUP",
      split = ",",
      description =
          "Measures only these groups of rows, such as replicated,small (default: all but losses;"
              + " with --rate striped,losses).")
  private List<String> groups = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Runs per row and system (default: 3; 1 with --quick).")
  private Integer rounds;

  @Option(
      names = "--warm-ups",
      paramLabel = "N",
      description = "Runs before that are not measured (default: 2; 1 with --quick).")
  private Integer warmUps;

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      description =
          "Puts the servers of both systems and the measuring clients behind links of this rate,"
              + " as 200mbit. Needs root.")
  private String rate;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where both systems keep their files (default: a temporary directory).")
  private Path directory;

  @Override
  public Integer call() throws Exception {
    DataOptions options = options(ShapedNetwork.isPossible());
    Path files =
        directory == null
            ? Files.createTempDirectory("ebb-bench-data")
            : Files.createDirectories(directory.toAbsolutePath());
    new DataBenchmark(Build.find(), options, files, System.out).run(this::save);
    if (directory == null) {
      LiveFiles.deleteTree(files);
    }
    return 0;
  }

  private void save(DataResults results) throws IOException {
    if (json != null) {
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .writeValue(json.toFile(), results);
    }
  }

  /**
   * What is measured.
   *
   * @param networksPossible whether this process may make networks
   */
  DataOptions options(boolean networksPossible) {
    for (String group : groups) {
      if (!DataBenchmark.GROUPS.contains(group)) {
        throw refusal("--rows %s: choose from %s", group, String.join(", ", DataBenchmark.GROUPS));
      }
    }
    if (rate != null) {
      checkRate(networksPossible);
    }
    if (rounds != null && (rounds < 1 || rounds > MOST_ROUNDS)) {
      throw refusal("--rounds is %d: give 1 to %d", rounds, MOST_ROUNDS);
    }
    if (warmUps != null && (warmUps < 0 || warmUps > MOST_ROUNDS)) {
      throw refusal("--warm-ups is %d: give 0 to %d", warmUps, MOST_ROUNDS);
    }
    return new DataOptions(
        groups.isEmpty() ? defaultGroups() : groups,
        warmUps != null ? warmUps : quick ? 1 : 2,
        rounds != null ? rounds : quick ? 1 : 3,
        seed,
        quick,
        quick ? Sizes.QUICK : Sizes.FULL,
        rate);
  }

  private List<String> defaultGroups() {
    if (rate != null) {
      return DataBenchmark.LINK_GROUPS;
    }
    return quick ? DataBenchmark.QUICK_GROUPS : DataBenchmark.USUAL_GROUPS;
  }

  private void checkRate(boolean networksPossible) {
    if (!ShapedNetwork.isRate(rate)) {
      throw refusal("--rate %s is no rate of a link: write 200mbit, 1gbit or 500kbit", rate);
    }
    if (!networksPossible) {
      throw refusal(
          "--rate %s needs root, for network namespaces: run it as root; or leave --rate out, so"
              + " that both systems work on loopback",
          rate);
    }
    for (String group : groups) {
      if (DataBenchmark.LOOPBACK_GROUPS.contains(group)) {
        throw refusal("--rows %s: its commands run on no link; leave it or --rate out", group);
      }
    }
  }

  private ParameterException refusal(String message, Object... values) {
    return new ParameterException(command.commandLine(), message.formatted(values));
  }
}
