package io.ebbfs.workloads.demo;

import io.ebbfs.cluster.Build;
import io.ebbfs.cluster.ClusterException;
import io.ebbfs.cluster.ClusterSpec;
import io.ebbfs.cluster.LocalCluster;
import io.ebbfs.cluster.ProcessId;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.fault.Injected;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.workloads.demo.DataSet.Family;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import io.ebbfs.workloads.stock.StockProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;

/**
 * The whole story on one machine: files are stored by a stock client, read, encoded as their
 * temperature asks, broken, repaired, and compared with what was stored after each step. It leaves
 * judgement to the report: it throws only when it cannot go on.
 */
final class Demo implements AutoCloseable {
  private static final int CLIENT_THREADS = 4;
  private static final int SKEWED_READS = 3000;
  private static final double ZIPF_EXPONENT = 1.1;
  private static final int COLD_STRIPES_READ_AGAIN = 2;
  private static final int READS_OF_EACH_COLD_FILE = 10;
  private static final double SMALL_STRIPE = 0.05;
  // A stripe of too few blocks would take more than their replicas: the last few may wait.
  private static final double LEAST_ENCODED = 0.95;
  private static final Duration SETTLED = Duration.ofSeconds(5);
  private static final Duration ADAPT_LIMIT = Duration.ofSeconds(150);
  private static final Duration REPAIR_LIMIT = Duration.ofSeconds(120);

  private final DataSet data;
  private final Build build;
  private final DemoOptions options;
  private final Console console;
  private final Random random;
  private final LocalCluster cluster;
  private final Map<LocalFile, String> digests = new LinkedHashMap<>();
  private final List<Report.Verification> verifications = new ArrayList<>();
  private final Map<String, Double> secondsPerPhase = new LinkedHashMap<>();
  private final List<String> faults = new ArrayList<>();
  private final Report report = new Report();
  private Sampler sampler;
  private volatile ClusterProbe probe;
  private StockProcess client;
  private boolean kept;
  private long encodedBefore = -1;
  private long quietSince = Long.MAX_VALUE;

  Demo(DataSet data, Build build, DemoOptions options, Console console) throws ClusterException {
    this.data = data;
    this.build = build;
    this.options = options;
    this.console = console;
    this.random = new Random(options.seed());
    ClusterSpec spec =
        ClusterSpec.of(options.clusterDirectory())
            .withServers(options.servers(), options.disks())
            .withBlockSize(1 << 20)
            .withHeartbeat(500)
            .withPorts(0, options.httpPort())
            .withConfFiles(DemoConfiguration.files());
    cluster = LocalCluster.create(build, spec);
  }

  /** Runs all steps; the report is complete also when one fails. */
  Report run() throws IOException, ClusterException, InterruptedException {
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
      timed(6, "restart", "Killing every process with SIGKILL, starting again", this::killAll);
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
    sampler = new Sampler(() -> probe, this::residentBytes);
    cluster.start();
    connect();
    report.idleChunkServerResidentBytes = idleChunkServerBytes();
    console.line(
        "   namenode hdfs://127.0.0.1:%d, Kafka, control plane, %d chunk servers with %d disks each",
        cluster.layout().ports().namenode(), options.servers(), options.disks());
    console.line("   dashboard %s/", cluster.httpAddress());
  }

  private void connect() throws IOException {
    probe = new ClusterProbe(cluster.namenodeClient());
    client = newClient(CLIENT_THREADS);
  }

  private StockProcess newClient(int threads) throws IOException {
    return new StockProcess(
        build.home(),
        threads,
        Map.of(
            "fs.defaultFS", cluster.stockClient().uri(),
            "dfs.blocksize", Integer.toString(1 << 20)),
        cluster.directory().resolve("logs/stock-client.log"));
  }

  private long residentBytes() {
    return cluster.running().values().stream().mapToLong(ProcessId::residentBytes).sum();
  }

  private long idleChunkServerBytes() {
    return cluster.running().entrySet().stream()
        .filter(process -> process.getKey().startsWith("server-"))
        .mapToLong(process -> process.getValue().residentBytes())
        .max()
        .orElse(0);
  }

  // ---- step 2 ----

  private record Stored(LocalFile file, CompletableFuture<StockProcess.Answer> answer) {}

  private void store() throws IOException {
    Queue<Stored> pending = new ArrayDeque<>();
    long[] done = new long[2];
    for (LocalFile file : data.files()) {
      pending.add(new Stored(file, client.put(file.local(), file.remote())));
      if (pending.size() >= 32) {
        settle(pending.remove(), done);
      }
    }
    for (Stored stored : pending) {
      settle(stored, done);
    }
    console.line("   %d files, %s stored in three replicas", done[0], Console.bytes(done[1]));
    verify("store");
  }

  private void settle(Stored stored, long[] done) throws IOException {
    try {
      StockProcess.Answer answer = stored.answer.join();
      digests.put(stored.file, answer.sha256());
      done[0]++;
      done[1] += answer.bytes();
      console.progress("storing", done[1], data.bytes(), done[0] + " files");
    } catch (CompletionException e) {
      throw new DemoException(
          "could not store '%s': %s".formatted(stored.file.local(), e.getCause().getMessage()));
    }
  }

  // ---- step 3 ----

  private void readSkewed() throws IOException {
    List<LocalFile> ranked = new ArrayList<>(digests.keySet());
    java.util.Collections.shuffle(ranked, random);
    Zipf zipf = new Zipf(ranked.size(), ZIPF_EXPONENT);
    Queue<CompletableFuture<StockProcess.Answer>> pending = new ArrayDeque<>();
    long bytes = 0;
    for (int i = 0; i < SKEWED_READS; i++) {
      pending.add(client.read(ranked.get(zipf.next(random)).remote()));
      if (pending.size() >= 32) {
        bytes += join(pending.remove());
      }
      console.progress("reading", i + 1, SKEWED_READS, Console.bytes(bytes));
    }
    for (CompletableFuture<StockProcess.Answer> answer : pending) {
      bytes += join(answer);
    }
    console.line(
        "   %d reads, %s; each open travels to the manager as a Kafka event",
        SKEWED_READS, Console.bytes(bytes));
  }

  private static long join(CompletableFuture<StockProcess.Answer> answer) throws IOException {
    try {
      return answer.join().bytes();
    } catch (CompletionException e) {
      throw new IOException(e.getCause().getMessage(), e);
    }
  }

  // ---- step 4 ----

  private void adapt() throws IOException, ClusterException, InterruptedException {
    DemoConfiguration.letAdapt(cluster.directory());
    console.line("   policies.yaml now calls a file write-cold after some seconds (edited live)");
    await("encoding", ADAPT_LIMIT, this::encoded);
    printTransitions();
    Map<TransitionKindProto, Long> before = doneByKind();
    Set<String> wanted = readColdFilesAgain();
    console.line(
        "   read the %d files of some cold stripes again, %d times each, and leave the others alone",
        wanted.size(), READS_OF_EACH_COLD_FILE);
    await(
        "upcode and downcode",
        ADAPT_LIMIT,
        () -> {
          Map<TransitionKindProto, Long> now = doneByKind();
          long up = now.getOrDefault(TransitionKindProto.UPCODE, 0L);
          long down = now.getOrDefault(TransitionKindProto.DOWNCODE, 0L);
          boolean both = up > 0 && down > before.getOrDefault(TransitionKindProto.DOWNCODE, 0L);
          return new Progress(both && withinBounds(), up + " upcoded, " + down + " downcoded");
        });
    printTransitions();
    printOverhead();
    verify("adapt");
  }

  private Progress encoded() throws IOException {
    long all = 0;
    long done = 0;
    for (Family family : Family.values()) {
      for (FileStatusProto file : probe.files(family.tree)) {
        all += file.getBlocks();
        done += file.getStripedBlocks();
      }
    }
    boolean quiet = active().isEmpty() && done == encodedBefore;
    quietSince = quiet ? Math.min(quietSince, System.nanoTime()) : Long.MAX_VALUE;
    encodedBefore = done;
    boolean settled = quiet && System.nanoTime() - quietSince > SETTLED.toNanos();
    return new Progress(
        settled && done >= all * LEAST_ENCODED && withinBounds(),
        "%d of %d blocks in stripes%s, overhead %s"
            .formatted(
                done,
                all,
                settled && done < all ? " (the rest waits for company)" : "",
                overheads()));
  }

  private boolean withinBounds() throws IOException {
    for (Map.Entry<Family, ClusterProbe.Usage> usage : probe.usage().entrySet()) {
      if (usage.getValue().overhead() > DemoConfiguration.bound(usage.getKey())) {
        return false;
      }
    }
    return true;
  }

  private String overheads() throws IOException {
    return probe.usage().entrySet().stream()
        .map(e -> Console.format("%s %.2fx", e.getKey().key(), e.getValue().overhead()))
        .collect(Collectors.joining(", "));
  }

  private List<TransitionRow> active() throws IOException {
    return probe.transitions(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING);
  }

  private Map<TransitionKindProto, Long> doneByKind() throws IOException {
    return ClusterProbe.countBy(
        probe.transitions(TransitionStateProto.DONE), TransitionRow::getKind);
  }

  /**
   * Reads all files of some compact stripes: the temperature of a stripe is that of its members.
   * Small stripes, for which the bound leaves room to become fast.
   */
  private Set<String> readColdFilesAgain() throws IOException {
    List<StripeStatusProto> stripes = new ArrayList<>(probe.stripes());
    java.util.Collections.shuffle(stripes, random);
    Set<String> chosen = new TreeSet<>();
    for (Family family : Family.values()) {
      List<FileStatusProto> files = probe.files(family.tree);
      Map<Long, String> pathById =
          files.stream()
              .collect(Collectors.toMap(FileStatusProto::getFileId, FileStatusProto::getPath));
      long bytes = files.stream().mapToLong(FileStatusProto::getLengthBytes).sum();
      stripes.stream()
          .filter(stripe -> stripe.getStripe().getPolicy().equals(family.key()))
          .filter(stripe -> isCompact(stripe) && stripe.getLiveBytes() < bytes * SMALL_STRIPE)
          .limit(COLD_STRIPES_READ_AGAIN)
          .flatMap(stripe -> stripe.getStripe().getMembersList().stream())
          .map(member -> pathById.get(member.getOwnerId()))
          .filter(Objects::nonNull)
          .forEach(chosen::add);
    }
    List<CompletableFuture<StockProcess.Answer>> reads = new ArrayList<>();
    for (int i = 0; i < READS_OF_EACH_COLD_FILE; i++) {
      chosen.forEach(path -> reads.add(client.read(path)));
    }
    for (CompletableFuture<StockProcess.Answer> read : reads) {
      join(read);
    }
    return chosen;
  }

  private static boolean isCompact(StripeStatusProto stripe) {
    return DemoConfiguration.COMPACT_CODES.contains(stripe.getStripe().getCode());
  }

  // ---- step 5 ----

  private void breakAndRepair() throws IOException, ClusterException, InterruptedException {
    FaultInjector injector = new FaultInjector(cluster, random);
    try (StockProcess readerClient = newClient(1);
        BackgroundReader reader =
            new BackgroundReader(readerClient, digests, new Random(options.seed() + 1), console)) {
      console.line("   the control plane is killed, so that nothing is repaired yet");
      cluster.killControl();
      breakThings(injector);
      verify("faults, before repair");
      cluster.startControl();
      awaitRepaired();
      verify("faults, after repair");
      cluster.killControl();
      int second = (firstKilled + 1 + options.servers() / 2) % options.servers();
      fault(injector.killServer(second));
      verify("second server lost, before repair");
      cluster.startControl();
      awaitRepaired();
      verify("second server lost, after repair");
      report.backgroundReads = reader.reads();
      report.backgroundReadFailures = reader.failures();
      console.line(
          "   %d files were read in the background meanwhile, %d failures",
          reader.reads(), reader.failures());
    }
  }

  private int firstKilled;

  /** All within two servers that every stripe can lose together: what the placement promises. */
  private void breakThings(FaultInjector injector)
      throws IOException, ClusterException, InterruptedException {
    Survivable survivable = new Survivable(cluster, probe.stripes());
    int[] pair = survivable.pair(random);
    // Blocks of files, so that reading every file finds both.
    List<Long> blocks = survivable.dataBlocksOn(pair[0], 2, random);
    fault(injector.deleteBlock(blocks.get(0)));
    fault(injector.corruptBlock(blocks.get(1)));
    fault(injector.failDisk(pair[0], random.nextInt(options.disks())));
    firstKilled = pair[1];
    fault(injector.killServer(firstKilled));
  }

  private void fault(Injected injected) {
    String what = injected.what();
    faults.add(what);
    console.line("   broken: %s", what);
  }

  private void awaitRepaired() throws IOException, InterruptedException {
    await(
        "repairing",
        REPAIR_LIMIT,
        () -> {
          GetClusterResponseProto state = probe.cluster();
          long atRisk = state.getStripesByLossList().stream().mapToLong(Long::longValue).sum();
          long repairs =
              active().stream().filter(t -> t.getKind() == TransitionKindProto.REPAIR).count();
          return new Progress(
              atRisk == 0
                  && repairs == 0
                  && state.getMissingBlocks() == 0
                  && deadServersSeen(state),
              "%d stripes with a lost block, %d repaired blocks"
                  .formatted(atRisk, sum(probe.counters("repairedBlocks."))));
        });
    console.line(
        "   repaired: %d blocks in all; every stripe is whole",
        sum(probe.counters("repairedBlocks.")));
  }

  /** Whether the namenode has noticed by now which servers are gone. */
  private boolean deadServersSeen(GetClusterResponseProto state) {
    long live = state.getServersList().stream().filter(server -> server.getLive()).count();
    long running =
        cluster.running().keySet().stream().filter(name -> name.startsWith("server-")).count();
    return live == running;
  }

  // ---- step 6 ----

  private void killAll() throws IOException, ClusterException, InterruptedException {
    disconnect();
    cluster.killAll();
    console.line("   killed; starting again over what is on the disks");
    cluster.start();
    connect();
    verify("SIGKILL of everything and restart");
    for (Map.Entry<Family, ClusterProbe.Usage> usage : probe.usage().entrySet()) {
      report.overheadAfterRestart.put(usage.getKey().key(), usage.getValue().overhead());
    }
  }

  private void disconnect() {
    ClusterProbe old = probe;
    probe = null;
    if (old != null) {
      old.close();
    }
    if (client != null) {
      client.close();
      client = null;
    }
  }

  // ---- common ----

  private void verify(String after) throws IOException {
    Report.Verification verification =
        new Verifier(console, digests).verify(client, after, sum(probe.counters("degradedReads.")));
    verifications.add(verification);
    console.line(
        "   every file read back (%s): %d files, %s, %d wrong, %d unreadable, %.1f s",
        after,
        verification.files(),
        Console.bytes(verification.bytes()),
        verification.mismatches(),
        verification.unreadable(),
        verification.seconds());
  }

  private record Progress(boolean done, String detail) {}

  private interface Condition {
    Progress check() throws IOException;
  }

  private void await(String what, Duration limit, Condition condition)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    Progress progress = condition.check();
    while (!progress.done) {
      long elapsed = (System.nanoTime() - start) / 1_000_000;
      if (elapsed > limit.toMillis()) {
        throw new DemoException(
            "%s did not end within %d s: %s. The logs are in %s"
                .formatted(
                    what,
                    limit.toSeconds(),
                    progress.detail,
                    options.clusterDirectory().resolve("logs")));
      }
      console.progress(what, elapsed, limit.toMillis(), progress.detail);
      Thread.sleep(500);
      progress = condition.check();
    }
    console.line("   %s: %s", what, progress.detail);
  }

  private void printTransitions() throws IOException {
    ClusterProbe.countBy(
            probe.transitions(TransitionStateProto.DONE),
            t -> t.getKind().name().toLowerCase(java.util.Locale.ROOT) + " to " + t.getToCode())
        .forEach((kind, count) -> console.line("   %5d x %s", count, kind));
  }

  private void printOverhead() throws IOException {
    Map<Family, ClusterProbe.Usage> usage = probe.usage();
    usage.forEach(
        (family, one) ->
            console.line(
                "   %s: %.3fx on disk, bound %.1fx",
                family.key(), one.overhead(), DemoConfiguration.bound(family)));
  }

  private static long sum(Map<String, Long> counters) {
    return sum(counters.values());
  }

  private static long sum(Collection<Long> values) {
    return values.stream().mapToLong(Long::longValue).sum();
  }

  private void fillReport() {
    report.verifications = verifications;
    report.faults = faults;
    report.secondsPerPhase = secondsPerPhase;
    report.mismatches = verifications.stream().mapToInt(Report.Verification::mismatches).sum();
    report.unreadable = verifications.stream().mapToInt(Report.Verification::unreadable).sum();
    if (sampler != null) {
      report.overheadTimeline = sampler.samples();
      report.peakResidentBytes = sampler.peakResidentBytes();
      report.secondsTotal = sampler.seconds();
    }
    ClusterProbe namenode = probe;
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
            && verifications.size() == 7
            && report.overheadFinal.entrySet().stream()
                .allMatch(e -> e.getValue() <= report.bound.get(e.getKey()));
  }

  private void fillFromCluster(ClusterProbe namenode) throws IOException {
    for (Map.Entry<Family, ClusterProbe.Usage> usage : namenode.usage().entrySet()) {
      ClusterProbe.Usage of = usage.getValue();
      report.overheadFinal.put(usage.getKey().key(), of.overhead());
      report.packingFinal.put(
          usage.getKey().key(),
          new Report.Packing(
              of.ofLogical(of.packing().paddingBytes()),
              of.ofLogical(of.packing().unfilledBytes()),
              of.ofLogical(of.packing().deadBytes())));
    }
    report.degradedReadsByCode = new TreeMap<>(namenode.counters("degradedReads."));
    report.degradedReads = sum(report.degradedReadsByCode);
    Map<String, Long> sources = namenode.counters("degradedReadSources.");
    report.degradedReadsByCode.forEach(
        (code, reads) ->
            report.blocksReadPerDegradedRead.put(
                code, (double) sources.getOrDefault(code, 0L) / Math.max(1, reads)));
    Map<String, Long> read = namenode.counters("repairBlocksRead.");
    namenode
        .counters("repairedBlocks.")
        .forEach(
            (code, blocks) -> {
              double perRepair = (double) read.getOrDefault(code, 0L) / Math.max(1, blocks);
              report.repairs.put(
                  code, new Report.CodeCost(blocks, read.getOrDefault(code, 0L), perRepair));
              report.blocksReadPerRepair.put(code, perRepair);
            });
    report.repairedBlocks =
        report.repairs.values().stream().mapToLong(Report.CodeCost::repairedBlocks).sum();
    report.bytesMoved = new TreeMap<>(namenode.counters("bytesMoved."));
    fillTransitions(namenode.transitions(TransitionStateProto.DONE));
  }

  private void fillTransitions(List<TransitionRow> done) {
    Map<TransitionKindProto, Map<String, List<TransitionRow>>> byKind =
        new EnumMap<>(TransitionKindProto.class);
    for (TransitionRow row : done) {
      byKind
          .computeIfAbsent(row.getKind(), kind -> new TreeMap<>())
          .computeIfAbsent(row.getToCode(), code -> new ArrayList<>())
          .add(row);
    }
    List<Report.Converted> conversions = new ArrayList<>();
    byKind.forEach(
        (kind, byCode) ->
            byCode.forEach(
                (code, rows) -> {
                  report.transitions.merge(kind.name(), (long) rows.size(), Long::sum);
                  conversions.add(
                      new Report.Converted(
                          kind.name(), code, rows.size(), rows.get(0).getReason()));
                }));
    report.conversions = conversions;
  }

  LocalCluster cluster() {
    return cluster;
  }

  Report report() {
    return report;
  }

  /** Leaves the cluster up when this is closed. */
  void keepCluster() {
    kept = true;
  }

  /** Ends the clients and, unless it is to be kept, the cluster. May be called twice. */
  @Override
  public void close() throws ClusterException, InterruptedException {
    if (sampler != null) {
      sampler.close();
    }
    disconnect();
    if (!kept) {
      cluster.stop();
    }
  }
}
