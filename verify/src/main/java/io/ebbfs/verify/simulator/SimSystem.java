package io.ebbfs.verify.simulator;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.audit.SpaceAccount;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.RestoredStore;
import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** All parts of one simulation: the namenode, the servers, workers, a client, and the oracle. */
final class SimSystem {
  private static final int FILES = 25;
  private static final int MAX_LENGTH = 1_000;
  private static final long SLICE_MILLIS = 1_000;

  final Random random;
  final ManualClock clock = new ManualClock();
  // The time of day of the namenode's machine, which somebody may set.
  final ManualClock timeOfDay = new ManualClock();
  final EventCounts events = new EventCounts();
  final SimWorld world;
  final SimCluster cluster;
  final Oracle oracle;
  final CrashingStore store;
  final SimClient client;
  final List<SimWorker> workers = new ArrayList<>();
  // What happened, for people.
  final List<String> log = new ArrayList<>();
  private final InMemoryStore rows = new InMemoryStore();
  private final PlantedBug bug;
  private SimNamenode alone;
  // Several namenodes on one store; null if there is one namenode.
  private final SimPeers several;
  // Of a file that is written at once.
  private final int mostBlocks;
  private int disksMade;
  private Set<Long> kept = Set.of();

  SimSystem(SimWorld world, Random random, PlantedBug bug, int namenodes) throws IOException {
    this.world = world;
    this.random = random;
    this.bug = bug;
    cluster = new SimCluster(world, events, bug);
    oracle = new Oracle(cluster, events);
    cluster.onDeletion(this::checkDeletion);
    store = new CrashingStore(rows, namenodes > 1 ? new IdCheck(oracle) : oracle, bug);
    client = new SimClient(cluster, oracle, random, events, namenodes > 1);
    workers.add(new SimWorker("worker-0", cluster, oracle, random, events, bug));
    workers.add(new SimWorker("worker-1", cluster, oracle, random, events, bug));
    mostBlocks = namenodes > 1 ? 3 : 8;
    several = namenodes > 1 ? several(namenodes) : null;
    start();
  }

  private SimPeers several(int count) {
    SharedStore shared = new SharedStore(store, clock, random, events, bug);
    List<SimPeer> peers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      peers.add(new SimPeer(i, shared, world, cluster, timeOfDay, clock, random, bug));
    }
    return new SimPeers(shared, peers, world, cluster.network(), random, events, bug);
  }

  private void start() throws IOException {
    if (several != null) {
      return;
    }
    store.revive();
    if (bug == PlantedBug.FORGETS_ORDERS) {
      store.forgetExcessMarks();
    }
    alone =
        new SimNamenode(
            store,
            timeOfDay,
            clock,
            world,
            cluster,
            random.nextLong(),
            bug,
            SimNamenode.Lead.ALONE);
  }

  /** Starts several namenodes, if there are several. */
  void startSeveral(Runnable events) {
    if (several != null) {
      several.start(
          new SimPeers.Outside() {
            @Override
            public void eventsHappen() {
              events.run();
            }

            @Override
            public void timePasses(long millis) {
              advance(millis);
            }
          });
    }
  }

  /** Several namenodes; null if there is one. */
  SimPeers several() {
    return several;
  }

  SimNamenodes namenode() {
    return several == null ? alone : several;
  }

  /** Lets a namenode die after some transactions. */
  void crashAfter(int transactions, boolean afterThatCommit) {
    if (several != null) {
      several.crashSoon();
    } else {
      store.crashAfter(transactions, afterThatCommit);
    }
  }

  /** Starts the namenode again. */
  void restart() throws IOException {
    if (several != null) {
      several.restartOne();
      return;
    }
    if (random.nextInt(3) == 0) {
      losePower(random.nextInt(store.unsyncedCommits() + 1));
    }
    start();
    if (random.nextBoolean()) {
      allServersReport();
    }
  }

  /** Time passes, on all clocks. Namenodes renew their leadership meanwhile. */
  void advance(long millis) {
    if (several == null) {
      pass(millis);
      return;
    }
    for (long left = millis; left > 0; left -= SLICE_MILLIS) {
      pass(Math.min(left, SLICE_MILLIS));
      several.turns();
    }
  }

  private void pass(long millis) {
    clock.advance(millis);
    timeOfDay.advance(millis);
  }

  /** The namenode as a raid-node reaches it. */
  CodingProtocol codingFor(SimWorker worker) {
    if (!cluster.network().isCut(worker.name(), SimNetwork.NAMENODE)) {
      return namenode().coding();
    }
    return (CodingProtocol)
        Proxy.newProxyInstance(
            SimSystem.class.getClassLoader(),
            new Class<?>[] {CodingProtocol.class},
            (proxy, method, arguments) -> {
              throw new ServiceException(new IOException("connection refused"));
            });
  }

  private void losePower(int commits) throws IOException {
    events.addMany("fault relaxed commits lost", commits);
    store.losePower(commits);
  }

  /** The namenode's machine crashes with all commits that were not synced. */
  void restartAfterPowerFailure() throws IOException {
    if (several != null) {
      several.restartAll();
      allServersReport();
      return;
    }
    losePower(store.unsyncedCommits());
    start();
    allServersReport();
  }

  /** The namenode starts on the rows of a backup, and all servers report to it. */
  void restore(CrashingStore.Backup backup) throws IOException {
    store.revive();
    store.restore(backup);
    RestoredStore.mark(store, "a restore");
    start();
    allServersReport();
  }

  /** Deletions of replicas of these blocks are violations while the namenode does not know them. */
  void keep(Set<Long> blockIds) {
    kept = blockIds;
  }

  SimServer anyServer() {
    return cluster.servers().get(random.nextInt(cluster.servers().size()));
  }

  <T> T anyOf(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  /** Each server sends a heartbeat and its news, and executes its commands. */
  void allServersHeartbeat() throws IOException {
    for (SimServer server : cluster.servers()) {
      if (server.isScanning() && random.nextBoolean()) {
        server.scan();
      }
      if (server.answers()) {
        hear(
            () -> {
              server.heartbeat(namenode().datanodes(server));
              server.executeCommands(cluster, namenode().datanodes(server));
              server.incrementalReport(namenode().datanodes(server));
            });
      }
    }
  }

  /** Messages of a server. */
  @FunctionalInterface
  interface Messages {
    void send() throws IOException;
  }

  /** A server sends messages. It turns to another namenode if one of several does not answer. */
  void hear(Messages messages) throws IOException {
    try {
      messages.send();
    } catch (IOException e) {
      if (several == null) {
        throw e;
      }
    }
  }

  /** Each server sends a full block report. */
  void allServersReport() throws IOException {
    for (SimServer server : cluster.servers()) {
      if (server.answers()) {
        hear(
            () -> {
              server.heartbeat(namenode().datanodes(server));
              server.fullReport(namenode().datanodes(server));
            });
      }
    }
  }

  /** Checks an order to delete: all acknowledged data must decode afterwards. */
  private void checkDeletion(SimDisk disk, SimBlock block) {
    oracle.excess().beforeDeletion(disk, block);
    if (kept.contains(block.blockId()) && oracle.rows().block(block.blockId()) == null) {
      throw new Violation(
          "block %d is newer than the restored backup, and is ordered to be deleted from %s"
              .formatted(block.blockId(), disk.uuid));
    }
    if (!oracle.decoding().survivesDeletion(block, disk)) {
      throw new Violation(
          "block %d is ordered to be deleted from %s, and the data does not decode without it"
              .formatted(block.blockId(), disk.uuid));
    }
  }

  void replaceDisk(SimServer server, SimDisk disk) {
    server.replaceDisk(disk, server.uuid() + "-disk-new-" + disksMade++);
  }

  /** A worker claims transitions and runs them to their commits, without faults. */
  void work() throws ServiceException {
    SimWorker worker = workers.get(0);
    worker.claim(namenode().coding(), 8);
    for (int step = 0; step < 100 && worker.isBusy(); step++) {
      worker.advance(namenode().coding(), false);
    }
  }

  /** Lets leases end and lets the namenode declare silent servers dead. */
  void passTime(int step) throws IOException {
    note(step, "time passes");
    // As long as this, a machine keeps no written bytes in its memory.
    cluster.servers().forEach(server -> server.disks().forEach(SimDisk::syncAll));
    for (int i = 0; i < 4; i++) {
      advance(2_500);
      allServersHeartbeat();
      namenode().tick();
    }
  }

  void note(int step, String what) {
    log.add("step " + step + ": " + what);
  }

  void noteFault(int step, String fault, String where) {
    note(step, fault + " " + where);
    events.add("fault " + fault);
  }

  /** The space account of the namenode equals the one of the oracle. */
  void checkSpace() throws IOException {
    SpaceAccount account = SpaceAccount.of(SimCodes.REGISTRY, rows, storage -> true);
    if (!account.equals(oracle.space().account())) {
      throw new Violation(
          "the space account is %s, by the rows it should be %s"
              .formatted(account, oracle.space().account()));
    }
  }

  /** A client writes a file, unless there are enough. */
  void write() throws IOException {
    if (oracle.acknowledgedFiles().size() < FILES) {
      client.write(
          namenode().forClients(),
          this::allServersSendNews,
          1 + random.nextInt(mostBlocks),
          MAX_LENGTH);
    }
  }

  private void allServersSendNews() throws IOException {
    for (SimServer server : cluster.servers()) {
      if (server.answers()) {
        hear(() -> server.incrementalReport(namenode().datanodes(server)));
      }
    }
  }

  /** A client opens a file, to write it while other events happen. */
  void open() throws IOException {
    if (oracle.acknowledgedFiles().size() < FILES) {
      client.open(namenode().forClients(), random.nextInt(4), MAX_LENGTH);
    }
  }
}
