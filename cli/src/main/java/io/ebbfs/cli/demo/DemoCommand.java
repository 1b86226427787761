package io.ebbfs.cli.demo;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.demo.DemoOptions;
import io.ebbfs.workloads.demo.DemoSession;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The demo. Exit code 0: all promises held; 1: one did not; 2: the input cannot be used. */
@Command(
    name = "demo",
    description = {
      "Stores a folder in a new cluster, breaks disks and servers, and checks every file.",
      "The results are in demo-report.json and demo-report.html."
    })
public final class DemoCommand implements Callable<Integer> {
  private static final int SERVERS = 12;
  private static final int DISKS = 6;

  @Mixin private HelpOption help;

  @Parameters(
      arity = "0..1",
      paramLabel = "DIR",
      description = "The folder with the files (default: the local Maven repository).")
  private Path directory = Path.of(System.getProperty("user.home"), ".m2", "repository");

  @Option(
      names = "--keep",
      description = "Leaves the cluster up and prints the address of the dashboard.")
  private boolean keep;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the cluster lives meanwhile (default: .ebb/demo of the project).")
  private Path cluster;

  @Option(
      names = "--output",
      paramLabel = "DIR",
      description = "Where the reports go (default: the current directory).")
  private Path output = Path.of("");

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the files that are read and of the faults (default: 1).")
  private long seed = 1;

  @Option(
      names = "--http-port",
      paramLabel = "N",
      description = "The port of the dashboard (default: any free one).")
  private int httpPort;

  @Override
  public Integer call() throws ClusterException {
    try {
      return DemoSession.run(options(Build.find().home())) ? 0 : 1;
    } catch (IOException e) {
      System.err.println("error: stopped by " + e);
      return 1;
    } catch (InterruptedException e) {
      return 1;
    }
  }

  DemoOptions options(Path home) {
    return new DemoOptions(
        directory.toAbsolutePath().normalize(),
        keep,
        output.toAbsolutePath(),
        cluster == null ? home.resolve(".ebb/demo") : cluster.toAbsolutePath(),
        SERVERS,
        DISKS,
        httpPort,
        seed);
  }
}
