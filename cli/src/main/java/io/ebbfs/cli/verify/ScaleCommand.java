package io.ebbfs.cli.verify;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.scale.ScaleComparison;
import io.ebbfs.verify.scale.ScaleDashboard;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What the periodic work costs as the number of files grows. */
@Command(
    name = "scale",
    description = {
      "Prints what each periodic work of namenode and manager costs at a tenth of the files and at"
          + " all of them.",
      "The metadata store is filled with synthetic rows. 500 simulated servers beat and report, and"
          + " a client makes 20 files a second.",
      "A run with 10 million files takes about 10 GB of disk and half an hour on two cores."
    })
final class ScaleCommand implements Callable<Integer> {
  private static final long LEAST_FILES = 10_000;

  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(names = "--files", paramLabel = "N", description = "Files (default: ${DEFAULT-VALUE}).")
  private long files = 10_000_000;

  @Option(
      names = "--alone",
      description = "Measures all of the files only, and no tenth of them before.")
  private boolean alone;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "How long the work is watched at each size (default: ${DEFAULT-VALUE}).")
  private int seconds = 60;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where temporary files go (default: a new directory for temporary files).")
  private Path directory;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the figures to this file.")
  private Path json;

  @Option(
      names = "--serve",
      description =
          "Serves the dashboard over all of the files until Ctrl-C, and measures nothing.")
  private boolean serve;

  @Override
  public Integer call() throws Exception {
    if (files < LEAST_FILES) {
      throw new ParameterException(
          command.commandLine(), "--files is %d: give at least %d".formatted(files, LEAST_FILES));
    }
    refuseWithServe("--json", json != null);
    refuseWithServe("--alone", alone);
    Path place = RunFiles.place(Optional.ofNullable(directory), "ebbfs-scale");
    if (serve) {
      serve(place.toAbsolutePath().resolve("served"));
      return 0;
    }
    RunFiles.write(
        Optional.ofNullable(json).map(Path::toAbsolutePath),
        new ScaleComparison(files, alone, seconds, place.toAbsolutePath()).run(System.out));
    return 0;
  }

  private void serve(Path place) throws Exception {
    ScaleDashboard dashboard = new ScaleDashboard(files, place, System.out);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(dashboard), "stop"));
    try {
      dashboard.open();
    } catch (Exception e) {
      dashboard.close();
      throw e;
    }
    System.out.printf(
        "The dashboard of %,d files is at %s/%nThe API token is in %s%nCtrl-C ends it and deletes"
            + " its files%n",
        files, dashboard.address(), dashboard.tokenFile());
    new CountDownLatch(1).await();
  }

  private void refuseWithServe(String option, boolean isGiven) {
    if (serve && isGiven) {
      throw new ParameterException(
          command.commandLine(),
          option + " is for figures, and --serve measures none: leave one out");
    }
  }

  private static void end(ScaleDashboard dashboard) {
    try {
      dashboard.close();
    } catch (Exception e) {
      System.err.println("ebb verify scale: " + e.getMessage());
    }
  }
}
