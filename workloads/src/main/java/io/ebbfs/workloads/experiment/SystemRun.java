package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.fault.FaultPlayer;
import io.ebbfs.fault.FaultPlayer.Fired;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.process.BackgroundLoop;
import io.ebbfs.workloads.experiment.Experiment.Measure;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.results.Recording;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Conversion;
import io.ebbfs.workloads.results.Results.Environment;
import io.ebbfs.workloads.results.Results.Incident;
import io.ebbfs.workloads.results.Results.Job;
import io.ebbfs.workloads.results.Results.Repair;
import io.ebbfs.workloads.results.Results.Sample;
import io.ebbfs.workloads.results.Results.TimedRead;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import io.ebbfs.workloads.traffic.GrepJob;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Runs one system, from an empty cluster to its results. For one thread, once. */
final class SystemRun {
  private static final long ADAPT_MILLIS = 180_000;
  private static final long QUIET_POLL_MILLIS = 200;
  private static final long QUIET_MILLIS = 6_000;
  private static final long CALM_MILLIS = 1_000;

  /** So much of each tree is encoded at least before anything is measured. */
  private static final double ENCODED_SHARE = 0.9;

  // Some rounds of the manager, each of which begins with a look at the policies.
  private static final long POLICIES_MILLIS = 5_000;
  private static final String PATTERN = "ebb";
  private static final int MAPS = 8;
  private static final long GREP_MILLIS = 300_000;
  private static final long TIMETABLE_MILLIS = 120_000;
  private static final long ALONE_MILLIS = 8_000;

  /** A few runs of the policies, and the time for the conversions that they propose. */
  private static final long CONVERT_MILLIS = 25_000;

  private final Experiment experiment;
  private final Variant system;
  private final boolean loopback;
  private final Path directory;
  private final Consumer<String> progress;
  private final Random random;
  private final Map<String, Double> seconds = new LinkedHashMap<>();
  private final List<String> notes = new ArrayList<>();
  private final List<Repair> repairs = new ArrayList<>();
  private final List<Job> jobs = new ArrayList<>();
  private final List<Incident> incidents = new ArrayList<>();
  private final List<TimedRead> duringIncidents = new ArrayList<>();
  private Bench bench;
  private StoredData data;
  private ReadMeasurement reads;
  private StorageSampler sampler;
  private DiskSnapshot snapshot;
  private long startedNanos;
  private List<WorkloadInfo> infos;
  private List<Conversion> conversions;
  private Recording recording;

  /**
   * @param directory of its cluster, for the time of the run
   * @param progress is told each phase
   */
  SystemRun(
      Experiment experiment,
      Variant system,
      boolean loopback,
      Path directory,
      Consumer<String> progress) {
    this.experiment = experiment;
    this.system = system;
    this.loopback = loopback;
    this.directory = directory;
    this.progress = progress;
    this.random = new Random(experiment.seed());
  }

  private interface Step {
    void run() throws IOException, ClusterException, InterruptedException;
  }

  private void timed(String phase, Step step)
      throws IOException, ClusterException, InterruptedException {
    progress.accept(phase);
    if (sampler != null) {
      sampler.phase(phase);
    }
    long start = System.nanoTime();
    try {
      step.run();
    } catch (IOException | ClusterException | RuntimeException e) {
      keepLogs(e);
      throw e;
    } finally {
      seconds.merge(phase, (System.nanoTime() - start) / 1e9, Double::sum);
    }
  }

  /** The directory that keeps the logs of a failed run. Its cluster is removed. */
  Path logs() {
    return directory.resolveSibling("logs-" + system.name());
  }

  private void keepLogs(Exception failure) throws IOException {
    Files.createDirectories(logs());
    StringWriter stack = new StringWriter();
    failure.printStackTrace(new PrintWriter(stack));
    Files.writeString(logs().resolve("failure.txt"), stack.toString());
    Path written = directory.resolve("logs");
    if (Files.isDirectory(written)) {
      try (Stream<Path> files = Files.list(written)) {
        for (Path file : (Iterable<Path>) files::iterator) {
          Path kept = logs().resolve(file.getFileName());
          Files.copy(file, kept, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  /** Runs all phases. The cluster is removed at the end, also after a failure. */
  Results run() throws IOException, ClusterException, InterruptedException {
    String startedAt = Instant.now().toString();
    String commit = SourceCommit.of(Build.find().home());
    timed("start", this::start);
    try (Bench running = bench;
        StorageSampler sampling = new StorageSampler(bench.probe(), fastCode())) {
      sampler = sampling;
      data = new StoredData(experiment, system, bench, directory.resolve("staging"));
      reads = new ReadMeasurement(experiment, system, bench, random);
      timed("store", data::store);
      if (experiment.measure().recorded()) {
        timed("recorded", this::record);
        summarize();
      } else {
        measure();
      }
      sampler.phase("end");
      return new Results(
          Results.FORMAT,
          experiment.name(),
          system.info(),
          environment(startedAt, commit),
          infos,
          reads.results(),
          repairs,
          conversions,
          sampler.samples(),
          jobs,
          incidents,
          duringIncidents,
          seconds,
          notes,
          recording);
    }
  }

  /** Lets the data adapt, and then measures losses while its codes are frozen. */
  private void measure() throws IOException, ClusterException, InterruptedException {
    if (system.info().adapts()) {
      timed("heat", data::heat);
    }
    try (HeatKeeper keeper = data.keepHeat()) {
      timed("adapt", this::adapt);
      timed("freeze", this::freeze);
    }
    summarize();
    timed("disks lost", this::diskLosses);
    timed("snapshot", this::takeSnapshot);
    timed("servers lost", this::servers);
    timed("servers lost under load", this::underLoad);
    timed(
        experiment.measure().convertDuringFaults() ? Sample.BY_ORDER : "timetable",
        this::timetable);
  }

  private void summarize() throws IOException {
    StateSummary summary = new StateSummary(experiment, bench, data);
    infos = summary.workloads();
    conversions = summary.conversions();
  }

  private void start() throws IOException, ClusterException, InterruptedException {
    bench =
        Bench.start(directory, experiment.cluster(), experiment.configuration(system), loopback);
    startedNanos = System.nanoTime();
  }

  private String fastCode() {
    return system.info().adapts() ? system.info().fast() : "";
  }

  private Environment environment(String startedAt, String commit) {
    return new Environment(
        experiment.cluster().servers(),
        experiment.cluster().disks(),
        loopback ? null : experiment.cluster().rate(),
        experiment.cluster().blockBytes(),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.version"),
        experiment.seed(),
        startedAt,
        commit);
  }

  /** Waits until all data is encoded and nothing changes for a while. */
  private void adapt() throws IOException, InterruptedException {
    awaitQuiet(QUIET_MILLIS);
  }

  /**
   * Stops all conversions, so that they do not disturb the measurements of losses. Otherwise data
   * would cool down meanwhile and be converted.
   */
  private void freeze() throws IOException, InterruptedException {
    apply(Configuration.NO_POLICIES);
    Thread.sleep(POLICIES_MILLIS);
    awaitQuiet(CALM_MILLIS);
  }

  private void apply(String text) throws IOException {
    Path policies = bench.cluster().directory().resolve("conf").resolve(Configuration.POLICIES);
    Path draft = policies.resolveSibling("." + Configuration.POLICIES);
    Files.writeString(draft, text);
    Files.move(draft, policies, StandardCopyOption.ATOMIC_MOVE);
  }

  private void awaitQuiet(long quietMillis) throws IOException, InterruptedException {
    // Files are encoded once they are write-cold, and may wait until they fill a stripe, or while
    // they are read.
    long limit =
        ADAPT_MILLIS
            + experiment.policy().writeColdAfterMillis()
            + experiment.policy().fillWaitMillis()
            + (system.prices().isPresent() ? experiment.policy().waitWhileReadMillis() : 0);
    Optional<String> motion =
        ConditionWaiter.within(limit)
            .every(QUIET_POLL_MILLIS)
            .quietFor(quietMillis)
            .objection(
                () -> {
                  String activity = bench.probe().activity();
                  return activity != null ? activity : unencoded();
                });
    motion.ifPresent(
        still ->
            notes.add(
                "after %d s the cluster was not at rest, so the state measured is one of motion: %s"
                    .formatted(limit / 1000, still)));
  }

  /** Why the data is not encoded as the system wants it; null if it is. */
  private String unencoded() throws IOException {
    if (system.codes().isEmpty()) {
      long blocks = bench.probe().cluster().getUnderReplicatedBlocks();
      return blocks == 0 ? null : blocks + " blocks are under-replicated";
    }
    for (String tree : data.trees()) {
      long blocks = 0;
      long striped = 0;
      for (FileStatusProto file : bench.probe().files(tree)) {
        blocks += file.getBlocks();
        striped += file.getStripedBlocks();
      }
      // The last few blocks of a tree stay unencoded until there are enough of them for a stripe.
      if (striped < ENCODED_SHARE * blocks) {
        return "%d of %d blocks of %s are in stripes".formatted(striped, blocks, tree);
      }
    }
    return null;
  }

  // ---- reads ------------------------------------------------------------------------------------

  /**
   * Reads healthy blocks, then blocks whose holder is dead, and then measures the repair, if it is
   * to be measured. Each repetition has another server.
   */
  private void servers() throws IOException, ClusterException, InterruptedException {
    Measure measure = experiment.measure();
    LossMeasurement losses = new LossMeasurement(bench, random);
    List<Integer> servers = order();
    for (int r = 0; r < measure.repetitions(); r++) {
      int repetition = r;
      int server = servers.get(r % servers.size());
      StripeSnapshot state = StripeSnapshot.of(bench);
      List<FileBlock> blocks = data.fullBlocks();
      reads.warmUp(blocks);
      reads.readEach(r, "healthy", state, blocks);
      grep("healthy", r);
      List<FileBlock> lost =
          blocks.stream().filter(block -> state.holder(block) == server).toList();
      LossMeasurement.Meanwhile reading =
          () -> {
            reads.readEach(repetition, "degraded", state, lost);
            grep("degraded", repetition);
          };
      if (r < measure.serverLosses()) {
        repairs.add(losses.server(r, server, reading));
        goBack();
      } else {
        losses.serverForAWhile(server, reading);
        awaitQuiet(CALM_MILLIS);
      }
    }
  }

  /** Restores the blocks and their places from before the servers were lost. */
  private void goBack() throws IOException, ClusterException, InterruptedException {
    snapshot.restore();
    awaitRestarted();
  }

  private void awaitRestarted() throws IOException, InterruptedException {
    reconnect();
    LossMeasurement.awaitAllLive(bench);
    LossMeasurement.awaitWhole(bench);
    awaitQuiet(CALM_MILLIS);
  }

  /** Makes new connections after a restart of the namenode. The first call may fail. */
  private void reconnect() throws InterruptedException {
    String file = data.anyFile();
    try {
      bench.client().touch(file).exceptionally(e -> null).get();
      bench.files().exists(new org.apache.hadoop.fs.Path(file));
    } catch (ExecutionException e) {
      throw new IllegalStateException("failures are answers here", e);
    } catch (IOException e) {
      // The next call makes a new connection.
    }
  }

  private void grep(String what, int repetition)
      throws IOException, ClusterException, InterruptedException {
    if (experiment.measure().grep().isPresent()) {
      String workload = experiment.measure().grep().get();
      GrepJob.Result result =
          new GrepJob(bench.cluster(), MAPS, false).run("/" + workload, PATTERN, GREP_MILLIS);
      jobs.add(new Job(what, workload, repetition, result.seconds(), result.bytes()));
    }
  }

  private List<Integer> order() {
    List<Integer> servers = new ArrayList<>();
    for (int i = 0; i < experiment.cluster().servers(); i++) {
      servers.add(i);
    }
    Collections.shuffle(servers, random);
    return servers;
  }

  // ---- losses -----------------------------------------------------------------------------------

  private int serverLosses() {
    Measure measure = experiment.measure();
    return Math.min(measure.repetitions(), measure.serverLosses());
  }

  private void takeSnapshot() throws IOException, ClusterException, InterruptedException {
    if (serverLosses() > 0) {
      snapshot = DiskSnapshot.take(bench.cluster());
      awaitRestarted();
    }
  }

  private void diskLosses() throws IOException, ClusterException, InterruptedException {
    LossMeasurement losses = new LossMeasurement(bench, random);
    for (int r = 0; r < experiment.measure().diskLosses(); r++) {
      repairs.add(losses.disk(r));
      awaitQuiet(CALM_MILLIS);
    }
  }

  /** Measures reads of whole files while nothing is broken, then while a server is repaired. */
  private void underLoad() throws IOException, ClusterException, InterruptedException {
    int readers = experiment.measure().readersDuringRepair();
    for (int r = 0; readers > 0 && r < serverLosses(); r++) {
      repairs.add(Repair.none(r, readAlone(readers)));
      ForegroundReaders foreground =
          new ForegroundReaders(bench.client(), data.filesToRead(), readers, random);
      repairs.add(new LossMeasurement(bench, random).serverUnderLoad(r, foreground::endMillis));
      goBack();
    }
  }

  /** The latencies of the same readers while nothing is broken. */
  private List<Double> readAlone(int readers) throws IOException, InterruptedException {
    ForegroundReaders foreground =
        new ForegroundReaders(bench.client(), data.filesToRead(), readers, random);
    Thread.sleep(ALONE_MILLIS);
    return foreground.endMillis();
  }

  /**
   * Has all data converted into each code of the system in turn. What the reads alone convert would
   * depend on how the workloads cool, and may be nothing.
   */
  private void changeCodes() throws InterruptedException {
    try {
      for (int turn = 0; ; turn++) {
        ErasureCode code = system.codes().get(turn % system.codes().size());
        apply(Configuration.allIn(experiment, code.name()));
        Thread.sleep(CONVERT_MILLIS);
      }
    } catch (IOException e) {
      if (!Thread.currentThread().isInterrupted()) {
        notes.add("the codes were changed no more: " + e.getMessage());
      }
    }
  }

  private long conversionsDone() throws IOException {
    return new StateSummary(experiment, bench, data)
        .conversions().stream()
            .filter(c -> c.kind().equals("UPCODE") || c.kind().equals("DOWNCODE"))
            .mapToLong(Conversion::count)
            .sum();
  }

  /** Plays the timetable of faults while clients read, then compares all files. */
  private void timetable() throws IOException, ClusterException, InterruptedException {
    if (experiment.faults().entries().isEmpty()) {
      return;
    }
    ForegroundReaders foreground =
        new ForegroundReaders(
            bench.client(),
            data.filesToRead(),
            Math.max(1, experiment.measure().readersDuringRepair()),
            random);
    boolean converts = experiment.measure().convertDuringFaults();
    long before = conversionsDone();
    List<Fired> fired;
    try (BackgroundLoop conversions =
            new BackgroundLoop("conversions", converts ? this::changeCodes : () -> {});
        FaultPlayer player =
            new FaultPlayer(experiment.faults(), new FaultInjector(bench.cluster(), random))) {
      player.await(experiment.faults().endMillis() + TIMETABLE_MILLIS);
      LossMeasurement.awaitWhole(bench);
      fired = player.fired();
    }
    duringIncidents.addAll(foreground.end());
    note(fired);
    if (converts) {
      freeze();
      notes.add(
          "%d conversions ended while the timetable was played"
              .formatted(conversionsDone() - before));
    }
    data.verify();
  }

  private void note(List<Fired> fired) {
    for (Fired one : fired) {
      incidents.add(new Incident(one.atMillis() / 1000.0, one.what(), one.error()));
    }
  }

  // ---- recorded runs ----------------------------------------------------------------------------

  /**
   * Lets clients read and plays the timetable while the data adapts, and keeps a recording. At the
   * end the policies stop, and what was begun ends.
   */
  private void record() throws IOException, ClusterException, InterruptedException {
    long countedMillis = (System.nanoTime() - startedNanos) / 1_000_000;
    try (Recorder recorder = new Recorder(experiment, system, bench, data, countedMillis);
        FaultPlayer player =
            new FaultPlayer(experiment.faults(), new FaultInjector(bench.cluster(), random))) {
      List<String> failures = data.read();
      if (!failures.isEmpty()) {
        notes.add("%d reads failed: %s".formatted(failures.size(), failures.get(0)));
      }
      player.await(experiment.faults().endMillis() + TIMETABLE_MILLIS);
      note(player.fired());
      apply(Configuration.NO_POLICIES);
      Thread.sleep(POLICIES_MILLIS);
      LossMeasurement.awaitWhole(bench);
      awaitQuiet(CALM_MILLIS);
      recording = recorder.end();
    }
    data.verify();
  }
}
