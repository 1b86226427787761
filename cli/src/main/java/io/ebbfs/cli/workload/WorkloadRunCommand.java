package io.ebbfs.cli.workload;

import io.ebbfs.cli.options.ClusterDirectory;
import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.Units;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.workloads.traffic.Replay;
import io.ebbfs.workloads.traffic.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Replays a workload. Exit code 1 if a file was wrong or unreadable. */
@Command(
    name = "run",
    description = {
      "Stores the files of a workload on the local cluster and reads them at their times.",
      "The exit code is 1 if a file was wrong or unreadable."
    })
final class WorkloadRunCommand implements Callable<Integer> {
  private static final int CLIENT_THREADS = 16;
  private static final int FAILURES_SHOWN = 10;

  @Mixin private HelpOption help;
  @Mixin private ClusterDirectory directory;
  @Mixin private WorkloadSource source;

  @Parameters(paramLabel = "NAME", description = "CC1, CC2, CC3, CC4, FB, or 'trace' with --trace.")
  private String name;

  @Option(
      names = "--target",
      paramLabel = "PATH",
      description = "The folder of the files in the cluster (default: /workload).")
  private String target = "/workload";

  @Override
  public Integer call() throws IOException, ClusterException, InterruptedException {
    Workload workload = source.workload(name);
    LocalCluster cluster = directory.open();
    Path temporary = Files.createTempDirectory("ebb-workload");
    try (StockProcess client = client(cluster, temporary)) {
      return replay(workload, new Replay(workload, client, target, source.seed()), temporary);
    } finally {
      try (var left = Files.list(temporary)) {
        left.forEach(file -> file.toFile().delete());
      }
      Files.delete(temporary);
    }
  }

  private static StockProcess client(LocalCluster cluster, Path temporary)
      throws IOException, ClusterException {
    Map<String, String> settings =
        Map.of(
            "fs.defaultFS", cluster.stockClient().uri(),
            "dfs.blocksize", Long.toString(cluster.layout().blockSizeBytes()));
    return new StockProcess(
        Build.find().home(), CLIENT_THREADS, settings, temporary.resolve("client.log"));
  }

  private static int replay(Workload workload, Replay replay, Path temporary)
      throws IOException, InterruptedException {
    System.out.printf(
        "%s: storing %d files, %s%n",
        workload.name(), workload.files().size(), Units.showBytes(workload.bytes()));
    replay.store(temporary, progress("stored", System.nanoTime()));
    System.out.printf(
        "reading for %d s: %d reads%n", workload.durationMillis() / 1000, workload.reads().size());
    Replay.Outcome outcome = replay.read(progress("read", System.nanoTime()));
    System.out.printf(
        Locale.ROOT,
        "%d reads: %.1f ms median, %.1f ms at 95%%, %.1f ms at 99%%; %d late, %d wrong, %d unreadable%n",
        workload.reads().size(),
        outcome.millis(50),
        outcome.millis(95),
        outcome.millis(99),
        outcome.late(),
        outcome.wrong(),
        outcome.unreadable());
    outcome.failures().stream()
        .limit(FAILURES_SHOWN)
        .forEach(failure -> System.out.println("  " + failure));
    return outcome.wrong() + outcome.unreadable() == 0 ? 0 : 1;
  }

  /** Shows the time left, on a terminal in one line that is redrawn. */
  private static BiConsumer<Integer, Integer> progress(String what, long start) {
    AtomicLong drawn = new AtomicLong();
    boolean terminal = System.console() != null;
    return (done, of) -> {
      long now = System.nanoTime();
      if (!terminal || done < of && now - drawn.get() < 200_000_000L) {
        return;
      }
      drawn.set(now);
      System.out.printf(
          "\r\033[K  %s %d of %d, about %d s left",
          what, done, of, (now - start) / done * (of - done) / 1_000_000_000);
      if (done.equals(of)) {
        System.out.print("\r\033[K");
      }
      System.out.flush();
    };
  }
}
