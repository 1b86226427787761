package io.ebbfs.workloads.demo;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.workloads.demo.DataSet.Family;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The whole story on one machine. Files are stored by a stock client, read, encoded as their
 * temperature asks, broken and repaired. After each step every file is read back and compared. The
 * demo throws only when it cannot go on; whether it passed is in the report.
 */
final class Demo implements AutoCloseable {
  private static final int VERIFICATIONS = 7;
  private static final int UNIFORM_READS_PER_SECOND = 10;
  private static final Duration HOT_AGAIN_LIMIT = Duration.ofSeconds(45);

  private final DataSet data;
  private final DemoOptions options;
  private final DemoConsole console;
  private final Random random;
  private final DemoCluster cluster;
  private final ProgressWait wait;
  private final FileCodes codes = new FileCodes();
  private final ServedReads served = new ServedReads(codes);
  private final DegradedReadTimer timer;
  private final DemoReport report = new DemoReport();
  private final List<DemoReport.Verification> verifications = new ArrayList<>();
  private final Map<String, Double> secondsPerPhase = new LinkedHashMap<>();
  private Map<LocalFile, String> digests = Map.of();
  private HotSet hot;
  private HotData hotData;
  private HotTraffic hotTraffic;
  private FaultStep faults;
  private Sampler sampler;
  private boolean kept;

  Demo(DataSet data, Build build, DemoOptions options, DemoConsole console)
      throws ClusterException {
    this.data = data;
    this.options = options;
    this.console = console;
    random = new Random(options.seed());
    timer = new DegradedReadTimer(codes, DemoConfiguration.BLOCK_BYTES, random);
    wait = new ProgressWait(console, options.clusterDirectory().resolve("logs"));
    cluster = new DemoCluster(build, options);
  }

  /** Runs all steps; the report is complete also when one fails. */
  DemoReport run() throws IOException, ClusterException, InterruptedException {
    report.dataDirectory = options.directory().toString();
    report.servers = options.servers();
    report.disksPerServer = options.disks();
    report.files = data.files().size();
    report.bytes = data.bytes();
    for (Family family : Family.values()) {
      report.bound.put(family.key(), DemoConfiguration.bound(family));
    }
    try {
      timed(1, "start", "Starting the cluster", this::start);
      timed(2, "store", "Storing the files through a stock HDFS client", this::store);
      timed(3, "read", "Reading some files much more often than others", this::readSkewed);
      timed(4, "adapt", "Letting redundancy follow the temperature", this::adapt);
      timed(5, "faults", "Breaking things, reading on, repairing", this::breakAndRepair);
      timed(6, "restart", "Killing every process with SIGKILL, starting again", this::restart);
      return report;
    } finally {
      fillReport();
    }
  }

  private interface Step {
    void run() throws IOException, ClusterException, InterruptedException;
  }

  private void timed(int number, String phase, String title, Step step)
      throws IOException, ClusterException, InterruptedException {
    console.phase(number, title);
    if (sampler != null) {
      sampler.phase(phase);
    }
    long start = System.nanoTime();
    try {
      step.run();
    } finally {
      secondsPerPhase.merge(phase, (System.nanoTime() - start) / 1e9, Double::sum);
    }
  }

  private void start() throws IOException, ClusterException, InterruptedException {
    sampler = new Sampler(cluster::probe, cluster::residentBytes, codes);
    cluster.start();
    report.idleChunkServerResidentBytes = cluster.chunkServerResidentBytes();
    console.line(
        "   namenode hdfs://127.0.0.1:%d, Kafka, control plane, %d chunk servers with %d disks"
            + " each",
        cluster.local().layout().ports().namenode(), options.servers(), options.disks());
    console.line("   dashboard %s/", cluster.local().httpAddress());
  }

  private void store() throws IOException {
    digests = new StoreStep(data, console).run(cluster.client());
    codes.setFiles(cluster.probe().files("/demo"));
    verify("store");
  }

  private void readSkewed() throws IOException {
    hot = HotSet.choose(digests.keySet(), DemoConfiguration.BLOCK_BYTES, random);
    hotData = new HotData(cluster, data, hot, codes);
    hotTraffic = new HotTraffic(cluster, digests, hot, served, random, console);
    for (Family family : Family.values()) {
      console.line("   %s", room(family));
    }
    new SkewedReadStep(random, console).run(cluster.client(), digests.keySet(), hot);
  }

  private String room(Family family) {
    double share = HotSet.allowedShare(family, digests.keySet(), DemoConfiguration.BLOCK_BYTES);
    String room =
        DemoConsole.format(
            "the bound %.1fx lets %.0f%% of the bytes of %s into %s",
            DemoConfiguration.bound(family), 100 * share, family.key(), family.codes().fast());
    return hot.of(family).isEmpty()
        ? room + ": too few to keep files hot"
        : room
            + DemoConsole.format(
                "; the demo keeps %d files hot, %.1f%% of the bytes",
                hot.of(family).size(), 100.0 * hot.bytes(family) / data.bytes(family));
  }

  private void adapt() throws IOException, ClusterException, InterruptedException {
    hotTraffic.start();
    console.line(
        "   the hot files are read on to the end, at most %d reads a second (Zipf, in the"
            + " background)",
        HotTraffic.READS_PER_SECOND);
    AdaptStep step = new AdaptStep(cluster, wait, hotData, random, console);
    step.encode();
    served.begin();
    step.convert();
    verify("adapt");
  }

  private void breakAndRepair() throws IOException, ClusterException, InterruptedException {
    faults = new FaultStep(cluster, wait, timer, options, random, console);
    long hotReadsBefore = hotTraffic.reads();
    List<LocalFile> files = List.copyOf(digests.keySet());
    Random uniform = new Random(options.seed() + 1);
    try (BackgroundReader reader =
        new BackgroundReader(
            cluster.readers(),
            digests,
            () -> files.get(uniform.nextInt(files.size())),
            UNIFORM_READS_PER_SECOND,
            served,
            console)) {
      loseBlocksDiskAndServer();
      loseSecondServer();
      report.backgroundReads = reader.reads() + hotTraffic.reads() - hotReadsBefore;
      report.backgroundReadFailures = reader.failures() + hotTraffic.failures();
      console.line(
          "   %d reads in the background meanwhile, %d failed",
          report.backgroundReads, report.backgroundReadFailures);
    }
  }

  private void loseBlocksDiskAndServer()
      throws IOException, ClusterException, InterruptedException {
    console.line("   the control plane is killed, so that nothing is repaired yet");
    faults.killControl();
    faults.breakFirst();
    verify("faults, before repair");
    faults.timeDegradedReads();
    faults.repair();
    verify("faults, after repair");
  }

  private void loseSecondServer() throws IOException, ClusterException, InterruptedException {
    faults.killControl();
    faults.breakSecond();
    verify("second server lost, before repair");
    faults.timeDegradedReads();
    faults.repair();
    verify("second server lost, after repair");
  }

  private void restart() throws IOException, ClusterException, InterruptedException {
    hotTraffic.close();
    cluster.killAll();
    console.line("   killed; starting again with the data on the disks");
    cluster.start();
    hotTraffic.start();
    verify("SIGKILL of everything and restart");
    FamilyUsage.of(cluster.probe())
        .forEach(
            (family, usage) -> report.overheadAfterRestart.put(family.key(), usage.overhead()));
    console.line(
        "   %s are back and stay nearly empty: their blocks were rebuilt on other servers, so the"
            + " old replicas are excess and are deleted; re-placement moves a block only if a"
            + " placement rule is broken, and new files fill the servers",
        faults.killedServers());
    wait.awaitAtMost("hot data", HOT_AGAIN_LIMIT, hotData::inFastCode);
  }

  private void verify(String after) throws IOException {
    DemoReport.Verification verification =
        new FileVerifier(console, digests)
            .verify(cluster.client(), after, cluster.counted("degradedReads."));
    verifications.add(verification);
    console.line(
        "   every file read back (%s): %d files, %s, %d wrong, %d unreadable, %.1f s",
        after,
        verification.files(),
        DemoConsole.bytes(verification.bytes()),
        verification.mismatches(),
        verification.unreadable(),
        verification.seconds());
  }

  private void fillReport() {
    report.verifications = verifications;
    report.faults = faults == null ? List.of() : faults.faults();
    report.secondsPerPhase = secondsPerPhase;
    report.mismatches = verifications.stream().mapToInt(DemoReport.Verification::mismatches).sum();
    report.unreadable = verifications.stream().mapToInt(DemoReport.Verification::unreadable).sum();
    if (hotTraffic != null) {
      report.backgroundReadFailures =
          Math.max(report.backgroundReadFailures, hotTraffic.failures());
    }
    if (sampler != null) {
      report.overheadTimeline = sampler.samples();
      report.peakResidentBytes = sampler.peakResidentBytes();
      report.secondsTotal = sampler.seconds();
    }
    ClusterProbe namenode = cluster.probe();
    if (namenode != null) {
      try {
        fillFromCluster(namenode);
      } catch (IOException e) {
        console.line("   the report lacks the cluster's counters: %s", e.getMessage());
      }
    }
    report.passed =
        report.mismatches == 0
            && report.unreadable == 0
            && report.backgroundReadFailures == 0
            && verifications.size() == VERIFICATIONS
            && report.hotDataIsFast()
            && report.overheadFinal.entrySet().stream()
                .allMatch(e -> e.getValue() <= report.bound.get(e.getKey()));
  }

  private void fillFromCluster(ClusterProbe namenode) throws IOException {
    ClusterFigures figures = new ClusterFigures(report, namenode);
    figures.fill();
    figures.fillFastCode(data, served, timer);
    if (hotData != null) {
      report.hotData = hotData.now();
    }
  }

  LocalCluster cluster() {
    return cluster.local();
  }

  DemoReport report() {
    return report;
  }

  /** Leaves the cluster up when this is closed. */
  void keepCluster() {
    kept = true;
  }

  /** Ends the clients and, unless it is to be kept, the cluster. May be called twice. */
  @Override
  public void close() throws ClusterException, InterruptedException {
    if (hotTraffic != null) {
      hotTraffic.close();
    }
    if (sampler != null) {
      sampler.close();
    }
    cluster.close();
    if (!kept) {
      cluster.local().stop();
    }
  }
}
