package io.ebbfs.cli.bench;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.process.LiveFiles;
import io.ebbfs.workloads.metadata.LoadPlan;
import io.ebbfs.workloads.metadata.MetadataBenchmark;
import io.ebbfs.workloads.metadata.MetadataOptions;
import io.ebbfs.workloads.metadata.MetadataOptions.Sizes;
import io.ebbfs.workloads.metadata.RowNames;
import io.ebbfs.workloads.report.MetadataPage;
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

/** The namenode of EbbFS beside that of HDFS. */
@Command(
    name = "metadata",
    description = {
      "Measures the namenode of EbbFS beside Apache HDFS's NameNode, in turn on the same machine.",
      "Prints medians with the least and the greatest run, and ratios."
    })
public final class MetadataCommand implements Callable<Integer> {
  private static final int MOST_CONNECTIONS = 10_000;
  private static final Sizes QUICK_SIZES = new Sizes(2_000, List.of(600_000), 1, 64);
  private static final Sizes FULL_SIZES =
      new Sizes(250_000, List.of(1_000_000, 10_000_000), 3, 256);

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
      description = "Numbers of connections (default: 1,16,64,1000; 16,64 of stock clients).")
  private List<Integer> connections = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Runs per row and system (default: 3; 2 with --quick).")
  private Integer rounds;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description =
          "Length of a run (default: 2 with 64 connections of the native generator, else 1; 1 and"
              + " 0.5 with --quick).")
  private Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description =
          "Seconds that each row runs before it is measured (default: 4 with 64 connections of the"
              + " native generator, else 1; 1.2 and 0.4 with --quick).")
  private Double warmUp;

  @Option(names = "--native-only", description = "Leaves out the stock Java clients.")
  private boolean nativeOnly;

  @Option(names = "--stock-only", description = "Leaves out the native load generator.")
  private boolean stockOnly;

  @Option(names = "--ebbfs-only", description = "Leaves out HDFS.")
  private boolean ebbfsOnly;

  @Option(
      names = "--files",
      paramLabel = "N",
      split = ",",
      description =
          "Files of the namespaces that are started with, ascending (default: 1000000,10000000; 600000 with"
              + " --quick).")
  private List<Integer> namespaceFiles = List.of();

  @Option(
      names = "--directory-files",
      paramLabel = "N",
      description =
          "Files of the directory that is renamed and deleted (default: 250000; 2000 with"
              + " --quick).")
  private Integer directoryFiles;

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
    MetadataBenchmark benchmark =
        new MetadataBenchmark(Build.find(), options, new RowCopies(), files, System.out);
    try {
      benchmark.run();
    } finally {
      // A run that fails late has the figures of most rows.
      report(benchmark);
    }
    if (directory == null) {
      LiveFiles.deleteTree(files);
    }
    return 0;
  }

  private void report(MetadataBenchmark benchmark) throws Exception {
    if (json != null) {
      System.out.println(
          "Report: " + MetadataPage.write(benchmark.results(), json.toAbsolutePath()));
    }
  }

  private MetadataOptions options() {
    for (String row : rows) {
      if (!RowNames.ALL.contains(row)) {
        throw refusal("--rows %s: choose from %s", row, String.join(", ", RowNames.ALL));
      }
    }
    for (int number : connections) {
      if (number < 1 || number > MOST_CONNECTIONS) {
        throw refusal("--connections %d: give 1 to %d", number, MOST_CONNECTIONS);
      }
    }
    if (rounds != null && rounds < 1) {
      throw refusal("--rounds is %d: give at least 1", rounds);
    }
    if (seconds != null && seconds <= 0) {
      throw refusal("--seconds is %s: give at least 0.1", seconds);
    }
    LoadPlan plan = new LoadPlan(quick, seconds, warmUp);
    return new MetadataOptions(
        rows.isEmpty() ? RowNames.ALL : rows,
        connections.isEmpty()
            ? plan.usual(!stockOnly, !nativeOnly)
            : plan.of(connections, !stockOnly, !nativeOnly),
        rounds != null ? rounds : quick ? 2 : 3,
        plan.longestSeconds(),
        quick,
        ebbfsOnly,
        heapMebibytes,
        sizes());
  }

  private Sizes sizes() {
    Sizes sizes = quick ? QUICK_SIZES : FULL_SIZES;
    for (int i = 0; i < namespaceFiles.size(); i++) {
      if (namespaceFiles.get(i) < 1
          || i > 0 && namespaceFiles.get(i) <= namespaceFiles.get(i - 1)) {
        throw refusal("--files %s: give ascending numbers of files", namespaceFiles);
      }
    }
    if (directoryFiles != null && directoryFiles < 1) {
      throw refusal("--directory-files %d: give at least 1", directoryFiles);
    }
    return new Sizes(
        directoryFiles == null ? sizes.directoryFiles() : directoryFiles,
        namespaceFiles.isEmpty() ? sizes.namespaceFiles() : namespaceFiles,
        sizes.starts(),
        sizes.cacheMebibytes());
  }

  private ParameterException refusal(String message, Object... values) {
    return new ParameterException(command.commandLine(), message.formatted(values));
  }
}
