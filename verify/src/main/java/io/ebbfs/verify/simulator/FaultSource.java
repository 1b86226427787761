package io.ebbfs.verify.simulator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Draws faults and makes them happen, within what the codes promise to survive. */
final class FaultSource {
  private final SimSystem system;
  private final ProposalSource proposals;
  private final Random random;
  private int joined;

  FaultSource(SimSystem system, ProposalSource proposals) {
    this.system = system;
    this.proposals = proposals;
    random = system.random;
  }

  /** Makes a random fault happen to the server, the worker or the namenode. */
  void happen(int step, SimServer server, SimWorker worker) throws IOException, ServiceException {
    switch (random.nextInt(47)) {
      case 0 -> {
        system.note(step, "worker crashes");
        worker.crash();
      }
      case 1 -> commitAfterLease(step, worker);
      case 2, 3, 4 -> worker.sendLateMessage(system.codingFor(worker));
      case 5, 6, 7 -> crashOrStart(step, server);
      case 8, 9 -> failDisk(step, server);
      case 10 -> loseServer(step, server);
      case 11, 12 -> loseBlock(step, server);
      case 13, 14, 15 -> system.crashAfter(random.nextInt(6), random.nextBoolean());
      case 16, 17 -> stallOrGoOn(step, server);
      case 18 -> joinOrLeave(step, server);
      case 19, 20 -> {
        system.noteFault(step, "output computed wrong", "next");
        system.cluster.plantWrongOutput();
      }
      case 21, 22, 23 -> {
        proposals.propose(step);
        lossesBeforeCommit(step);
      }
      case 24, 25 -> {
        if (system.client.isWriting()) {
          system.noteFault(step, "client dies in a write", "");
          system.client.oneDies();
        }
      }
      case 26, 27 -> restartTogether(step, worker);
      case 28, 29 -> falseReports(step);
      case 30, 31 -> restartInRecovery(step);
      case 32, 33, 34 -> powerFailure(step);
      case 35, 36 -> cutOrHeal(step, server);
      case 37, 38 -> lateReport(step, server);
      case 39 -> {
        long hours = random.nextInt(49) - 24;
        system.noteFault(step, "time of day jumps", "by " + hours + " hours");
        system.timeOfDay.advance(hours * 3_600_000);
      }
      case 40, 41 -> powerFailureAfterOrders(step, server);
      case 42, 43, 44 -> restoreTwice(step);
      default -> {
        system.noteFault(step, "namenode restarts", "");
        system.restart();
      }
    }
  }

  /**
   * A worker hangs before a commit for longer than its lease. Then others claim its transitions.
   */
  private void commitAfterLease(int step, SimWorker any) throws IOException, ServiceException {
    SimWorker worker = system.workers.stream().filter(SimWorker::isBusy).findFirst().orElse(any);
    if (!worker.isBusy()) {
      worker.claim(system.codingFor(worker), 4);
    }
    Optional<SimWorker.LateCommit> late = worker.hangBeforeCommit(system.codingFor(worker));
    if (late.isPresent()) {
      system.noteFault(step, "commit arrives after its lease", "");
      system.passTime(step);
      // The namenode hears of the written blocks, as it would within any lease.
      system.allServersHeartbeat();
      system.advance(5_000);
      system.namenode().tick();
      system
          .workers
          .get(random.nextInt(system.workers.size()))
          .claim(system.namenode().coding(), 8);
      late.get().send(system.namenode().coding());
    }
  }

  /**
   * Servers lose all their disks after the last check of a conversion and before its commit. The
   * namenode hears of it from the servers, and no scan has seen the stripes yet.
   */
  private void lossesBeforeCommit(int step) throws IOException, ServiceException {
    Optional<SimWorker> worker = converting();
    if (worker.isEmpty()) {
      return;
    }
    Optional<SimWorker.LateCommit> late = worker.get().hangBeforeCommit(system.namenode().coding());
    if (late.isEmpty()) {
      return;
    }
    List<SimServer> servers = new ArrayList<>(system.cluster.servers());
    Collections.shuffle(servers, random);
    int losses = 0;
    for (SimServer server : servers) {
      if (losses < 3 && server.answers() && isSurvivable(new HashSet<>(server.disks()))) {
        losses++;
        system.noteFault(step, "disks fail right before a commit", server.uuid());
        server.disks().forEach(server::failDisk);
        server.heartbeat(system.namenode().datanodes(server));
      }
    }
    late.get().send(system.namenode().coding());
  }

  /** A worker that holds a conversion; one that has none claims what is planned. */
  private Optional<SimWorker> converting() throws ServiceException {
    for (SimWorker worker : system.workers) {
      if (!worker.isConverting()) {
        worker.claim(system.codingFor(worker), 8);
      }
    }
    return system.workers.stream().filter(SimWorker::isConverting).findFirst();
  }

  /** Two processes cannot reach each other, until all can again. */
  private void cutOrHeal(int step, SimServer server) {
    SimNetwork network = system.cluster.network();
    if (!network.isWhole() && random.nextInt(3) == 0) {
      system.note(step, "all processes reach each other");
      network.healAll();
      return;
    }
    String worker = system.anyOf(system.workers).name();
    switch (random.nextInt(4)) {
      case 0 -> cut(step, server.uuid(), SimNetwork.NAMENODE);
      case 1 -> cut(step, worker, SimNetwork.NAMENODE);
      case 2 -> cut(step, worker, server.uuid());
      default -> {
        for (int i = 0; i < 3; i++) {
          cut(step, server.uuid(), system.anyServer().uuid());
        }
      }
    }
  }

  private void cut(int step, String one, String other) {
    if (!one.equals(other)) {
      system.noteFault(step, "network cut", one + " from " + other);
      system.cluster.network().cut(one, other);
    }
  }

  /** A full report is under way while the server sends news, and perhaps another full report. */
  private void lateReport(int step, SimServer server) throws IOException {
    if (!server.answers()) {
      return;
    }
    server.makeLateReport(system.clock.millis());
    if (random.nextBoolean()) {
      system.write();
      system.allServersHeartbeat();
    }
    if (random.nextBoolean()) {
      system.advance(500 + random.nextInt(1_000));
      system.namenode().tick();
    }
    if (random.nextBoolean()) {
      server.fullReport(system.namenode().datanodes(server));
    } else {
      server.executeCommands(system.cluster, system.namenode().datanodes(server));
      server.incrementalReport(system.namenode().datanodes(server));
    }
    if (server.sendLateReport(
        system.namenode().datanodes(server),
        system.clock.millis(),
        SimNamenode.REPORT_TRAVEL_MILLIS)) {
      system.noteFault(step, "full report is overtaken", server.uuid());
    }
  }

  private long silentServers() {
    return system.cluster.servers().stream().filter(s -> !s.answers()).count();
  }

  private void crashOrStart(int step, SimServer server) throws IOException {
    if (!server.isUp()) {
      system.note(step, server.uuid() + " starts");
      server.start();
      if (random.nextInt(3) > 0) {
        server.scan();
        server.heartbeat(system.namenode().datanodes(server));
      }
    } else if (silentServers() < 2) {
      system.noteFault(step, "server crashes", server.uuid());
      server.crash();
    }
  }

  /**
   * Several servers restart at once. While they scan their disks, a worker and the namenode ask
   * them.
   */
  private void restartTogether(int step, SimWorker worker) throws IOException, ServiceException {
    if (!worker.isBusy()) {
      worker.claim(system.codingFor(worker), 4);
    }
    for (SimServer server : system.cluster.servers()) {
      if (server.isUp() && random.nextInt(3) > 0) {
        system.noteFault(step, "servers restart together", server.uuid());
        server.crash();
        server.start();
      }
    }
    for (int i = 0; i < 3; i++) {
      worker.advance(system.codingFor(worker), false);
    }
    system.namenode().tick();
  }

  /**
   * A writer dies. When the recovery of its block has been ordered, servers restart, and the
   * recovery runs while they scan their disks. The server that leads it may have lost its replica.
   */
  private void restartInRecovery(int step) throws IOException {
    if (!system.client.isWriting()) {
      return;
    }
    system.client.oneDies();
    for (int i = 0; i < 4; i++) {
      system.advance(2_500);
      system.allServersHeartbeat();
    }
    system.namenode().tick();
    for (SimServer server : system.cluster.servers()) {
      if (server.answers()) {
        server.heartbeat(system.namenode().datanodes(server));
      }
    }
    for (SimServer server : system.cluster.servers()) {
      if (server.isToRecover() && random.nextBoolean()) {
        loseOpenReplica(step, server);
      } else if (server.answers() && !server.isToRecover() && random.nextInt(4) > 0) {
        system.noteFault(step, "server restarts during a block recovery", server.uuid());
        server.crash();
        server.start();
      }
    }
    for (SimServer server : system.cluster.servers()) {
      if (server.answers()) {
        server.executeCommands(system.cluster, system.namenode().datanodes(server));
      }
    }
  }

  /** One or more machines crash at the same time. Bytes that were not synced may be lost. */
  private void powerFailure(int step) throws IOException, ServiceException {
    if (random.nextBoolean()) {
      system.work(); // what was just published is lost if nobody has synced it
    }
    List<SimServer> servers = new ArrayList<>(system.cluster.servers());
    Collections.shuffle(servers, random);
    int count = random.nextBoolean() ? servers.size() : 1 + random.nextInt(3);
    Set<String> uuids = new TreeSet<>();
    for (SimServer server : servers) {
      uuids.add(server.uuid());
      boolean survivable =
          uuids.size() <= count
              && !system.oracle.decoding().anyHiddenLoss(system.namenode()::believesInService)
              && system.oracle.decoding().survivesPowerFailure(uuids);
      if (!survivable) {
        uuids.remove(server.uuid());
      }
    }
    system.oracle.attempts().disturb(system.oracle.attempts().running());
    for (String uuid : uuids) {
      system.noteFault(step, "power failure", uuid);
      SimServer server = system.cluster.server(uuid);
      server.losePower(random);
      server.disks().stream()
          .flatMap(disk -> disk.openReplicas().stream())
          .forEach(r -> system.oracle.acknowledged().weaken(r.blockId, r.lengthBytes()));
      if (random.nextInt(4) > 0) {
        server.start();
      }
    }
  }

  /**
   * A server is away until its blocks have new replicas. When it is back, the namenode orders
   * deletions, and its machine crashes before they are reported.
   */
  private void powerFailureAfterOrders(int step, SimServer server)
      throws IOException, ServiceException {
    if (!server.isUp() || silentServers() > 1) {
      return;
    }
    server.crash();
    for (int i = 0; i < 8; i++) {
      system.advance(2_500);
      system.allServersHeartbeat();
      system.namenode().tick();
    }
    server.start();
    server.scan();
    long deleted = system.cluster.deletionOrders();
    for (int i = 0; i < 6 && system.cluster.deletionOrders() == deleted; i++) {
      system.advance(1_500);
      system.namenode().tick();
      heartbeats();
    }
    system.noteFault(step, "power failure after orders to delete", SimNetwork.NAMENODE);
    system.restartAfterPowerFailure();
    // The disks fill otherwise than before, so that another choice is made.
    if (!system.world.isTight()) {
      system
          .cluster
          .servers()
          .forEach(
              s -> s.disks().forEach(disk -> disk.resize(SimWorld.ROOMY >> random.nextInt(4))));
    }
    for (int i = 0; i < 5; i++) {
      system.write();
      heartbeats();
      system.advance(2_000);
      system.namenode().tick();
    }
    system.allServersHeartbeat();
  }

  /**
   * An operator restores a backup that is too old, notices it soon, and restores the latest one.
   * The old one does not know files and stripes that the latest one knows: these must stay on the
   * disks. What clients write to the old one is lost.
   */
  private void restoreTwice(int step) throws IOException, ServiceException {
    if (system.several() != null
        || system.world.isTight()
        || system.client.isWriting()
        || !system.oracle.acknowledged().openFiles().isEmpty()
        || !system.oracle.attempts().running().isEmpty()) {
      return;
    }
    system.store.revive();
    CrashingStore.Backup old = system.store.backup();
    Set<Long> knownToOld = Set.copyOf(system.oracle.rows().owners.keySet());
    for (int i = random.nextInt(3); i >= 0; i--) {
      system.write();
    }
    if (random.nextBoolean()) {
      proposals.encode(step);
      system.work();
      system.allServersHeartbeat();
    }
    if (!system.oracle.attempts().running().isEmpty()) {
      return;
    }
    system.noteFault(step, "backup restored that is too old", "");
    CrashingStore.Backup latest = system.store.backup();
    Set<Long> newer = new HashSet<>(system.oracle.rows().owners.keySet());
    newer.removeAll(knownToOld);
    system.keep(newer);
    try {
      system.restore(old);
      workOnOldRows();
    } catch (IOException e) {
      system.note(step, "refused: " + e.getMessage());
    }
    system.keep(Set.of());
    system.note(step, "latest backup restored");
    system.restore(latest);
    system.oracle.forgetUnknownFiles();
  }

  private void workOnOldRows() throws IOException {
    for (int i = 0; i < 3; i++) {
      system.advance(1_000 + random.nextInt(1_500));
      system.write();
      system.allServersHeartbeat();
      system.namenode().tick();
    }
  }

  /** All servers get their orders, and execute none but deletions. */
  private void heartbeats() throws IOException {
    for (SimServer server : system.cluster.servers()) {
      if (server.answers()) {
        server.heartbeat(system.namenode().datanodes(server));
      }
    }
  }

  private void loseOpenReplica(int step, SimServer server) {
    for (SimDisk disk : server.disks()) {
      for (SimOpenReplica replica : disk.openReplicas()) {
        if (isSurvivable(Set.of(disk))) {
          system.noteFault(step, "half-written block vanishes", replica.toString());
          disk.remove(replica);
        }
      }
    }
  }

  /** A client with bad memory takes good replicas for corrupt. */
  private void falseReports(int step) throws IOException {
    List<Long> blocks = new ArrayList<>(system.oracle.acknowledged().blocks());
    if (blocks.isEmpty()) {
      return;
    }
    long id = blocks.get(random.nextInt(blocks.size()));
    for (SimReplicaMap.SimReplica replica : List.copyOf(system.cluster.replicas().of(id))) {
      system.noteFault(step, "client takes a good replica for bad", replica.toString());
      system.namenode().reportBadByClient(replica.block(), replica.disk().uuid);
    }
  }

  private void stallOrGoOn(int step, SimServer server) {
    if (server.isStalled()) {
      system.note(step, server.uuid() + " goes on");
      server.stall(false);
      if (random.nextBoolean()) {
        // The commands are from before the stall.
        server.executeCommands(system.cluster, system.namenode().datanodes(server));
      }
    } else if (server.isUp() && silentServers() < 2) {
      system.noteFault(step, "server stalls", server.uuid());
      server.stall(true);
    }
  }

  private void joinOrLeave(int step, SimServer server) throws IOException {
    if (random.nextBoolean() && joined < 3) {
      joined++;
      system.noteFault(step, "server joins", "");
      SimServer joins = system.cluster.join();
      joins.heartbeat(system.namenode().datanodes(joins));
    } else if (system.cluster.servers().size() > 7 && isSurvivable(new HashSet<>(server.disks()))) {
      system.noteFault(step, "server leaves for good", server.uuid());
      system.cluster.leave(server);
    }
  }

  /**
   * Whether the disks may be lost. Nothing may be destroyed beyond what the codes promise to
   * survive, and nothing while the namenode has yet to hear of an earlier loss. Several losses may
   * happen during one attempt of a transition: what the attempt publishes must survive them as what
   * it replaces does.
   */
  private boolean isSurvivable(Set<SimDisk> disks) {
    Set<String> running = system.oracle.attempts().running();
    boolean survivable =
        !system.oracle.decoding().anyHiddenLoss(system.namenode()::believesInService)
            && system.oracle.decoding().survives(disks);
    if (survivable) {
      if (system.oracle.attempts().isAnyDisturbed(running)) {
        system.events.add("fault second loss while a transition runs");
      }
      system.oracle.attempts().disturb(running);
    }
    return survivable;
  }

  private void failDisk(int step, SimServer server) throws IOException {
    SimDisk disk = server.disks().get(random.nextInt(system.world.disksPerServer()));
    if (!disk.hasFailed() && isSurvivable(Set.of(disk))) {
      system.noteFault(step, "disk fails", disk.uuid);
      server.failDisk(disk);
    } else if (disk.hasFailed() && random.nextBoolean()) {
      system.note(step, disk.uuid + " is replaced");
      system.replaceDisk(server, disk);
    }
  }

  /** A server loses all its disks, and empty ones replace them. */
  private void loseServer(int step, SimServer server) throws IOException {
    if (isSurvivable(new HashSet<>(server.disks()))) {
      system.noteFault(step, "server loses all its disks", server.uuid());
      server.crash();
      List.copyOf(server.disks()).forEach(disk -> system.replaceDisk(server, disk));
    }
  }

  private void loseBlock(int step, SimServer server) throws IOException {
    SimDisk disk = server.disks().get(random.nextInt(system.world.disksPerServer()));
    if (!disk.isEmpty() && isSurvivable(Set.of(disk))) {
      long id = new ArrayList<>(disk.blockIds()).get(random.nextInt(disk.blockIds().size()));
      if (random.nextBoolean()) {
        system.noteFault(step, "block rots", id + "@" + disk.uuid);
        server.corrupt(disk, id);
      } else {
        system.noteFault(step, "block vanishes", id + "@" + disk.uuid);
        server.loseQuietly(disk, id);
      }
    }
  }
}
