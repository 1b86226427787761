package io.ebbfs.workloads.demo;

import io.ebbfs.cluster.Build;
import io.ebbfs.cluster.ClusterException;
import io.ebbfs.cluster.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * {@code ebb demo}: see {@link Demo}. Exit code 0: all held; 1: something did not; 2: bad input.
 */
public final class DemoMain {
  // Three replicas of everything, the parities beside them, logs and the metadata store.
  private static final double FREE_PER_BYTE = 4.5;
  private static final long FREE_AT_LEAST = 1L << 30;

  private DemoMain() {}

  public static void main(String[] arguments) {
    Console console = new Console(System.out, System.console() != null);
    int status;
    try {
      status = run(arguments, console);
    } catch (DemoException | ClusterException e) {
      console.line("");
      System.err.println("ebb demo: " + e.getMessage());
      status = 2;
    } catch (IOException e) {
      console.line("");
      System.err.println("ebb demo: stopped by " + e);
      status = 1;
    } catch (InterruptedException e) {
      status = 1;
    }
    System.out.flush();
    System.exit(status);
  }

  private static int run(String[] arguments, Console console)
      throws IOException, ClusterException, InterruptedException {
    if (List.of(arguments).contains("--help")) {
      System.out.print(DemoOptions.USAGE);
      return 0;
    }
    Build build = Build.find();
    DemoOptions options = DemoOptions.parse(List.of(arguments), build.home());
    DataSet data = DataSet.scan(options.directory());
    prepare(build, options, data);
    console.line(
        "EbbFS demo: %d files, %s of %s",
        data.files().size(), Console.bytes(data.bytes()), options.directory());
    Report report;
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
    return report.passed ? 0 : 1;
  }

  private static void keep(Demo demo, DemoOptions options, Console console) {
    demo.keepCluster();
    console.line("");
    console.line("The cluster stays up: dashboard %s/", demo.cluster().httpAddress());
    console.line("Stop it with: ./ebb down --dir %s", options.clusterDirectory());
  }

  private static void closeQuietly(Demo demo) {
    try {
      demo.close();
    } catch (ClusterException | InterruptedException e) {
      System.err.println("ebb demo: processes may be left: " + e.getMessage());
    }
  }

  private static void write(Report report, DemoOptions options, Console console)
      throws IOException {
    Path json = options.output().resolve("demo-report.json");
    Path html = options.output().resolve("demo-report.html");
    report.write(json, html);
    console.line("");
    Summary.lines(report).forEach(line -> console.line("%s", line));
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
              .formatted(Console.bytes(free), directory, Console.bytes(wanted)));
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
