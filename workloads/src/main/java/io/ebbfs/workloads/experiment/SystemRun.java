package io.ebbfs.workloads.experiment;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.fault.FaultPlayer;
import io.ebbfs.fault.FaultPlayer.Fired;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.workloads.experiment.Experiment.Measure;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.experiment.Results.Conversion;
import io.ebbfs.workloads.experiment.Results.Environment;
import io.ebbfs.workloads.experiment.Results.Incident;
import io.ebbfs.workloads.experiment.Results.Job;
import io.ebbfs.workloads.experiment.Results.Reads;
import io.ebbfs.workloads.experiment.Results.Repair;
import io.ebbfs.workloads.experiment.Results.TimedRead;
import io.ebbfs.workloads.experiment.Results.WorkloadInfo;
import io.ebbfs.workloads.traffic.Generator;
import io.ebbfs.workloads.traffic.GrepJob;
import io.ebbfs.workloads.traffic.Profile;
import io.ebbfs.workloads.traffic.Properties;
import io.ebbfs.workloads.traffic.Replay;
import io.ebbfs.workloads.traffic.SwimTrace;
import io.ebbfs.workloads.traffic.Workload;
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
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One system, from an empty cluster to its results. For one thread, once. */
final class SystemRun {
  private static final long ADAPT_MILLIS = 180_000;
  private static final long QUIET_MILLIS = 6_000;
  private static final long CALM_MILLIS = 1_000;
  // Some rounds of the manager, each of which begins with a look at the policies.
  private static final long POLICIES_MILLIS = 5_000;
  private static final long READ_SECONDS = 120;
  private static final String FAST = "10gbit";
  private static final String PATTERN = "ebb";
  private static final int MAPS = 8;
  private static final long GREP_MILLIS = 300_000;
  private static final int WARM_UP_READS = 4;
  private static final long TIMETABLE_MILLIS = 120_000;
  private static final long ALONE_MILLIS = 8_000;

  private final Experiment experiment;
  private final Variant system;
  private final boolean loopback;
  private final Path directory;
  private final Consumer<String> progress;
  private final Random random;
  private final Map<String, Replay> replays = new LinkedHashMap<>();
  private final Map<String, Workload> workloads = new LinkedHashMap<>();
  private final Map<String, List<StoredBlock>> blocksOfFile = new LinkedHashMap<>();
  private final Map<String, Double> seconds = new LinkedHashMap<>();
  private final List<String> notes = new ArrayList<>();
  private final List<Reads> reads = new ArrayList<>();
  private final List<Repair> repairs = new ArrayList<>();
  private final List<Job> jobs = new ArrayList<>();
  private final List<Incident> incidents = new ArrayList<>();
  private final List<TimedRead> duringIncidents = new ArrayList<>();
  private Bench bench;
  private StorageSampler sampler;
  private Snapshot snapshot;

  /**
   * @param directory of its cluster, for the time of the run
   * @param progress is told what is done now
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

  /** What the processes of a run that failed have written; its cluster is removed. */
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

  /** Runs it all. Nothing is left of the cluster, whatever happens. */
  Results run() throws IOException, ClusterException, InterruptedException {
    String startedAt = Instant.now().toString();
    timed("start", this::start);
    try (Bench running = bench;
        StorageSampler sampling = new StorageSampler(bench.probe(), fastCode())) {
      sampler = sampling;
      timed("store", this::store);
      if (system.info().adapts()) {
        timed("heat", this::heat);
      }
      try (HeatKeeper keeper = keepHeat()) {
        timed("adapt", this::adapt);
        timed("freeze", this::freeze);
      }
      Stripes state = Stripes.of(bench);
      List<WorkloadInfo> infos = infos(state);
      List<Conversion> conversions = conversions();
      timed("disks lost", this::diskLosses);
      timed("snapshot", this::takeSnapshot);
      timed("servers lost", this::servers);
      timed("servers lost under load", this::underLoad);
      timed("timetable", this::timetable);
      sampler.phase("end");
      return new Results(
          Results.FORMAT,
          experiment.name(),
          system.info(),
          environment(startedAt),
          infos,
          reads,
          repairs,
          conversions,
          sampler.samples(),
          jobs,
          incidents,
          duringIncidents,
          seconds,
          notes);
    }
  }

  private void start() throws IOException, ClusterException, InterruptedException {
    bench =
        Bench.start(directory, experiment.cluster(), experiment.configuration(system), loopback);
  }

  private String fastCode() {
    return system.info().adapts() ? system.info().fast() : "";
  }

  private Environment environment(String startedAt) {
    return new Environment(
        experiment.cluster().servers(),
        experiment.cluster().disks(),
        loopback ? null : experiment.cluster().rate(),
        experiment.cluster().blockBytes(),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.version"),
        experiment.seed(),
        startedAt);
  }

  // ---- data -------------------------------------------------------------------------------------

  /** Over fast links: that takes its time, and nothing of it is measured. */
  private void store() throws IOException, ClusterException, InterruptedException {
    bench.setServerRate(FAST);
    Path temporary = Files.createDirectories(directory.resolve("staging"));
    for (String name : experiment.data().workloads()) {
      Workload workload = workload(name);
      Replay replay = new Replay(workload, bench.loader(), "/" + name, experiment.seed());
      workloads.put(name, workload);
      replays.put(name, replay);
      replay.store(temporary, (done, of) -> {});
      for (int file = 0; file < workload.files().size(); file++) {
        lookUp(replay.remote(file), workload.files().get(file).bytes());
      }
    }
    bench.setServerRate(experiment.cluster().rate());
  }

  private void lookUp(String file, long bytes) throws IOException {
    blocksOfFile.put(file, StoredBlock.of(bench, file, bytes));
  }

  private Workload workload(String name) throws IOException {
    Experiment.Data data = experiment.data();
    if (name.equals(ExperimentFile.TRACE)) {
      return new SwimTrace(data.traceSpeed(), data.traceDivisor(), 1)
          .read(
              data.trace()
                  .orElseThrow(
                      () -> new IOException("the workload is a trace: name it with --trace FILE")));
    }
    Workload made =
        new Generator(
                data.files(),
                data.meanBytes(),
                data.epochs(),
                data.readsPerFile(),
                data.epochMillis(),
                experiment.seed())
            .generate(Profile.of(name));
    return SmallFiles.in(made, system.smallFiles(), experiment.cluster().blockBytes());
  }

  /** All workloads at once, each with its own pace. */
  private void heat() throws InterruptedException, IOException {
    ExecutorService threads = Executors.newFixedThreadPool(replays.size());
    try {
      List<Future<Replay.Outcome>> outcomes = new ArrayList<>();
      for (Replay replay : replays.values()) {
        outcomes.add(threads.submit(() -> replay.open((done, of) -> {})));
      }
      for (Future<Replay.Outcome> outcome : outcomes) {
        List<String> failures = outcome.get().failures();
        if (!failures.isEmpty()) {
          throw new IOException("%d opens failed: %s".formatted(failures.size(), failures.get(0)));
        }
      }
    } catch (ExecutionException e) {
      throw new IOException("opening the files failed: " + e.getCause(), e);
    } finally {
      threads.shutdownNow();
    }
  }

  private HeatKeeper keepHeat() {
    List<String> files = new ArrayList<>();
    workloads.forEach(
        (name, workload) -> {
          int[] counts = workload.readsIn(workload.epochs() - 1);
          for (int file = 0; file < counts.length; file++) {
            files.addAll(Collections.nCopies(counts[file], replays.get(name).remote(file)));
          }
        });
    Collections.shuffle(files, new Random(experiment.seed()));
    long epochMillis =
        workloads.values().stream().mapToLong(w -> w.durationMillis() / w.epochs()).max().orElse(1);
    return new HeatKeeper(bench.loader(), files, epochMillis);
  }

  /** Waits until everything is encoded that shall be, and nothing changes for a while. */
  private void adapt() throws IOException, InterruptedException {
    awaitQuiet(QUIET_MILLIS);
  }

  /**
   * From here on nothing changes its code: what is measured of losses is not mixed with conversions
   * of data that cools down meanwhile.
   */
  private void freeze() throws IOException, InterruptedException {
    Path policies = bench.cluster().directory().resolve("conf").resolve(Configuration.POLICIES);
    Path draft = policies.resolveSibling("." + Configuration.POLICIES);
    Files.writeString(draft, Configuration.NO_POLICIES);
    Files.move(draft, policies, StandardCopyOption.ATOMIC_MOVE);
    Thread.sleep(POLICIES_MILLIS);
    awaitQuiet(CALM_MILLIS);
  }

  private void awaitQuiet(long quietMillis) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + ADAPT_MILLIS * 1_000_000;
    long quietSince = Long.MAX_VALUE;
    while (System.nanoTime() < deadline) {
      boolean busy =
          !bench
              .probe()
              .transitions(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING)
              .isEmpty();
      if (busy || !isEncoded()) {
        quietSince = Long.MAX_VALUE;
      } else {
        quietSince = Math.min(quietSince, System.nanoTime());
        if (System.nanoTime() - quietSince > quietMillis * 1_000_000) {
          return;
        }
      }
      Thread.sleep(200);
    }
    notes.add(
        "after %d s transitions were still planned: the state measured is one of motion"
            .formatted(ADAPT_MILLIS / 1000));
  }

  private boolean isEncoded() throws IOException {
    if (system.codes().isEmpty()) {
      return bench.probe().cluster().getUnderReplicatedBlocks() == 0;
    }
    long blocks = 0;
    long striped = 0;
    for (FileStatusProto file : bench.probe().files("/")) {
      blocks += file.getBlocks();
      striped += file.getStripedBlocks();
    }
    // The last few blocks wait for company.
    return striped >= 0.95 * blocks;
  }

  // ---- state ------------------------------------------------------------------------------------

  private List<WorkloadInfo> infos(Stripes state) throws IOException {
    List<WorkloadInfo> infos = new ArrayList<>();
    for (Map.Entry<String, Workload> entry : workloads.entrySet()) {
      infos.add(info(entry.getKey(), entry.getValue(), state));
    }
    return infos;
  }

  private WorkloadInfo info(String name, Workload workload, Stripes state) throws IOException {
    int[] counts = workload.readsIn(workload.epochs() - 1);
    Map<String, Double> readsByCode = new TreeMap<>();
    Map<String, Double> bytesByCode = new TreeMap<>();
    for (int file = 0; file < counts.length; file++) {
      for (StoredBlock block : blocksOfFile.get(replays.get(name).remote(file))) {
        readsByCode.merge(state.code(block), (double) counts[file], Double::sum);
        bytesByCode.merge(state.code(block), (double) block.bytes(), Double::sum);
      }
    }
    long stored = 0;
    for (FileStatusProto file : bench.probe().files("/" + name)) {
      stored += file.getStoredBytes();
    }
    long live = 0;
    long inStripes = 0;
    for (StripeStatusProto stripe : state.all()) {
      if (stripe.getStripe().getPolicy().equals(name)) {
        stored += stripe.getParityBytes() + stripe.getDeadBytes();
        live += stripe.getLiveBytes();
        inStripes += Stripes.storedBytes(stripe);
      }
    }
    Properties properties = Properties.of(workload);
    return new WorkloadInfo(
        name,
        workload.files().size(),
        workload.bytes(),
        properties.hotReads(),
        properties.coldFiles(),
        properties.hotBytes(),
        properties.drift(),
        shares(readsByCode),
        shares(bytesByCode),
        stored,
        live,
        inStripes,
        name.equals(ExperimentFile.TRACE)
            ? workload.durationMillis() * experiment.data().traceSpeed() / 1000
            : 0);
  }

  private static Map<String, Double> shares(Map<String, Double> amounts) {
    double all = amounts.values().stream().mapToDouble(Double::doubleValue).sum();
    return amounts.entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, e -> e.getValue() / all, (a, b) -> a, TreeMap::new));
  }

  private List<Conversion> conversions() throws IOException {
    Map<String, Conversion> sums = new TreeMap<>();
    for (TransitionRow row : bench.probe().transitions(TransitionStateProto.DONE)) {
      if (row.getKind() == TransitionKindProto.REPAIR) {
        continue;
      }
      Conversion one =
          new Conversion(
              row.getPolicy(),
              row.getKind().name(),
              row.getToCode(),
              1,
              row.getDataBytes(),
              row.getBlocksRead(),
              row.getBlocksWritten(),
              row.getBytesRead(),
              row.getBytesWritten(),
              (row.getUpdatedMillis() - row.getClaimedMillis()) / 1000.0);
      sums.merge(one.workload() + one.kind() + one.toCode(), one, SystemRun::plus);
    }
    return List.copyOf(sums.values());
  }

  private static Conversion plus(Conversion a, Conversion b) {
    return new Conversion(
        a.workload(),
        a.kind(),
        a.toCode(),
        a.count() + b.count(),
        a.dataBytes() + b.dataBytes(),
        a.blocksRead() + b.blocksRead(),
        a.blocksWritten() + b.blocksWritten(),
        a.bytesRead() + b.bytesRead(),
        a.bytesWritten() + b.bytesWritten(),
        a.busySeconds() + b.busySeconds());
  }

  // ---- reads ------------------------------------------------------------------------------------

  /**
   * Healthy blocks, then blocks whose holder is dead and not yet repaired, then the repair if that
   * is to be measured; with another server each time.
   */
  private void servers() throws IOException, ClusterException, InterruptedException {
    Measure measure = experiment.measure();
    Faults faults = new Faults(bench, random);
    List<Integer> servers = order();
    for (int r = 0; r < measure.repetitions(); r++) {
      int repetition = r;
      int server = servers.get(r % servers.size());
      Stripes state = Stripes.of(bench);
      List<StoredBlock> blocks = fullBlocks();
      // The first reads load classes and make connections, to servers that were restarted, too.
      read(blocks.subList(0, Math.min(WARM_UP_READS, blocks.size())));
      readEach(r, "healthy", state, blocks);
      grep("healthy", r);
      List<StoredBlock> lost =
          blocks.stream().filter(block -> state.holder(block) == server).toList();
      Faults.Meanwhile reading =
          () -> {
            readEach(repetition, "degraded", state, lost);
            grep("degraded", repetition);
          };
      if (r < measure.serverLosses()) {
        repairs.add(faults.server(r, server, reading));
        goBack();
      } else {
        faults.serverForAWhile(server, reading);
        awaitQuiet(CALM_MILLIS);
      }
    }
  }

  /** To the blocks, and their places, from before the servers were lost. */
  private void goBack() throws IOException, ClusterException, InterruptedException {
    snapshot.restore();
    awaitRestarted();
  }

  private void awaitRestarted() throws IOException, InterruptedException {
    reconnect();
    Faults.awaitAllLive(bench);
    Faults.awaitWhole(bench);
    awaitQuiet(CALM_MILLIS);
  }

  /** The namenode was restarted: the first call over a connection from before may fail. */
  private void reconnect() throws InterruptedException {
    String file = blocksOfFile.keySet().iterator().next();
    try {
      bench.client().touch(file).exceptionally(e -> null).get();
      bench.files().exists(new org.apache.hadoop.fs.Path(file));
    } catch (ExecutionException e) {
      throw new IllegalStateException("failures are answers here", e);
    } catch (IOException e) {
      // That was the first call; the next one connects anew.
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

  /** Blocks of full length, and where replicas have come to be meanwhile. */
  private List<StoredBlock> fullBlocks() throws IOException {
    if (system.codes().isEmpty()) {
      for (String file : List.copyOf(blocksOfFile.keySet())) {
        lookUp(file, Long.MAX_VALUE);
      }
    }
    return blocksOfFile.values().stream()
        .flatMap(List::stream)
        .filter(block -> block.bytes() == experiment.cluster().blockBytes())
        .toList();
  }

  /** Reads some blocks of each code. */
  private void readEach(int repetition, String what, Stripes state, List<StoredBlock> among)
      throws IOException, InterruptedException {
    Map<String, List<StoredBlock>> byCode =
        among.stream()
            .collect(Collectors.groupingBy(state::code, TreeMap::new, Collectors.toList()));
    for (Map.Entry<String, List<StoredBlock>> entry : byCode.entrySet()) {
      List<StoredBlock> chosen = new ArrayList<>(entry.getValue());
      Collections.shuffle(chosen, random);
      chosen = chosen.subList(0, Math.min(experiment.measure().readsPerCode(), chosen.size()));
      boolean decodes = what.equals("degraded") && !entry.getKey().isEmpty();
      if (!entry.getKey().isEmpty() || system.codes().isEmpty()) {
        List<DegradedRead> theory =
            decodes ? chosen.stream().map(state::degradedRead).toList() : List.of();
        long serverBytes = bench.serverBytes();
        long clientBytes = bench.clientBytes();
        List<Double> millis = read(chosen);
        reads.add(
            new Reads(
                repetition,
                what,
                entry.getKey(),
                millis,
                theory.stream().mapToDouble(DegradedRead::blocks).average().orElse(1),
                theory.stream().mapToDouble(DegradedRead::overLinks).average().orElse(0),
                bench.serverBytes() - serverBytes,
                bench.clientBytes() - clientBytes));
      }
    }
  }

  private List<Double> read(List<StoredBlock> chosen) throws IOException, InterruptedException {
    List<Double> millis = new ArrayList<>();
    for (StoredBlock block : chosen) {
      try {
        millis.add(
            bench
                    .client()
                    .readAt(block.file(), block.offset(), (int) block.bytes())
                    .get(READ_SECONDS, TimeUnit.SECONDS)
                    .micros()
                / 1000.0);
      } catch (ExecutionException | TimeoutException e) {
        throw new IOException(
            "%s at %d cannot be read: %s".formatted(block.file(), block.offset(), e.getMessage()),
            e);
      }
    }
    return millis;
  }

  // ---- losses -----------------------------------------------------------------------------------

  private int serverLosses() {
    Measure measure = experiment.measure();
    return Math.min(measure.repetitions(), measure.serverLosses());
  }

  private void takeSnapshot() throws IOException, ClusterException, InterruptedException {
    if (serverLosses() > 0) {
      snapshot = Snapshot.take(bench.cluster());
      awaitRestarted();
    }
  }

  private void diskLosses() throws IOException, ClusterException, InterruptedException {
    Faults faults = new Faults(bench, random);
    for (int r = 0; r < experiment.measure().diskLosses(); r++) {
      repairs.add(faults.disk(r));
      awaitQuiet(CALM_MILLIS);
    }
  }

  /** Readers of whole files while nothing is broken, then while a server is repaired. */
  private void underLoad() throws IOException, ClusterException, InterruptedException {
    int readers = experiment.measure().readersDuringRepair();
    for (int r = 0; readers > 0 && r < serverLosses(); r++) {
      repairs.add(Repair.none(r, readAlone(readers)));
      ForegroundReaders foreground =
          new ForegroundReaders(bench.client(), files(), readers, random);
      repairs.add(new Faults(bench, random).serverUnderLoad(r, foreground::endMillis));
      goBack();
    }
  }

  private List<String> files() {
    String name = experiment.data().workloads().get(0);
    List<String> files = new ArrayList<>();
    for (int file = 0; file < workloads.get(name).files().size(); file++) {
      files.add(replays.get(name).remote(file));
    }
    return files;
  }

  /** What the same readers take while nothing is broken, to compare with. */
  private List<Double> readAlone(int readers) throws IOException, InterruptedException {
    ForegroundReaders foreground = new ForegroundReaders(bench.client(), files(), readers, random);
    Thread.sleep(ALONE_MILLIS);
    return foreground.endMillis();
  }

  /** Everything that the timetable says, while clients read; then all files are compared. */
  private void timetable() throws IOException, ClusterException, InterruptedException {
    if (experiment.faults().entries().isEmpty()) {
      return;
    }
    ForegroundReaders foreground =
        new ForegroundReaders(
            bench.client(),
            files(),
            Math.max(1, experiment.measure().readersDuringRepair()),
            random);
    List<Fired> fired;
    try (FaultPlayer player =
        new FaultPlayer(experiment.faults(), new FaultInjector(bench.cluster(), random))) {
      player.await(experiment.faults().endMillis() + TIMETABLE_MILLIS);
      Faults.awaitWhole(bench);
      fired = player.fired();
    }
    duringIncidents.addAll(foreground.end());
    for (Fired one : fired) {
      incidents.add(new Incident(one.atMillis() / 1000.0, one.what(), one.error()));
    }
    for (Replay replay : replays.values()) {
      replay.verify();
    }
  }
}
