package io.ebbfs.namespace.simulation;

import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.manager.cluster.NamenodeException;
import io.ebbfs.namespace.ManualClock;
import io.ebbfs.namespace.coding.MetadataCheck.Finding;
import io.ebbfs.namespace.coding.SpaceAccount;
import io.ebbfs.namespace.store.InMemoryStore;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** One schedule of events and faults. Everything random comes from the seed; one thread. */
final class Simulation {
  private static final int FILES = 25;
  private static final int MAX_LENGTH = 1_000;
  private static final int SETTLE_ROUNDS = 400;
  private static final int FULL_ROUNDS = 6;
  private static final int EVALUATIONS = 40;

  private final Random random;
  private final ManualClock clock = new ManualClock();
  private final Tally tally = new Tally();
  private final SimCluster cluster;
  private final Oracle oracle;
  private final CrashingStore store;
  private final SimClient client;
  private final List<SimWorker> workers = new ArrayList<>();
  private final List<String> log = new ArrayList<>();
  private final long seed;
  private final World world;
  private final InMemoryStore rows = new InMemoryStore();
  private final SimManager manager;
  // How many of a hundred faults that the dice ask for do happen.
  private final int faultPercent;
  private SimNamenode namenode;
  private int disksMade;
  private int joined;
  private boolean faultInTransition;

  Simulation(long seed) throws IOException {
    this(seed, Bug.NONE);
  }

  Simulation(long seed, Bug bug) throws IOException {
    this.seed = seed;
    random = new Random(new SplittableRandom(seed).nextLong());
    world = World.of(random);
    faultPercent = random.nextInt(101);
    cluster = new SimCluster(world, tally, bug);
    oracle = new Oracle(cluster, tally);
    store = new CrashingStore(rows, oracle, bug);
    client = new SimClient(cluster, oracle, random);
    workers.add(new SimWorker("worker-0", cluster, oracle, random, tally, bug));
    workers.add(new SimWorker("worker-1", cluster, oracle, random, tally, bug));
    start();
    manager = new SimManager(anyOf(SimCodes.pairs(world)), random, clock);
    log.add("seed %d, %s".formatted(seed, world));
  }

  private void start() throws IOException {
    store.revive();
    namenode = new SimNamenode(store, clock, world, random.nextLong());
  }

  /** What happened, for people. */
  List<String> log() {
    return log;
  }

  /** What was exercised. */
  Tally tally() {
    return tally;
  }

  // ---- a schedule -------------------------------------------------------------------------------

  /**
   * Random events, a check after each, then rest and a last check.
   *
   * @param maxSteps how many events at most; a quarter of them at least
   */
  void run(int maxSteps) throws IOException, ServiceException {
    int steps = maxSteps - random.nextInt(maxSteps * 3 / 4 + 1);
    everybodyReports();
    int files = (world.isTight() ? 8 : 2) + random.nextInt(4);
    for (int f = 0; f < files; f++) {
      write();
    }
    if (random.nextBoolean()) {
      encodeInPeace();
    }
    for (int step = 0; step < steps; step++) {
      event(step);
      oracle.check();
      if (world.isTight()) {
        spaceAgrees();
      }
    }
    settle();
    tally.add("schedules");
    countWorld();
    if (faultInTransition) {
      tally.add("schedules with a fault inside a running transition");
    }
  }

  private void countWorld() {
    if (world.isTight()) {
      tally.add("schedules with small disks");
    }
    if (world.racks() > 1) {
      tally.add("schedules with racks");
    }
    if (world.anyCode()) {
      tally.add("schedules with codes of users and conversions between any two");
    }
    if (world.policies()) {
      tally.add("schedules with the manager's policies");
    }
  }

  /** What the namenode says every byte is for is what the rows say. */
  private void spaceAgrees() throws IOException {
    SpaceAccount account = SpaceAccount.of(rows, storage -> true);
    if (!account.equals(oracle.spaceAccount())) {
      throw new Violation(
          "the space account is %s, by the rows it should be %s"
              .formatted(account, oracle.spaceAccount()));
    }
  }

  /** So that there are stripes to convert and to repair when the faults begin. */
  private void encodeInPeace() throws IOException, ServiceException {
    int proposals = 1 + random.nextInt(2);
    for (int i = 0; i < proposals; i++) {
      encode(-1);
    }
    for (int round = 0; round < 2; round++) {
      everybodyBeats();
      work();
      oracle.check();
    }
  }

  private void event(int step) throws IOException, ServiceException {
    int choice = random.nextInt(100);
    try {
      act(step, choice);
    } catch (CrashingStore.Crash e) {
      note(step, "the namenode dies in event " + choice);
      tally.add("fault namenode died at a transaction");
    } catch (IOException | ServiceException | NamenodeException e) {
      note(step, "refused: " + e.getMessage());
    }
    if (store.isDead()) {
      restart();
    }
  }

  private void act(int step, int choice) throws IOException, ServiceException {
    SimServer server = anyServer();
    SimWorker worker = workers.get(random.nextInt(workers.size()));
    if (choice < 5) {
      note(step, "write");
      write();
    } else if (choice < 9) {
      delete(step);
    } else if (choice < 17) {
      propose(step);
    } else if (choice < 26) {
      worker.claim(namenode.coding(), 1 + random.nextInt(4));
    } else if (choice < 52) {
      worker.advance(namenode.coding(), faultPercent > 0);
    } else if (choice < 55) {
      worker.renew(namenode.coding());
    } else if (choice < 66) {
      talk(server);
    } else if (choice < 76) {
      clock.advance(500 + random.nextInt(1_500));
      namenode.tick();
    } else if (choice < 78) {
      timePasses(step);
    } else if (choice < 85) {
      everybodyBeats();
    } else if (random.nextInt(100) < faultPercent) {
      if (!oracle.runningAttempts().isEmpty()) {
        faultInTransition = true;
      }
      fault(step, random.nextInt(22), server, worker);
    }
  }

  private SimServer anyServer() {
    return cluster.servers().get(random.nextInt(cluster.servers().size()));
  }

  /** Long enough for leases to end and for silent servers to be declared dead. */
  private void timePasses(int step) throws IOException {
    note(step, "time passes");
    for (int i = 0; i < 4; i++) {
      clock.advance(2_500);
      everybodyBeats();
      namenode.tick();
    }
  }

  private void fault(int step, int choice, SimServer server, SimWorker worker)
      throws IOException, ServiceException {
    switch (choice) {
      case 0 -> {
        note(step, "worker crashes");
        worker.crash();
      }
      case 1 -> commitAfterLease(step, worker);
      case 2, 3, 4 -> worker.haunt(namenode.coding());
      case 5, 6, 7 -> crashOrStart(step, server);
      case 8, 9 -> failDisk(step, server);
      case 10 -> loseServer(step, server);
      case 11, 12 -> loseBlock(step, server);
      case 13, 14, 15 -> store.crashAfter(random.nextInt(6), random.nextBoolean());
      case 16, 17 -> stallOrGoOn(step, server);
      case 18 -> joinOrLeave(step, server);
      case 19, 20 -> {
        happens(step, "output computed wrong", "next");
        cluster.plantWrongOutput();
      }
      default -> {
        happens(step, "namenode restarts", "");
        restart();
      }
    }
  }

  /** A worker hangs before a commit for longer than its lease; others claim what it had. */
  private void commitAfterLease(int step, SimWorker any) throws IOException, ServiceException {
    SimWorker worker = workers.stream().filter(SimWorker::isBusy).findFirst().orElse(any);
    if (!worker.isBusy()) {
      worker.claim(namenode.coding(), 4);
    }
    Optional<SimWorker.LateCommit> late = worker.hangBeforeCommit(namenode.coding());
    if (late.isPresent()) {
      happens(step, "commit arrives after its lease", "");
      timePasses(step);
      everybodyBeats(); // what was written is known by now, as after any lease
      clock.advance(5_000);
      namenode.tick();
      workers.get(random.nextInt(workers.size())).claim(namenode.coding(), 8);
      late.get().send(namenode.coding());
    }
  }

  private void note(int step, String what) {
    log.add("step " + step + ": " + what);
  }

  private void happens(int step, String fault, String where) {
    note(step, fault + " " + where);
    tally.add("fault " + fault);
  }

  private void restart() throws IOException {
    start();
    if (random.nextBoolean()) {
      everybodyReports();
    }
    client.removeUnfinished(namenode.forClients());
  }

  // ---- what servers do --------------------------------------------------------------------------

  private void talk(SimServer server) throws IOException {
    if (!server.answers()) {
      return;
    }
    switch (random.nextInt(6)) {
      case 0, 1 -> server.heartbeat(namenode.datanodes());
      case 2, 3 -> server.incrementalReport(namenode.datanodes());
      case 4 -> server.obey(cluster, this::mayDelete);
      default -> {
        switch (random.nextInt(3)) {
          case 0 -> server.fullReport(namenode.datanodes());
          case 1 -> {
            tally.add("fault news sent twice");
            server.repeatIncrementalReport(namenode.datanodes());
          }
          default -> server.scrub(namenode.datanodes());
        }
      }
    }
  }

  private void everybodyBeats() throws IOException {
    for (SimServer server : cluster.servers()) {
      if (server.answers()) {
        server.heartbeat(namenode.datanodes());
        server.obey(cluster, this::mayDelete);
        server.incrementalReport(namenode.datanodes());
      }
    }
  }

  private void everybodyReports() throws IOException {
    for (SimServer server : cluster.servers()) {
      if (server.answers()) {
        server.heartbeat(namenode.datanodes());
        server.fullReport(namenode.datanodes());
      }
    }
  }

  /** An order to delete must never take what nothing else replaces. */
  private void mayDelete(SimDisk disk, SimBlock block) {
    if (!oracle.survivesDeletion(block, disk)) {
      throw new Violation(
          "block %d is ordered to be deleted from %s, and nothing takes its place"
              .formatted(block.blockId(), disk.uuid));
    }
  }

  // ---- faults -----------------------------------------------------------------------------------

  private long silentServers() {
    return cluster.servers().stream().filter(s -> !s.answers()).count();
  }

  private void crashOrStart(int step, SimServer server) throws IOException {
    if (!server.isUp()) {
      note(step, server.uuid() + " starts");
      server.start();
      server.heartbeat(namenode.datanodes());
    } else if (silentServers() < 2) {
      happens(step, "server crashes", server.uuid());
      server.crash();
    }
  }

  private void stallOrGoOn(int step, SimServer server) {
    if (server.isStalled()) {
      note(step, server.uuid() + " goes on");
      server.stall(false);
      if (random.nextBoolean()) {
        server.obey(cluster, this::mayDelete); // orders of long ago
      }
    } else if (server.isUp() && silentServers() < 2) {
      happens(step, "server stalls", server.uuid());
      server.stall(true);
    }
  }

  private void joinOrLeave(int step, SimServer server) throws IOException {
    if (random.nextBoolean() && joined < 3) {
      joined++;
      happens(step, "server joins", "");
      cluster.join().heartbeat(namenode.datanodes());
    } else if (cluster.servers().size() > 7 && isSurvivable(new HashSet<>(server.disks()))) {
      happens(step, "server leaves for good", server.uuid());
      cluster.leave(server);
    }
  }

  /**
   * Nothing beyond what the codes promise to survive is destroyed: of what a transition reads or
   * writes, one thing at a time, and never more that the namenode has yet to hear of.
   */
  private boolean isSurvivable(Set<SimDisk> disks) {
    Set<String> running = oracle.runningAttempts();
    boolean survivable =
        !oracle.anyHiddenLoss() && !oracle.isHit(running) && oracle.survives(disks);
    if (survivable) {
      oracle.hit(running);
    }
    return survivable;
  }

  private void failDisk(int step, SimServer server) throws IOException {
    SimDisk disk = server.disks().get(random.nextInt(world.disksPerServer()));
    if (!disk.hasFailed() && isSurvivable(Set.of(disk))) {
      happens(step, "disk fails", disk.uuid);
      server.failDisk(disk);
    } else if (disk.hasFailed() && random.nextBoolean()) {
      note(step, disk.uuid + " is replaced");
      replace(server, disk);
    }
  }

  private void replace(SimServer server, SimDisk disk) {
    server.replaceDisk(disk, server.uuid() + "-disk-new-" + disksMade++);
  }

  /** A machine burns down: all its disks are gone, empty ones take their place. */
  private void loseServer(int step, SimServer server) throws IOException {
    if (isSurvivable(new HashSet<>(server.disks()))) {
      happens(step, "server loses all its disks", server.uuid());
      server.crash();
      List.copyOf(server.disks()).forEach(disk -> replace(server, disk));
    }
  }

  private void loseBlock(int step, SimServer server) throws IOException {
    SimDisk disk = server.disks().get(random.nextInt(world.disksPerServer()));
    if (!disk.isEmpty() && isSurvivable(Set.of(disk))) {
      long id = new ArrayList<>(disk.blockIds()).get(random.nextInt(disk.blockIds().size()));
      if (random.nextBoolean()) {
        happens(step, "block rots", id + "@" + disk.uuid);
        server.corrupt(disk, id);
      } else {
        happens(step, "block vanishes", id + "@" + disk.uuid);
        server.loseQuietly(disk, id);
      }
    }
  }

  // ---- what clients and the manager do
  // -----------------------------------------------------------

  private void write() throws IOException {
    if (oracle.acknowledgedFiles().size() < FILES) {
      client.write(namenode.forClients(), 1 + random.nextInt(8), MAX_LENGTH);
    }
  }

  private void delete(int step) throws IOException {
    List<Long> files = new ArrayList<>(oracle.acknowledgedFiles());
    if (files.isEmpty()) {
      return;
    }
    long file = files.get(random.nextInt(files.size()));
    boolean overwritten = random.nextInt(4) == 0;
    note(step, (overwritten ? "overwrite" : "delete") + " file " + file);
    tally.add(overwritten ? "client overwrites a file" : "client deletes a file");
    client.delete(namenode.forClients(), file);
    if (overwritten) {
      write();
    }
  }

  private void propose(int step) throws IOException, ServiceException {
    if (world.policies() && random.nextInt(3) > 0) {
      note(step, "policies are evaluated");
      manager.heatChanges(oracle.acknowledgedFiles());
      tally.addMany("client policies propose", manager.evaluate(namenode.coding()));
      return;
    }
    List<StripeRow> stripes = new ArrayList<>(oracle.rows().stripes.values());
    if (random.nextInt(3) == 0 || stripes.isEmpty()) {
      encode(step);
      return;
    }
    StripeRow any = stripes.get(random.nextInt(stripes.size()));
    if (world.anyCode() && random.nextBoolean()) {
      convert(step, any, stripes);
      return;
    }
    Optional<CodeFamily> family = Codes.familyOf(any.getCode());
    if (family.isEmpty()) {
      return;
    }
    boolean up = family.get().fast().equals(any.getCode());
    DecisionProto.Builder decision =
        DecisionProto.newBuilder()
            .setKind(up ? TransitionKindProto.UPCODE : TransitionKindProto.DOWNCODE)
            .setToCode(up ? family.get().compact() : family.get().fast());
    for (StripeRow stripe : stripes) {
      boolean together =
          any.hasGroupId() && stripe.hasGroupId() && stripe.getGroupId() == any.getGroupId();
      if (stripe.getId() == any.getId() || up && together) {
        decision.addStripeIds(stripe.getId());
      }
    }
    send(step, decision);
  }

  /** To any other code whose data fits, with other stripes of no group if it takes some. */
  private void convert(int step, StripeRow any, List<StripeRow> stripes) throws ServiceException {
    ErasureCode from = Codes.byName(any.getCode());
    List<ErasureCode> fit =
        SimCodes.codes(world).stream()
            .filter(to -> !to.equals(from) && Planner.stripes(from, to).isPresent())
            .toList();
    if (fit.isEmpty()) {
      return;
    }
    ErasureCode to = anyOf(fit);
    DecisionProto.Builder decision =
        DecisionProto.newBuilder()
            .setKind(
                to.overhead() <= from.overhead()
                    ? TransitionKindProto.UPCODE
                    : TransitionKindProto.DOWNCODE)
            .setToCode(to.name())
            .addStripeIds(any.getId());
    stripes.stream()
        .filter(s -> s.getId() != any.getId() && s.getCode().equals(any.getCode()))
        .limit(3)
        .forEach(s -> decision.addStripeIds(s.getId()));
    send(step, decision);
  }

  private <T> T anyOf(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private void encode(int step) throws ServiceException {
    List<Long> files = new ArrayList<>(oracle.acknowledgedFiles());
    Collections.shuffle(files, random);
    send(
        step,
        DecisionProto.newBuilder()
            .setKind(TransitionKindProto.ENCODE)
            .setToCode(anyOf(SimCodes.codes(world)).name())
            .addAllFileIds(files.subList(0, Math.min(files.size(), 1 + random.nextInt(8)))));
  }

  private void send(int step, DecisionProto.Builder decision) throws ServiceException {
    note(step, "propose " + decision.getKind() + " to " + decision.getToCode());
    ProposeRequestProto request =
        ProposeRequestProto.newBuilder()
            .addDecisions(decision.setPolicy("simulated").setReason("by chance"))
            .build();
    namenode.coding().propose(null, request);
  }

  // ---- rest
  // --------------------------------------------------------------------------------------

  /** All faults end; whatever was promised for then has to come about. */
  private void settle() throws IOException, ServiceException {
    log.add("faults end");
    if (store.isDead()) {
      restart();
    }
    store.revive();
    for (SimServer server : cluster.servers()) {
      server.start();
      for (SimDisk disk : List.copyOf(server.disks())) {
        if (disk.hasFailed()) {
          replace(server, disk);
        }
      }
    }
    workers.forEach(SimWorker::crash);
    if (world.isTight()) {
      disksGrow();
    }
    if (world.policies()) {
      policiesComeToRest();
    }
    comesToRest();
    oracle.checkAll();
    spaceAgrees();
    everyServerMayBeLost();
    everyBlockCanBeRead();
    List<Finding> findings = namenode.check();
    if (!findings.isEmpty()) {
      throw new Violation("the namenode's own check finds " + findings);
    }
  }

  /** While disks are full, transitions end as what is missing says; with room, nothing is. */
  private void disksGrow() throws IOException, ServiceException {
    for (int round = 0; round < FULL_ROUNDS; round++) {
      round(round);
      spaceAgrees();
    }
    cluster.grow();
    everybodyBeats();
    oracle.disksHaveRoom();
    log.add("disks grow");
    List<Long> files = oracle.refusedFiles();
    if (!files.isEmpty()) {
      tally.add("client proposes again what had no place");
      send(
          -1,
          DecisionProto.newBuilder()
              .setKind(TransitionKindProto.ENCODE)
              .setToCode(anyOf(SimCodes.codes(world)).name())
              .addAllFileIds(files));
    }
  }

  /** While heat stays as it is, there is an end to what policies propose. */
  private void policiesComeToRest() throws IOException, ServiceException {
    for (int evaluation = 0; evaluation < EVALUATIONS; evaluation++) {
      for (int round = 1; round < 3; round++) {
        round(round);
      }
      int proposed = manager.evaluate(namenode.coding());
      if (proposed == 0 && !oracle.anyActive()) {
        return;
      }
      tally.addMany("client policies propose", proposed);
    }
    throw new Violation("policies propose more and more: " + manager.lastDecisions());
  }

  private void round(int round) throws IOException, ServiceException {
    clock.advance(1_000);
    everybodyBeats();
    if (round % 10 == 0) {
      everybodyReports();
      for (SimServer server : cluster.servers()) {
        server.scrub(namenode.datanodes());
      }
    }
    namenode.tick();
    work();
    oracle.check();
  }

  private void comesToRest() throws IOException, ServiceException {
    List<String> unfinished = List.of("nothing was tried");
    int rounds = 0;
    for (int round = 0; round < SETTLE_ROUNDS && !unfinished.isEmpty(); round++) {
      round(round);
      unfinished = oracle.unfinished();
      rounds++;
    }
    tally.addMany("rounds", rounds);
    if (!unfinished.isEmpty()) {
      throw new Violation("does not come to rest: " + unfinished);
    }
  }

  private void work() throws ServiceException {
    SimWorker worker = workers.get(0);
    worker.claim(namenode.coding(), 8);
    for (int step = 0; step < 100 && worker.isBusy(); step++) {
      worker.advance(namenode.coding(), false);
    }
  }

  /** Counted only: copies that come back late may lie badly, and nothing moves them yet. */
  private void everyServerMayBeLost() {
    boolean depends = false;
    for (SimServer server : cluster.servers()) {
      Set<SimDisk> disks = new HashSet<>(server.disks());
      if (!oracle.survives(disks)) {
        depends = true;
        log.add("at rest " + server.uuid() + " may not be lost: " + oracle.fatalFor(disks));
      }
    }
    if (depends) {
      tally.add("schedules at rest that depend on one server");
    }
    if (world.racks() > 1) {
      Map<Integer, Set<SimDisk>> racks = new TreeMap<>();
      for (SimServer server : cluster.servers()) {
        racks
            .computeIfAbsent(Racks.rackOf(server.number(), world.racks()), rack -> new HashSet<>())
            .addAll(server.disks());
      }
      if (racks.size() > 1 && racks.values().stream().allMatch(oracle::survives)) {
        tally.add("schedules at rest that survive the loss of any rack");
      }
    }
  }

  /** Degraded reads: each data member is decoded without its own block. */
  private void everyBlockCanBeRead() throws ServiceException {
    for (StripeRow stripe : oracle.rows().stripes.values()) {
      for (StripeMemberProto member : stripe.getMembersList()) {
        boolean isFile = oracle.acknowledgedFiles().contains(member.getOwnerId());
        if (isFile && random.nextInt(6) == 0) {
          decodes(member);
        }
      }
    }
  }

  private void decodes(StripeMemberProto member) throws ServiceException {
    GetReadPlanResponseProto plan =
        namenode
            .coding()
            .getReadPlan(
                null,
                GetReadPlanRequestProto.newBuilder()
                    .setBlock(
                        ExtendedBlockProto.newBuilder()
                            .setPoolId(namenode.blockPoolId())
                            .setBlockId(member.getBlockId())
                            .setGenerationStamp(member.getGenerationStamp())
                            .setNumBytes(member.getLengthBytes()))
                    .addExcludedBlockIds(member.getBlockId())
                    .build());
    Content content = cluster.decode(plan.getSourcesList(), plan.getCoefficients().toByteArray());
    if (!Content.of(member.getBlockId()).equals(content)
        || plan.getLengthBytes() != member.getLengthBytes()) {
      throw new Violation(
          "the read plan of block %d gives %s by coefficients %s"
              .formatted(
                  member.getBlockId(),
                  content,
                  Arrays.toString(plan.getCoefficients().toByteArray())));
    }
  }

  @Override
  public String toString() {
    return "seed " + seed;
  }
}
