package io.ebbfs.cli.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.Build;
import io.ebbfs.workloads.metadata.MetadataBenchmark;
import io.ebbfs.workloads.metadata.MetadataOptions;
import io.ebbfs.workloads.metadata.RowNames;
import io.ebbfs.workloads.results.MetadataResults;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The namenode of EbbFS beside that of HDFS. */
@Command(
    name = "metadata",
    description = {
      "Measures the namenode of EbbFS beside Apache HDFS's NameNode, in turn on the same machine.",
      "Prints medians with the least and the greatest run, and ratios."
    })
public final class MetadataCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(names = "--quick", description = "Takes at most 8 minutes: shorter and fewer runs.")
  private boolean quick;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Writes the figures to this file, and a page with plots beside it.")
  private Path json;

  @Option(
      names = "--rows",
      paramLabel = "ROW",
      split = ",",
      description = "Measures only these rows, such as stat,create (default: all).")
  private List<String> rows = List.of();

  @Option(
      names = "--connections",
      paramLabel = "N",
      split = ",",
      description = "Numbers of connections (default: 1,16,64,1000; 16,64 with --quick).")
  private List<Integer> connections = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Runs per row and system (default: 5; 2 with --quick).")
  private Integer rounds;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Length of a run (default: 3; 1 with --quick).")
  private Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description = "Seconds that each row runs before it is measured (default: as a run).")
  private Double warmUp;

  @Option(names = "--native-only", description = "Leaves out the stock Java clients.")
  private boolean nativeOnly;

  @Option(names = "--ebbfs-only", description = "Leaves out HDFS.")
  private boolean ebbfsOnly;

  @Option(
      names = "--heap",
      paramLabel = "MIB",
      description = "Heap of each namenode in MiB (default: 2048).")
  private int heapMebibytes = 2048;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where both systems keep their files (default: a temporary directory).")
  private Path directory;

  @Override
  public Integer call() throws Exception {
    MetadataOptions options = options();
    Path files =
        directory == null
            ? Files.createTempDirectory("ebb-bench-metadata")
            : Files.createDirectories(directory.toAbsolutePath());
    MetadataResults results = new MetadataBenchmark(Build.find(), options, files, System.out).run();
    if (json != null) {
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .writeValue(json.toAbsolutePath().toFile(), results);
    }
    return 0;
  }

  private MetadataOptions options() {
    for (String row : rows) {
      if (!RowNames.ALL.contains(row)) {
        throw new ParameterException(
            command.commandLine(),
            "--rows %s: choose from %s".formatted(row, String.join(", ", RowNames.ALL)));
      }
    }
    double runSeconds = seconds != null ? seconds : quick ? 1 : 3;
    List<Integer> defaultConnections = quick ? List.of(16, 64) : List.of(1, 16, 64, 1000);
    return new MetadataOptions(
        rows.isEmpty() ? RowNames.ALL : RowNames.ALL.stream().filter(rows::contains).toList(),
        connections.isEmpty() ? defaultConnections : connections,
        rounds != null ? rounds : quick ? 2 : 5,
        runSeconds,
        warmUp != null ? warmUp : runSeconds,
        quick,
        nativeOnly,
        ebbfsOnly,
        heapMebibytes,
        Optional.ofNullable(json),
        Optional.ofNullable(directory));
  }
}
