package io.ebbfs.verify.scale;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.manager.Manager;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.namenode.LoopMeter;
import io.ebbfs.namenode.NamenodeServer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.SafeModeAction;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Measures a {@link SyntheticCluster} of a given size, while a client makes some files a second.
 */
final class ScaleRun {
  private static final int CREATES_PER_SECOND = 20;

  /** Most servers whose full reports are measured. Those of 500 servers take ten times as long. */
  private static final int REPORTING = 50;

  /** No server begins to report after so long. */
  private static final double REPORTING_NANOS = 60e9;

  private static final String REPORT = "blockReport";
  private static final long REPORT_MILLIS = 6L * 3_600_000;
  private static final long EVALUATE_MILLIS = 10_000;
  private static final int TIMES = 20;

  /** Sorting goes on for longer with many files; what it costs a second is known by then. */
  private static final double SORT_WATCHED_NANOS = 60e9;

  /** Nothing runs by itself, so that each work is measured alone. */
  private static final ManagerConfig.Schedule BY_HAND =
      new ManagerConfig.Schedule(3_600_000, 3_600_000, 3_600_000, 3_600_000);

  /**
   * What a loop costs.
   *
   * @param periodMillis how often it runs; 0 for what somebody asks for, or what a start does
   * @param millisPerPeriod its CPU time, for calls the time of their handlers; the time that passes
   *     if periodMillis is 0
   * @param rowsPerPeriod rows that it reads: for the namenode those of scans, for the manager all;
   *     -1 if that is not counted
   */
  record Loop(String name, long periodMillis, double millisPerPeriod, double rowsPerPeriod) {}

  /**
   * The figures of one size.
   *
   * @param once milliseconds of what happens once, by name
   * @param answers milliseconds of the slowest of three answers, by request
   * @param heapMiB live objects of namenode and manager together
   */
  record Figures(
      long files,
      List<Loop> loops,
      Map<String, Double> once,
      Map<String, Double> answers,
      double heapMiB) {}

  private final long files;
  private final int seconds;
  private final SyntheticCluster cluster;
  private final PrintStream out;
  private final Map<String, Double> once = new LinkedHashMap<>();
  private final Map<String, Double> answers = new LinkedHashMap<>();
  private final List<Loop> loops = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private NamenodeServer namenode;
  private Manager manager;
  private String token;
  private double heapMiB;

  /**
   * @param seconds for which the loops are watched
   */
  ScaleRun(long files, int seconds, Path directory, PrintStream out) {
    this.files = files;
    this.seconds = seconds;
    this.cluster = new SyntheticCluster(files, directory, BY_HAND, out);
    this.out = out;
  }

  private void time(String name, SyntheticCluster.Step step) throws Exception {
    long began = System.nanoTime();
    step.run();
    noteOnce(name, (System.nanoTime() - began) / 1e6);
  }

  private void noteOnce(String name, double millis) {
    once.put(name, millis);
    out.printf("  %-42s %,12.0f ms%n", name, millis);
  }

  Figures run() throws Exception {
    out.printf("%,d files%n", files);
    try (cluster) {
      time("rows written", () -> cluster.fill(0));
      cluster.startKafka();
      time("namenode starts", cluster::startNamenode);
      namenode = cluster.namenode();
      time("500 servers register", cluster::registerServers);
      fullReports();
      measure();
    }
    return new Figures(files, loops, once, answers, heapMiB);
  }

  private void fullReports() throws Exception {
    long blocks = 0;
    int servers = 0;
    double[] before = calls().getOrDefault(REPORT, new double[2]);
    long began = System.nanoTime();
    while (servers < REPORTING && System.nanoTime() - began < REPORTING_NANOS) {
      blocks += cluster.report(servers++);
    }
    double reported = calls().get(REPORT)[1] - before[1];
    noteOnce("full reports of %d servers".formatted(servers), (System.nanoTime() - began) / 1e6);
    loops.add(
        new Loop(
            "namenode: full report of one server",
            REPORT_MILLIS,
            reported * 1e3 / servers,
            (double) blocks / servers));
  }

  private void measure() throws Exception {
    try (DistributedFileSystem hdfs = cluster.client()) {
      hdfs.setSafeMode(SafeModeAction.LEAVE);
      manager = cluster.openManager();
      token = Files.readString(cluster.tokenFile()).strip();
      time("manager's view is filled", cluster::startManager);
      noteOnce("manager's CPU for that", cpuOf("view-follower") / 1e6);
      time("reads of a fifth of the files are counted", cluster::countReads);
      watch(hdfs);
      answers(hdfs);
      prune();
      preview();
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      heapMiB = (runtime.totalMemory() - runtime.freeMemory()) / 1048576.0;
      out.printf("  %-42s %,12.0f MiB%n", "live heap of namenode and manager", heapMiB);
      restartManager();
      sort();
      if (cluster.failedBeats() > 0) {
        throw new IOException(cluster.failedBeats() + " heartbeats failed");
      }
    }
  }

  private void restartManager() throws Exception {
    manager.close();
    long began = System.nanoTime();
    manager = cluster.openManager();
    loops.add(loop("manager: opens its view again", began, manager.view().visited()));
    time("manager starts again", cluster::startManager);
  }

  private Loop loop(String name, long beganNanos, long rows) {
    Loop loop = new Loop(name, 0, (System.nanoTime() - beganNanos) / 1e6, rows);
    out.printf(
        "  %-42s %12.2f ms, %,.0f rows%n",
        loop.name(), loop.millisPerPeriod(), loop.rowsPerPeriod());
    return loop;
  }

  private long managerRows() {
    return manager.view().visited() + manager.store().visited();
  }

  private void prune() throws Exception {
    ManagerConfig.Heat heat = ManagerConfig.defaults().heat();
    long rows = manager.store().visited();
    long cpu = threadCpu();
    long now = System.currentTimeMillis();
    manager.store().prune(now, heat.halfLives(), heat.pruneBelow(), manager.view()::hasFile, now);
    loops.add(
        new Loop(
            "manager: pruning of read counts",
            heat.pruneEveryMillis(),
            (threadCpu() - cpu) / 1e6,
            manager.store().visited() - rows));
  }

  /** The answer to a preview, and how long the preview itself takes. */
  private void preview() throws Exception {
    String edit = SyntheticCluster.POLICIES.replace("1.5", "1.45");
    long rows = managerRows();
    long began = System.nanoTime();
    JsonNode answer = new ObjectMapper().readTree(post("/api/v1/policies/preview", edit));
    answers.put("/api/v1/policies/preview", (System.nanoTime() - began) / 1e6);
    long shown = System.nanoTime();
    while (!answer.path("done").asBoolean()) {
      Thread.sleep(50);
      long asked = System.nanoTime();
      String path = "/api/v1/policies/previewed?job=" + answer.path("job").asLong();
      answer = new ObjectMapper().readTree(get(path));
      answers.merge(
          "/api/v1/policies/previewed",
          (System.nanoTime() - asked) / 1e6,
          (a, b) -> Math.max(a, b));
      shown =
          cluster.show(shown, "rows are looked at by the preview", answer.path("looked").asLong());
    }
    loops.add(loop("manager: preview of edited policies", began, managerRows() - rows));
    JsonNode policy = answer.path("policies").get(0);
    out.printf(
        "  a share of %.3f was sampled; to compact %,d bytes, within %,d%n",
        answer.path("sampledShare").asDouble(),
        policy.path("toCompactBytes").asLong(),
        policy.path("margins").path("toCompactBytes").asLong());
  }

  /**
   * Sorts all rows by edited policies, while answers are asked for. The edit is made in the file,
   * as an operator makes it: the manager's own evaluations go on with the policies in force.
   */
  private void sort() throws Exception {
    Path file = cluster.policiesFile();
    Files.writeString(file, SyntheticCluster.POLICIES.replace("family: product", "family: lrc"));
    if (!manager.policies().poll(System.currentTimeMillis())) {
      throw new IOException(file + " was edited, and the manager does not take the edit over");
    }
    long rows = manager.view().visited();
    long began = System.nanoTime();
    long cpu = threadCpu();
    manager.evaluator().applyPolicies();
    answers.put("an edit of the policies", (System.nanoTime() - began) / 1e6);
    loops.add(
        new Loop(
            "manager: first step of sorting by an edit",
            0,
            (threadCpu() - cpu) / 1e6,
            manager.view().visited() - rows));
    double slowest = 0;
    long followerCpu = cpuOf("view-follower");
    long shown = System.nanoTime();
    long sorted = 0;
    manager.evaluator().evaluateNowAndThen(true);
    while (manager.view().sortingProgress().isPresent()
        && System.nanoTime() - began < SORT_WATCHED_NANOS) {
      long asked = System.nanoTime();
      get("/api/v1/directory?path=/data/d000000&limit=100");
      get("/api/v1/policies");
      slowest = Math.max(slowest, (System.nanoTime() - asked) / 1e6);
      sorted = requireProgress(sorted);
      shown = cluster.show(shown, "files are sorted", sorted);
      Thread.sleep(100);
      manager.evaluator().applyPolicies();
    }
    double share =
        manager.view().sortingProgress().map(p -> (double) p.files() / p.ofFiles()).orElse(1.0);
    double passed = (System.nanoTime() - began) / 1e6;
    if (share > 0) { // the stripes come first
      once.put("all files are sorted by an edit, if all goes on so", passed / share);
    }
    answers.put("a page and the policies while files are sorted", slowest);
    out.printf("  %.3f of the files were sorted in %,.0f ms%n", share, passed);
    loops.add(
        new Loop(
            "manager: sorting by an edit, a second",
            1_000,
            (cpuOf("view-follower") - followerCpu) / 1e6 / passed * 1_000,
            (manager.view().visited() - rows) / passed * 1_000));
  }

  /** The number of files that are sorted, which must not become smaller. */
  private long requireProgress(long before) throws IOException {
    long files =
        manager.view().sortingProgress().map(NamespaceView.SortingProgress::files).orElse(before);
    if (files < before) {
      throw new IOException(
          "the sorting began anew: %,d files are sorted, and %,d were".formatted(files, before));
    }
    return files;
  }

  /** Watches the loops while a client makes files. */
  private void watch(DistributedFileSystem hdfs) throws Exception {
    Map<String, LoopMeter.Sums> before = namenode.loops().sums();
    Map<String, double[]> callsBefore = calls();
    long changesBefore = manager.follower().status().changes();
    long cpuBefore = cpuOf("view-follower");
    long began = System.nanoTime();
    double evaluation = 0;
    long evaluatedRows = 0;
    int evaluations = 0;
    int made = 0;
    while (System.nanoTime() - began < seconds * 1e9) {
      String name = SyntheticNamespace.ROOT + "/new/" + made / 1_000 + "/f" + made;
      try (FSDataOutputStream file = hdfs.create(new org.apache.hadoop.fs.Path(name))) {
        made++;
      }
      double at = (System.nanoTime() - began) / 1e9;
      if (at > (evaluations + 1) * seconds / 6.0) {
        long cpu = threadCpu();
        long rows = managerRows();
        manager.evaluator().evaluateNowAndThen(true);
        evaluation += (threadCpu() - cpu) / 1e6;
        evaluatedRows += managerRows() - rows;
        evaluations++;
      }
      long next = (long) (began + made * 1e9 / CREATES_PER_SECOND);
      Thread.sleep(Math.max(0, (next - System.nanoTime()) / 1_000_000));
    }
    double passed = (System.nanoTime() - began) / 1e6;
    loops(before, callsBefore, passed);
    loops.add(
        new Loop(
            "manager: evaluation",
            EVALUATE_MILLIS,
            evaluation / Math.max(1, evaluations),
            (double) evaluatedRows / Math.max(1, evaluations)));
    long changes = manager.follower().status().changes() - changesBefore;
    loops.add(
        new Loop(
            "manager: changes, a second",
            1_000,
            (cpuOf("view-follower") - cpuBefore) / 1e6 / passed * 1_000,
            changes / passed * 1_000));
    out.printf("  %-42s %,12d%n", "files made meanwhile", made);
    for (Loop loop : loops) {
      out.printf(
          "  %-42s %12.2f ms of CPU per %,d ms, %,.0f rows%n",
          loop.name(), loop.millisPerPeriod(), loop.periodMillis(), loop.rowsPerPeriod());
    }
  }

  private void loops(
      Map<String, LoopMeter.Sums> before, Map<String, double[]> callsBefore, double passed) {
    LoopMeter.Sums none = new LoopMeter.Sums(0, 0, 0, 0);
    namenode
        .loops()
        .sums()
        .forEach(
            (name, sums) -> {
              LoopMeter.Sums old = before.getOrDefault(name, none);
              long runs = sums.runs() - old.runs();
              if (runs > 0) {
                loops.add(
                    new Loop(
                        "namenode: " + name,
                        Math.round(passed / runs),
                        (sums.cpuNanos() - old.cpuNanos()) / 1e6 / runs,
                        (double) (sums.rows() - old.rows()) / runs));
              }
            });
    calls()
        .forEach(
            (method, now) -> {
              double[] old = callsBefore.getOrDefault(method, new double[2]);
              double count = now[0] - old[0];
              if (method.equals("sendHeartbeat") && count > 0) {
                loops.add(
                    new Loop(
                        "namenode: heartbeats of 500 servers",
                        3_000,
                        (now[1] - old[1]) * 1e3 / passed * 3_000,
                        -1));
              }
            });
  }

  private static final Pattern CALLS =
      Pattern.compile(
          "ebbfs_namenode_(calls|call_seconds)_total\\{method=\"([^\"]*)\"\\} ([0-9.eE+-]+)");

  /** Calls and their seconds, by method. */
  private Map<String, double[]> calls() {
    Map<String, double[]> calls = new LinkedHashMap<>();
    Matcher line = CALLS.matcher(namenode.state().metrics());
    while (line.find()) {
      double[] sums = calls.computeIfAbsent(line.group(2), name -> new double[2]);
      sums[line.group(1).equals("calls") ? 0 : 1] += Double.parseDouble(line.group(3));
    }
    return calls;
  }

  private static long threadCpu() {
    return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static long cpuOf(String threadName) {
    java.lang.management.ThreadMXBean threads =
        java.lang.management.ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(threadName))
        .mapToLong(thread -> threads.getThreadCpuTime(thread.getId()))
        .sum();
  }

  private void answers(DistributedFileSystem hdfs) throws Exception {
    for (String path :
        List.of(
            "/api/v1/cluster",
            "/api/v1/files?limit=100",
            "/api/v1/files?path=/data/d000000&limit=100",
            "/api/v1/files?state=COMPACT&limit=100",
            "/api/v1/files?state=FAILED&limit=100",
            "/api/v1/files?hot=true",
            "/api/v1/directory?path=/data/d000000&limit=100",
            "/api/v1/directory?path=/data&limit=100",
            "/api/v1/search?text=f00&limit=100",
            "/api/v1/policies",
            "/api/v1/transitions",
            "/api/v1/transitions?state=RUNNING",
            "/api/v1/timeline",
            "/api/v1/health",
            "/metrics",
            "/")) {
      answer(path, () -> get(path));
    }
    for (String path : List.of("/data/d000000", "/data")) {
      long rows = managerRows();
      long began = System.nanoTime();
      for (int i = 0; i < TIMES; i++) {
        get("/api/v1/directory?limit=100&path=" + path);
      }
      loops.add(
          new Loop(
              "manager: page of directory " + path,
              0,
              (System.nanoTime() - began) / 1e6 / TIMES,
              (double) (managerRows() - rows) / TIMES));
    }
    answer(
        "dfsadmin -report",
        () -> {
          hdfs.getStatus();
          hdfs.getDataNodeStats();
        });
  }

  private void answer(String name, SyntheticCluster.Step step) throws Exception {
    step.run(); // loads classes
    double slowest = 0;
    for (int i = 0; i < 3; i++) {
      long began = System.nanoTime();
      step.run();
      slowest = Math.max(slowest, (System.nanoTime() - began) / 1e6);
    }
    answers.put(name, slowest);
    out.printf("  %-42s %,12.0f ms%n", name, slowest);
  }

  private String get(String path) throws IOException, InterruptedException {
    return send(path, HttpRequest.newBuilder().GET());
  }

  private String post(String path, String body) throws IOException, InterruptedException {
    return send(path, HttpRequest.newBuilder().POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private String send(String path, HttpRequest.Builder request)
      throws IOException, InterruptedException {
    HttpResponse<String> response =
        http.send(
            request
                .uri(URI.create("http://127.0.0.1:" + manager.httpPort() + path))
                .header("Authorization", "Bearer " + token)
                .build(),
            HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException(path + " answers " + response.statusCode() + ": " + response.body());
    }
    return response.body();
  }
}
