package io.ebbfs.verify.histories;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.histories.Call.Verb;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.DFSClient;

/**
 * How long clients wait when the namenode that serves is killed: 64 stock clients, each with one
 * call at a time, while it is killed again and again and started again as a standby.
 */
public final class Failover {
  private static final int CLIENTS = 64;
  private static final int SERVERS = 3;
  private static final int NAMENODES = 3;
  private static final long CALM_MILLIS = 15_000;
  private static final long LEADER_POLL_MILLIS = 20;
  private static final int IDLE_MILLIS = 10_000;

  /**
   * Between the calls of a client. All clients together begin a call every 47 ms, so a gap is seen
   * in full, and two cores have time left: on a machine without idle time every call waits long.
   */
  private static final long PAUSE_MILLIS = 3_000;

  private final HistoriesOptions options;
  private final PrintStream out;
  private final AtomicReference<Longest> longest = new AtomicReference<>(Longest.NONE);
  private final AtomicLong calls = new AtomicLong();
  private final AtomicInteger errors = new AtomicInteger();
  private final Map<String, Integer> failures = new ConcurrentSkipListMap<>();
  private final List<Long> gapsMillis = new ArrayList<>();
  private final List<Long> calmMillis = new ArrayList<>();
  private volatile boolean goesOn = true;

  /** The longest call since a kill, and when it began by {@link System#nanoTime}. */
  private record Longest(long beganNanos, long nanos, String what) {
    private static final Longest NONE = new Longest(0, 0, "none");

    private long millis() {
      return nanos / 1_000_000;
    }
  }

  private Failover(HistoriesOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
  }

  /**
   * Kills namenodes for the length of the run and prints the gaps.
   *
   * @return whether no error has reached a client
   */
  public static boolean run(HistoriesOptions options, PrintStream out) throws Exception {
    return new Failover(options, out).run();
  }

  private boolean run() throws Exception {
    Path place = RunFiles.place(options.directory(), "ebbfs-failover");
    out.printf(
        "failover: %d s, %d clients, seed %d, cluster in %s%n",
        options.length().toSeconds(), CLIENTS, options.seed(), place);
    LocalCluster cluster =
        LocalCluster.create(
            Build.find(),
            ClusterSpec.of(place.resolve("cluster"))
                .withServers(SERVERS, 1)
                .withNamenodes(NAMENODES)
                .withPorts(0, 0));
    cluster.start();
    int kills;
    try {
      kills = callsAndKills(cluster);
    } finally {
      cluster.stop();
    }
    report(kills);
    if (options.directory().isEmpty()) {
      VerifyCluster.deleteTree(place);
    }
    return errors.get() == 0;
  }

  private int callsAndKills(LocalCluster cluster) throws Exception {
    Configuration configuration = new Configuration();
    cluster.stockClient().settings().forEach(configuration::set);
    Random random = new Random(options.seed());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      StockNamespaceClient client =
          new StockNamespaceClient(
              URI.create(cluster.stockClient().uri()), withOwnConnections(configuration, i));
      String directory = "/failover/" + i;
      client.run(directory, Call.of(Verb.MKDIRS, ""));
      CallSource source = new CallSource(new Random(random.nextLong()));
      threads.add(new Thread(() -> call(client, directory, source), "client-" + i));
    }
    threads.forEach(Thread::start);
    int kills = 0;
    long end = System.nanoTime() + options.length().toNanos();
    Thread.sleep(CALM_MILLIS * 2 / 3);
    longest.set(Longest.NONE);
    Thread.sleep(CALM_MILLIS / 3);
    while (System.nanoTime() < end) {
      kill(cluster, leader(cluster));
      kills++;
    }
    goesOn = false;
    for (Thread thread : threads) {
      thread.join();
    }
    return kills;
  }

  /**
   * Settings of a client that shares no connection with the others, like one in a process of its
   * own. Hadoop shares the connections of a process between equal settings, and may hold a call for
   * a second if a connection breaks while another call sends on it.
   */
  private static Configuration withOwnConnections(Configuration all, int client) {
    Configuration own = new Configuration(all);
    own.setInt("ipc.client.connection.maxidletime", IDLE_MILLIS + client);
    return own;
  }

  private void kill(LocalCluster cluster, String name)
      throws ClusterException, InterruptedException {
    Longest calm = longest.getAndSet(Longest.NONE);
    calmMillis.add(calm.millis());
    long killed = System.nanoTime();
    cluster.kill(name);
    Thread.sleep(CALM_MILLIS);
    Longest gap = longest.get();
    gapsMillis.add(gap.millis());
    out.printf(
        "%s is killed: the longest call took %d ms, a %s that began %d ms after the kill; before the kill %d ms%n",
        name, gap.millis(), gap.what(), (gap.beganNanos() - killed) / 1_000_000, calm.millis());
    cluster.start(name);
    Thread.sleep(CALM_MILLIS * 2 / 3);
    longest.set(Longest.NONE); // the start of a process takes most of a small machine
    Thread.sleep(CALM_MILLIS / 3);
  }

  /** The process of the namenode that serves. */
  private static String leader(LocalCluster cluster) throws IOException, InterruptedException {
    while (true) {
      for (int i = 0; i < NAMENODES; i++) {
        try (DFSClient client =
            new DFSClient(
                URI.create("hdfs://" + cluster.stockClient().namenodes().get(i)),
                new Configuration())) {
          if (client.getNamenode().getHAServiceState() == HAServiceState.ACTIVE) {
            return ProcessNames.namenode(i);
          }
        }
      }
      Thread.sleep(LEADER_POLL_MILLIS);
    }
  }

  private void call(StockNamespaceClient client, String directory, CallSource source) {
    try (client) {
      while (goesOn) {
        Call call = source.next();
        if (call.verb() != Verb.OPEN) {
          timed(client, directory, call);
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (IOException e) {
      out.printf("a client did not close: %s%n", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void timed(StockNamespaceClient client, String directory, Call call)
      throws InterruptedException {
    long began = System.nanoTime();
    try {
      client.run(directory, call);
      calls.incrementAndGet();
    } catch (IOException e) {
      errors.incrementAndGet();
      failures.merge(StockNamespaceClient.classOf(e), 1, Integer::sum);
    }
    Longest done =
        new Longest(began, System.nanoTime() - began, call.verb().name().toLowerCase(Locale.ROOT));
    longest.accumulateAndGet(done, (a, b) -> a.nanos() >= b.nanos() ? a : b);
  }

  private void report(int kills) throws IOException {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("seed", options.seed());
    figures.put("seconds", options.length().toSeconds());
    figures.put("clients", CLIENTS);
    figures.put("kills", kills);
    figures.put("calls", calls.get());
    figures.put("longestGapMillis", gapsMillis.stream().mapToLong(Long::longValue).max().orElse(0));
    figures.put("clientErrors", errors.get());
    figures.forEach((name, value) -> out.printf("%-17s %s%n", name, value));
    if (errors.get() > 0) {
      out.printf("errors: %s%n", failures);
    }
    figures.put("gapsMillis", gapsMillis);
    figures.put("longestCallsBeforeMillis", calmMillis);
    figures.put("errorsByClass", failures);
    RunFiles.write(options.json(), figures);
  }
}
