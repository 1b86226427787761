package io.ebbfs.cli.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.process.LiveFiles;
import io.ebbfs.workloads.metadata.NamenodeScaling;
import io.ebbfs.workloads.results.ScalingResults;
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

/** What operations cost with several namenodes on a shared store. */
@Command(
    name = "namenodes",
    description = {
      "Measures what operations cost with several namenodes on a shared store.",
      "Prints processor time and calls of the store per operation, medians of the runs."
    })
public final class NamenodesCommand implements Callable<Integer> {
  private static final int MOST = 9;

  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(
      names = "--namenodes",
      paramLabel = "N",
      split = ",",
      description = "Numbers of namenodes (default: 1,2,4).")
  private List<Integer> namenodes = List.of(1, 2, 4);

  @Option(
      names = "--store-nodes",
      paramLabel = "N",
      split = ",",
      description = "Numbers of nodes of the store (default: 1,3).")
  private List<Integer> storeNodes = List.of(1, 3);

  @Option(
      names = "--rows",
      paramLabel = "ROW",
      split = ",",
      description = "Measures only these rows, such as stat,create.")
  private List<String> rows = NamenodeScaling.USUAL_ROWS;

  @Option(
      names = "--connections",
      paramLabel = "N",
      description = "Connections over all namenodes (default: ${DEFAULT-VALUE}).")
  private int connections = 64;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Runs per row (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Length of a run (default: ${DEFAULT-VALUE}).")
  private double seconds = 2;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the figures to this file.")
  private Path json;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where all processes keep their files (default: a temporary directory).")
  private Path directory;

  @Override
  public Integer call() throws Exception {
    check();
    Path files =
        directory == null
            ? Files.createTempDirectory("ebb-bench-namenodes")
            : Files.createDirectories(directory.toAbsolutePath());
    NamenodeScaling.Options options =
        new NamenodeScaling.Options(
            rows, namenodes, storeNodes, connections, rounds, seconds, 1024);
    ScalingResults results = new NamenodeScaling(Build.find(), options, files, System.out).run();
    if (directory == null) {
      LiveFiles.deleteTree(files);
    }
    if (json != null) {
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .writeValue(json.toFile(), results);
    }
    return 0;
  }

  private void check() {
    for (String row : rows) {
      if (!NamenodeScaling.ROWS.contains(row)) {
        throw refusal("--rows %s: choose from %s", row, String.join(", ", NamenodeScaling.ROWS));
      }
    }
    checkNumbers("--namenodes", namenodes);
    checkNumbers("--store-nodes", storeNodes);
    if (connections < 1 || rounds < 1 || seconds <= 0) {
      throw refusal("--connections, --rounds and --seconds: give numbers above 0");
    }
  }

  private void checkNumbers(String option, List<Integer> numbers) {
    for (int number : numbers) {
      if (number < 1 || number > MOST) {
        throw refusal("%s %d: give 1 to %d", option, number, MOST);
      }
    }
  }

  private ParameterException refusal(String message, Object... values) {
    return new ParameterException(command.commandLine(), message.formatted(values));
  }
}
