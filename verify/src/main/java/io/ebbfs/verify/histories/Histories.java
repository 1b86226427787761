package io.ebbfs.verify.histories;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.histories.LinearizabilityChecker.Violation;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.hadoop.conf.Configuration;

/**
 * Stock clients call a cluster of real processes on a few shared paths while the namenode is killed
 * and frozen. Each round has a directory of its own, and its history is checked.
 */
public final class Histories {
  private static final int SERVERS = 3;
  private static final int CLIENTS = 6;
  private static final int CALLS = 30;
  private static final int MOST_PAUSE_MILLIS = 30;

  private final HistoriesOptions options;
  private final PrintStream out;
  private final Random random;
  private int histories;
  private int operations;
  private int unknown;
  private int faults;
  private final List<String> violations = new ArrayList<>();
  private final Map<String, Integer> failures = new ConcurrentSkipListMap<>();
  private volatile boolean goesOn = true;

  private Histories(HistoriesOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    this.random = new Random(options.seed());
  }

  /**
   * Runs rounds and prints their figures.
   *
   * @return whether every history was linearizable
   */
  public static boolean run(HistoriesOptions options, PrintStream out) throws Exception {
    return new Histories(options, out).run();
  }

  private boolean run() throws Exception {
    Path place = RunFiles.place(options.directory(), "ebbfs-histories");
    out.printf(
        "histories: %d s, %d clients, %d namenodes, seed %d, cluster in %s%n",
        options.length().toSeconds(), CLIENTS, options.namenodes(), options.seed(), place);
    LocalCluster cluster = start(place.resolve("cluster"), options.namenodes());
    try {
      rounds(cluster);
    } finally {
      cluster.stop();
    }
    report();
    if (violations.isEmpty() && options.directory().isEmpty()) {
      VerifyCluster.deleteTree(place);
    }
    return violations.isEmpty();
  }

  private static LocalCluster start(Path directory, int namenodes)
      throws ClusterException, InterruptedException {
    LocalCluster cluster =
        LocalCluster.create(
            Build.find(),
            ClusterSpec.of(directory)
                .withServers(SERVERS, 1)
                .withNamenodes(namenodes)
                .withBlockSize(1 << 20)
                .withHeartbeat(300)
                .withPorts(0, 0));
    cluster.start();
    return cluster;
  }

  private void rounds(LocalCluster cluster) throws Exception {
    HistoryFaults breaker =
        new HistoryFaults(cluster, new Random(random.nextLong()), out, () -> goesOn);
    Thread breaking = new Thread(breaker, "history-faults");
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    List<StockNamespaceClient> clients = clients(cluster);
    try {
      breaking.start();
      long end = System.nanoTime() + options.length().toNanos();
      while (System.nanoTime() < end) {
        round(clients, threads);
      }
    } finally {
      goesOn = false;
      breaking.join();
      threads.shutdown();
      for (StockNamespaceClient client : clients) {
        client.close();
      }
    }
    faults = breaker.count();
    if (breaker.failure() != null) {
      throw breaker.failure();
    }
  }

  private static List<StockNamespaceClient> clients(LocalCluster cluster) throws IOException {
    Configuration configuration = new Configuration();
    cluster.stockClient().settings().forEach(configuration::set);
    configuration.setInt("ipc.client.rpc-timeout.ms", 10_000);
    configuration.setInt("ipc.client.connect.timeout", 2_000);
    configuration.setInt("ipc.client.connect.max.retries", 300);
    configuration.setInt("ipc.client.connect.retry.interval", 200);
    configuration.setInt("dfs.client.socket-timeout", 8_000);
    List<StockNamespaceClient> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(new StockNamespaceClient(URI.create(cluster.stockClient().uri()), configuration));
    }
    return clients;
  }

  private void round(List<StockNamespaceClient> clients, ExecutorService threads)
      throws IOException, InterruptedException {
    String directory = "/histories/%d".formatted(histories);
    makeDirectory(clients.get(0), directory);
    List<Event> events =
        new Round(directory, clients, CALLS, MOST_PAUSE_MILLIS, this::note).run(random, threads);
    histories++;
    operations += events.size();
    unknown += (int) events.stream().filter(event -> event.answer() == null).count();
    Optional<Violation> violation = LinearizabilityChecker.check(events);
    if (violation.isPresent()) {
      String text = describe(directory, events, violation.get());
      violations.add(text);
      out.println(text);
    }
  }

  private void note(IOException failure) {
    failures.merge(StockNamespaceClient.classOf(failure), 1, Integer::sum);
  }

  private static void makeDirectory(StockNamespaceClient client, String directory)
      throws IOException, InterruptedException {
    Call call = Call.of(Call.Verb.MKDIRS, "");
    IOException last = null;
    for (int i = 0; i < 60; i++) {
      try {
        client.run(directory, call);
        return;
      } catch (IOException e) {
        last = e;
        Thread.sleep(500);
      }
    }
    throw new IOException("directory %s cannot be made".formatted(directory), last);
  }

  private static String describe(String directory, List<Event> events, Violation violation) {
    StringBuilder text = new StringBuilder();
    text.append("VIOLATION: no order of the calls in ").append(directory);
    text.append(" explains their answers\n  the calls, as they began:\n");
    long first = events.stream().mapToLong(Event::began).min().orElse(0);
    events.stream()
        .sorted(Comparator.comparingLong(Event::began))
        .forEach(event -> text.append("    ").append(timed(event, first)).append('\n'));
    text.append("  the longest order that was found:\n");
    violation.longest().forEach(event -> text.append("    ").append(event).append('\n'));
    text.append("  it leads to ").append(violation.tree().nodes()).append('\n');
    text.append("  one of these calls would be next, and none fits:\n");
    violation.next().forEach(event -> text.append("    ").append(event).append('\n'));
    return text.toString();
  }

  private static String timed(Event event, long first) {
    String end =
        event.ended() == Event.NEVER ? "..." : "%.1f".formatted((event.ended() - first) / 1e6);
    return "%8.1f to %s ms  %s".formatted((event.began() - first) / 1e6, end, event);
  }

  private void report() throws IOException {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("seed", options.seed());
    figures.put("seconds", options.length().toSeconds());
    figures.put("namenodes", options.namenodes());
    figures.put("histories", histories);
    figures.put("operations", operations);
    figures.put("unknownAnswers", unknown);
    figures.put("faults", faults);
    figures.put("violations", violations.size());
    out.printf("why answers are unknown: %s%n", failures);
    figures.forEach((name, value) -> out.printf("%-15s %s%n", name, value));
    figures.put("violationTexts", violations);
    RunFiles.write(options.json(), figures);
  }
}
