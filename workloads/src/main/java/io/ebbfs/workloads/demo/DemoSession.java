package io.ebbfs.workloads.demo;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A demo from its first check to its reports: see {@link Demo}. */
public final class DemoSession {
  // Three replicas of all files, the parities beside them, logs and the metadata store.
  private static final double FREE_PER_BYTE = 4.5;
  private static final long FREE_AT_LEAST = 1L << 30;

  private DemoSession() {}

  /**
   * Runs the demo and prints how it goes.
   *
   * @return whether all promises held
   * @throws DemoException for an input that cannot be used; the message names the remedy
   */
  public static boolean run(DemoOptions options)
      throws IOException, ClusterException, InterruptedException {
    DemoConsole console = new DemoConsole(System.out, System.console() != null);
    try {
      return run(options, console);
    } catch (DemoException | ClusterException | IOException e) {
      console.line("");
      throw e;
    }
  }

  private static boolean run(DemoOptions options, DemoConsole console)
      throws IOException, ClusterException, InterruptedException {
    Build build = Build.find();
    DataSet data = DataSet.scan(options.directory());
    prepare(build, options, data);
    console.line(
        "EbbFS demo: %d files, %s of %s",
        data.files().size(), DemoConsole.bytes(data.bytes()), options.directory());
    DemoReport report;
    try (Demo demo = new Demo(data, build, options, console)) {
      Thread stopAtSignal = new Thread(() -> closeQuietly(demo), "stop-at-signal");
      Runtime.getRuntime().addShutdownHook(stopAtSignal);
      try {
        report = demo.run();
      } finally {
        if (demo.report().secondsPerPhase.containsKey("store")) {
          write(demo.report(), options, console); // also of a demo that could not go on
        }
        Runtime.getRuntime().removeShutdownHook(stopAtSignal);
        if (options.keep()) {
          keep(demo, options, console);
        }
      }
    }
    return report.passed;
  }

  private static void keep(Demo demo, DemoOptions options, DemoConsole console) {
    demo.keepCluster();
    console.line("");
    console.line("The cluster stays up: dashboard %s/", demo.cluster().httpAddress());
    console.line("Stop it with: ./ebb down --dir %s", options.clusterDirectory());
  }

  private static void closeQuietly(Demo demo) {
    try {
      demo.close();
    } catch (ClusterException | InterruptedException e) {
      System.err.println("error: processes may be left: " + e.getMessage());
    }
  }

  private static void write(DemoReport report, DemoOptions options, DemoConsole console)
      throws IOException {
    Path json = options.output().resolve("demo-report.json");
    Path html = options.output().resolve("demo-report.html");
    report.write(json, html);
    console.line("");
    DemoSummary.lines(report).forEach(line -> console.line("%s", line));
    console.line("");
    console.line("Written: %s and %s", json, html);
  }

  private static void prepare(Build build, DemoOptions options, DataSet data)
      throws IOException, ClusterException, InterruptedException {
    Path directory = options.clusterDirectory();
    if (LocalCluster.exists(directory)) {
      LocalCluster.open(build, directory).stop();
      delete(directory);
    }
    Files.createDirectories(options.output());
    if (!Files.isWritable(options.output())) {
      throw new DemoException(
          "cannot write reports to '%s': name another directory with --output"
              .formatted(options.output()));
    }
    Files.createDirectories(directory.getParent());
    long wanted = Math.max(FREE_AT_LEAST, (long) (data.bytes() * FREE_PER_BYTE));
    long free = Files.getFileStore(directory.getParent()).getUsableSpace();
    if (free < wanted) {
      throw new DemoException(
          "%s free where '%s' lies, %s needed for these files: free some space or name a smaller directory"
              .formatted(DemoConsole.bytes(free), directory, DemoConsole.bytes(wanted)));
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
