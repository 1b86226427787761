package io.ebbfs.cli.bench;

import io.ebbfs.cli.options.ClusterDirectory;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.workloads.append.AppendBenchmark;
import java.net.URI;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures record appends on a running local cluster. */
@Command(
    name = "append",
    description =
        "Compares writers who append records to one file with as many writers of a file each.")
public final class AppendCommand implements Callable<Integer> {
  @Spec private CommandSpec command;
  @Mixin private HelpOption help;
  @Mixin private ClusterDirectory cluster;

  @Option(
      names = "--writers",
      paramLabel = "N",
      description = "Writers at a time (default: ${DEFAULT-VALUE}).")
  private int writers = 64;

  @Option(
      names = "--record-bytes",
      paramLabel = "N",
      description = "Length of a record (default: ${DEFAULT-VALUE}).")
  private int recordBytes = 10_000;

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "Records of each writer (default: ${DEFAULT-VALUE}).")
  private int records = 800;

  @Option(
      names = "--lanes",
      paramLabel = "N",
      description = "Lanes of the one file (default: ${DEFAULT-VALUE}).")
  private int lanes = 4;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Runs of each kind (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Override
  public Integer call() throws Exception {
    check("--writers", writers, 4_096);
    check("--record-bytes", recordBytes, AppendBenchmark.MOST_RECORD_BYTES);
    check("--records", records, Integer.MAX_VALUE);
    check("--lanes", lanes, AppendBenchmark.MOST_LANES);
    check("--rounds", rounds, 1_000);
    AppendBenchmark.Options options =
        new AppendBenchmark.Options(writers, recordBytes, records, lanes, rounds);
    URI uri = URI.create(cluster.open().stockClient().uri());
    try (DistributedFileSystem files =
        (DistributedFileSystem) DistributedFileSystem.newInstance(uri, new Configuration())) {
      new AppendBenchmark(files, options, System.out).run();
    }
    return 0;
  }

  private void check(String option, int value, int most) {
    if (value < 1 || value > most) {
      throw new ParameterException(
          command.commandLine(),
          "%s is %d; choose a value from 1 to %d".formatted(option, value, most));
    }
  }
}
