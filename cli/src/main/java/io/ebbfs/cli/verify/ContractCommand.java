package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.verify.contract.ContractOptions;
import io.ebbfs.verify.contract.ContractRun;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Hadoop's own tests of what a file system has to do. */
@Command(
    name = "contract",
    description = {
      "Runs Hadoop's contract tests of file systems, with the promises of HDFS, on a cluster.",
      "A test that fails is run on Apache HDFS, too; if it fails there, it is left out.",
      "The exit code is 1 if a test fails that Apache HDFS passes."
    })
final class ContractCommand implements Callable<Integer> {
  @Mixin private HelpOption help;

  @Option(names = "--hdfs", description = "Runs the tests on Apache HDFS and not on EbbFS.")
  private boolean onHdfs;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "SUBJECTS",
      description = "Runs the tests of these subjects: Rename,Append.")
  private List<String> subjects = List.of();

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description =
          "Writes how many tests passed, which failed, and which were left out for which reason.")
  private Path json;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the cluster lives (default: a temporary directory).")
  private Path directory;

  @Override
  public Integer call() throws Exception {
    ContractOptions options =
        new ContractOptions(
            onHdfs,
            subjects,
            Optional.ofNullable(json).map(Path::toAbsolutePath),
            Optional.ofNullable(directory).map(Path::toAbsolutePath));
    return ContractRun.run(options, System.out) ? 0 : 1;
  }
}
