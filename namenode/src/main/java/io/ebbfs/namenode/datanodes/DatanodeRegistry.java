package io.ebbfs.namenode.datanodes;

import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.DrainProto;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.server.protocol.DisallowedDatanodeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry of chunk servers and their disks. The identity of a server (uuid, address, rack,
 * disks) is durable, in table "server". Its state (live, free bytes, load) is in memory and comes
 * with its heartbeats.
 *
 * <p>Thread-safe. Readers see immutable records. A heartbeat replaces the record of one server. A
 * change of an identity is rare; such changes go through the store one at a time.
 */
public final class DatanodeRegistry implements ClusterView, ServerDrains {
  private static final Logger LOG = LoggerFactory.getLogger(DatanodeRegistry.class);

  /** What a heartbeat says about one disk. */
  public record DiskReport(
      String storageUuid,
      boolean failed,
      long capacityBytes,
      long usedBytes,
      long remainingBytes,
      StorageType type) {

    /** Of a disk of type DISK. */
    public DiskReport(
        String storageUuid,
        boolean failed,
        long capacityBytes,
        long usedBytes,
        long remainingBytes) {
      this(storageUuid, failed, capacityBytes, usedBytes, remainingBytes, StorageType.DISK);
    }
  }

  private final MetadataStore store;
  private final IdGenerator storageNumbers;
  private final Clock clock;
  private final RedundancySettings settings;
  private final RackTopology topology;
  private final SafeMode safeMode;

  private final Map<String, Server> servers = new ConcurrentHashMap<>();
  // Rises after each change of a server, so that the list of live servers is made only then.
  private final AtomicLong changes = new AtomicLong();
  private volatile Snapshot live = new Snapshot(-1, List.of(), List.of());
  // Of the last call of apply(), whoever leads since.
  private volatile HostLists hosts;
  private final Map<String, Disk> disks = new ConcurrentHashMap<>();
  private volatile boolean typedDisks;
  // Servers that another namenode has taken for live, and that have not registered here.
  private final Set<String> presumed = ConcurrentHashMap.newKeySet();
  private final HeartbeatRhythm rhythm = new HeartbeatRhythm();
  private final Hibernations hibernations;
  private final BalancerBandwidth balancerBandwidth = new BalancerBandwidth();
  // Disks with a full report since their server registered, and the time of the last one: their
  // replica rows are right.
  private final Map<String, Long> reported = new ConcurrentHashMap<>();
  // Disks that went out of service, and when. A disk of a server that was not heard of since the
  // start
  // of this process is added at the end of safe mode.
  private final Map<String, Long> lostSince = new ConcurrentHashMap<>();
  // Disks that have failed, whoever wrote it into the row, until a heartbeat tells of them.
  private final Map<String, Disk> newlyFailed = new ConcurrentHashMap<>();

  /** With all servers in one rack. */
  public DatanodeRegistry(
      MetadataStore store, IdGenerator storageNumbers, Clock clock, RedundancySettings settings)
      throws IOException {
    this(store, storageNumbers, clock, settings, RackTopology.none());
  }

  /** Reads the known servers from the store; none of them is live before it registers. */
  public DatanodeRegistry(
      MetadataStore store,
      IdGenerator storageNumbers,
      Clock clock,
      RedundancySettings settings,
      RackTopology topology)
      throws IOException {
    this.topology = topology;
    this.store = store;
    this.storageNumbers = storageNumbers;
    this.clock = clock;
    this.hibernations = new Hibernations(this, clock);
    this.settings = settings;
    this.safeMode = new SafeMode(clock, settings.graceMillis());
    this.hosts = HostLists.stored(store);
    store.eachRow(Tables.SERVER, (key, row) -> expect(toServer(row, false, 0)));
  }

  /**
   * A server that is drained may be gone for good, and one that hibernates may be away for long, so
   * safe mode does not wait for them.
   */
  private void expect(Server server) {
    remember(server);
    if (server.drain() == DrainState.DRAINED || server.isHibernating()) {
      return;
    }
    server.disks().stream()
        .filter(disk -> !disk.failed())
        .forEach(disk -> safeMode.awaitDisk(disk.storageUuid()));
  }

  // ---- reading ----------------------------------------------------------------------------------

  @Override
  public List<Server> liveServers() {
    return snapshot().servers();
  }

  @Override
  public List<Server> serversForBlocks() {
    return snapshot().forBlocks();
  }

  private Snapshot snapshot() {
    Snapshot known = live;
    long now = changes.get();
    if (known.change() != now) {
      List<Server> all = servers.values().stream().filter(Server::live).toList();
      List<Server> staying = all.stream().filter(Server::takesBlocks).toList();
      known = new Snapshot(now, all, staying.size() == all.size() ? all : staying);
      live = known;
    }
    return known;
  }

  /** The live servers after so many changes, and those of them that take new blocks. */
  private record Snapshot(long change, List<Server> servers, List<Server> forBlocks) {}

  /** Whether a disk that is not of type DISK has been known since the start. */
  public boolean hasTypedDisks() {
    return typedDisks;
  }

  /** What the servers are still to be told of a balancer. */
  public BalancerBandwidth balancerBandwidth() {
    return balancerBandwidth;
  }

  /** Begins and ends hibernations of servers. */
  public Hibernations hibernations() {
    return hibernations;
  }

  /** All servers, live or not. */
  public List<Server> allServers() {
    return List.copyOf(servers.values());
  }

  @Override
  public Optional<Server> server(String serverUuid) {
    return Optional.ofNullable(servers.get(serverUuid));
  }

  @Override
  public Optional<Disk> disk(String storageUuid) {
    return Optional.ofNullable(disks.get(storageUuid));
  }

  /** True if the disk is live and has sent a full report since its server registered. */
  public boolean hasReported(String storageUuid) {
    return reported.containsKey(storageUuid) && isLive(storageUuid);
  }

  /** True if the disk is live and a full report of it was applied after that time. */
  public boolean hasReportedSince(String storageUuid, long sinceMillis) {
    Long last = reported.get(storageUuid);
    return last != null && last > sinceMillis && isLive(storageUuid);
  }

  /** Whether the server has registered here and is live. */
  public boolean isRegistered(Server server) {
    return server.live() && !presumed.contains(server.uuid());
  }

  /** True if heartbeats of the server are overdue. A stale server is not dead yet. */
  public boolean isStale(Server server) {
    return clock.millis() - server.lastHeartbeatMillis() > settings.staleAfterMillis();
  }

  /**
   * True if the server has missed a few heartbeats of its own rhythm, or is stale: it may be frozen
   * or unreachable. Such a server is used last.
   */
  public boolean isOverdue(Server server) {
    long silenceMillis = clock.millis() - server.lastHeartbeatMillis();
    return silenceMillis > rhythm.overdueAfterMillis(server.uuid(), settings.staleAfterMillis());
  }

  @Override
  public long lostSinceMillis(String storageUuid) {
    if (!disks.containsKey(storageUuid) || isLive(storageUuid)) {
      return 0;
    }
    Long since = lostSince.get(storageUuid);
    return since == null ? clock.millis() : since;
  }

  @Override
  public boolean inSafeMode() {
    return safeMode.isOn();
  }

  @Override
  public boolean isReadOnly() {
    return safeMode.isEntered();
  }

  /** True while servers that were known before the start are awaited. */
  public boolean awaitsServers() {
    return safeMode.isOn() && !safeMode.isEntered();
  }

  /**
   * Takes over what the leader knows, at a namenode to which no server reports.
   *
   * @param awaitsServers whether the leader awaits servers after its start
   */
  public synchronized void follow(List<Server> known, boolean awaitsServers) {
    Set<String> kept = new HashSet<>();
    for (Server server : known) {
      kept.add(server.uuid());
      remember(server);
    }
    servers.keySet().retainAll(kept);
    changes.incrementAndGet();
    safeMode.follow(awaitsServers);
  }

  /**
   * Takes those servers for live that another namenode has taken for live a moment ago, so that
   * clients find replicas before the servers have registered here. A heartbeat of such a server has
   * it register. If it is silent, it is declared dead in the usual time.
   */
  public synchronized void presume(List<Server> known) {
    for (Server seen : known) {
      if (seen.live() && servers.containsKey(seen.uuid())) {
        presumed.add(seen.uuid());
        for (Disk disk : seen.disks()) {
          setBytes(
              disk.storageUuid(), disk.capacityBytes(), disk.usedBytes(), disk.remainingBytes());
        }
        change(
            seen.uuid(),
            s -> refreshed(s, true, seen.lastHeartbeatMillis(), seen.activeTransfers()));
      }
    }
  }

  /** Notes the bytes of a disk; whether it has failed is known from its row. */
  private void setBytes(String storageUuid, long capacity, long used, long remaining) {
    disks.computeIfPresent(
        storageUuid,
        (uuid, disk) ->
            new Disk(
                uuid,
                disk.storageNumber(),
                disk.serverUuid(),
                disk.failed(),
                capacity,
                used,
                remaining,
                disk.type(),
                disk.queuedCalls(),
                disk.recentErrors()));
  }

  /**
   * Notes how many calls were queued at disks of a server, by the uuids of the disks. The next
   * {@link #heartbeat} of the server shows them. A server that is not registered, or that the lists
   * of the operator do not allow, is not heard.
   */
  public void noteQueuedCalls(String serverUuid, Map<String, Double> calls) {
    note(serverUuid, calls, Disk::withQueuedCalls);
  }

  /** Notes the recent errors of disks of a server, as {@link #noteQueuedCalls} does the calls. */
  public void noteRecentErrors(String serverUuid, Map<String, Double> errors) {
    note(serverUuid, errors, Disk::withRecentErrors);
  }

  private void note(
      String serverUuid, Map<String, Double> figures, BiFunction<Disk, Double, Disk> with) {
    boolean isHeard =
        server(serverUuid)
            .filter(this::isRegistered)
            .filter(s -> hosts.admits(s.hostName(), s.ipAddress(), s.transferPort()))
            .isPresent();
    if (!isHeard) {
      return;
    }
    figures.forEach(
        (storageUuid, figure) ->
            disks.computeIfPresent(
                storageUuid,
                (uuid, disk) ->
                    disk.serverUuid().equals(serverUuid) ? with.apply(disk, figure) : disk));
  }

  // ---- changes ----------------------------------------------------------------------------------

  /** An operator enters or leaves safe mode. */
  public void setSafeMode(boolean on) {
    if (on) {
      safeMode.enter();
    } else {
      safeMode.leave();
    }
  }

  /** Enough blocks are readable on the disks that have reported: safe mode may end. */
  public void blocksAreReadable() {
    safeMode.blocksAreReadable();
  }

  /**
   * The server has sent a message other than a heartbeat, or is sending one: that shows that it
   * lives as well as a heartbeat does.
   */
  public void heardFrom(String serverUuid) {
    change(serverUuid, s -> s.live() ? refreshed(s, true, clock.millis(), s.activeTransfers()) : s);
  }

  /**
   * Registers a server. A server at another address may take over a uuid once the old server is
   * stale. A known server at its old address keeps the rack that it had: {@link #refreshRacks}
   * moves it, so that after a start hundreds of servers do not wait for the program that tells
   * racks.
   *
   * @throws IOException if a live server has the same uuid
   */
  public void register(DatanodeID id) throws IOException {
    Server before = servers.get(id.getDatanodeUuid());
    if (before != null && sameAddress(before, id)) {
      register(id, Optional.empty());
      return;
    }
    topology.refresh();
    register(id, topology.rackOf(id.getHostName(), id.getIpAddr(), id.getXferPort()));
  }

  private synchronized void register(DatanodeID id, Optional<String> rack) throws IOException {
    Server known = servers.get(id.getDatanodeUuid());
    if (known != null && known.live() && !sameAddress(known, id) && !isStale(known)) {
      throw new IOException(
          ("chunk server %s at %s:%d has the uuid of a live one at %s:%d: stop one of them, or give"
                  + " the copy's disks a new identity by emptying them")
              .formatted(
                  id.getDatanodeUuid(),
                  id.getIpAddr(),
                  id.getXferPort(),
                  known.ipAddress(),
                  known.transferPort()));
    }
    ServerRow row =
        update(
            id.getDatanodeUuid(),
            builder -> {
              describe(builder, id, rack);
              applyLists(builder);
            });
    row.getStoragesList().forEach(storage -> reported.remove(storage.getUuid()));
    presumed.remove(id.getDatanodeUuid());
    remember(toServer(row, true, clock.millis()));
    safeMode.serverRegistered();
  }

  /**
   * Applies a heartbeat.
   *
   * @return the disks that failed or vanished since the last heartbeat, or empty if the server has
   *     to register first
   */
  public Optional<List<Disk>> heartbeat(
      DatanodeID id, List<DiskReport> reports, int activeTransfers) throws IOException {
    Server server = servers.get(id.getDatanodeUuid());
    if (server == null || !isRegistered(server) || !sameAddress(server, id)) {
      return Optional.empty();
    }
    changeDisks(server, reports);
    List<Disk> lost = takeNewlyFailed(server.uuid());
    for (DiskReport report : reports) {
      setBytes(
          report.storageUuid(),
          report.capacityBytes(),
          report.usedBytes(),
          report.remainingBytes());
    }
    long now = clock.millis();
    rhythm.heard(server.uuid(), now - server.lastHeartbeatMillis());
    change(server.uuid(), s -> refreshed(s, s.live(), now, activeTransfers));
    return Optional.of(lost);
  }

  /** Adds a disk that a block report names before any heartbeat did. */
  public void ensureDisk(String serverUuid, String storageUuid) throws IOException {
    Disk disk = disks.get(storageUuid);
    if (disk == null || !disk.serverUuid().equals(serverUuid)) {
      addDisks(serverUuid, List.of(storageUuid));
    }
  }

  /** A full report of the disk was applied: the replica rows agree with the disk from now on. */
  public void markReported(String storageUuid) {
    reported.put(storageUuid, clock.millis());
    safeMode.diskSettled(storageUuid);
  }

  /**
   * Safe mode has ended: disks that did not come back count as lost from now on.
   *
   * @return all lost disks, also the disks that were lost before this call
   */
  public List<Disk> noteLosses() {
    List<Disk> lost =
        servers.values().stream()
            .flatMap(server -> disksOf(server).stream())
            .filter(disk -> !isLive(disk.storageUuid()))
            .toList();
    lost.forEach(disk -> lostSince.putIfAbsent(disk.storageUuid(), clock.millis()));
    return lost;
  }

  /** Makes a live server dead if its last heartbeat is older than the deadline; returns it then. */
  Optional<Server> declareDead(String serverUuid, long deadlineMillis) {
    AtomicReference<Server> died = new AtomicReference<>();
    change(
        serverUuid,
        server -> {
          if (!server.live() || server.lastHeartbeatMillis() >= deadlineMillis) {
            return server;
          }
          rhythm.forget(serverUuid);
          died.set(refreshed(server, false, server.lastHeartbeatMillis(), 0));
          return died.get();
        });
    Optional<Server> dead = Optional.ofNullable(died.get());
    for (Disk disk : dead.map(Server::disks).orElse(List.of())) {
      reported.remove(disk.storageUuid());
      lostSince.putIfAbsent(disk.storageUuid(), clock.millis());
    }
    return dead;
  }

  // ---- drains

  /**
   * Takes a list of excluded servers in place of the one before. Servers that it names are drained,
   * now or when they register. A drain ends when the list names the server no more, unless an
   * action asks for it as well.
   *
   * @return the names that fit no server that ever registered
   */
  public Set<String> exclude(ExcludedServers list) throws IOException {
    return apply(HostLists.of(list));
  }

  /**
   * Takes the lists of an operator in place of the ones before; {@link #exclude} tells more.
   * Servers that the lists let hibernate do so, now or when they register, until the lists tell
   * otherwise or the time is over.
   *
   * @return the names of excluded servers that fit no server that ever registered
   * @throws IOException if the lists would shut out all live servers
   */
  public synchronized Set<String> apply(HostLists lists) throws IOException {
    lists.requireSomeAdmitted(liveServers());
    lists.store(store);
    hosts = lists;
    for (Server server : allServers()) {
      remember(update(server.uuid(), this::applyLists));
    }
    return lists.excluded().unknown(allServers());
  }

  /**
   * Whether the lists of the operator allow a server (HDFS: dfs.hosts).
   *
   * @throws DisallowedDatanodeException if they do not
   */
  public void requireAdmitted(DatanodeID id) throws DisallowedDatanodeException {
    if (!hosts.admits(id.getHostName(), id.getIpAddr(), id.getXferPort())) {
      throw new DisallowedDatanodeException(
          id, "the file of hosts does not name it: add it, then run 'hdfs dfsadmin -refreshNodes'");
    }
  }

  private void applyLists(ServerRow.Builder row) {
    applyExclusion(row);
    hibernations.applyFile(
        row, hosts.hibernatesUntil(row.getHostName(), row.getIpAddress(), row.getTransferPort()));
  }

  private void applyExclusion(ServerRow.Builder row) {
    boolean named =
        hosts.excluded().match(row.getHostName(), row.getIpAddress(), row.getTransferPort());
    if (named && !row.hasDrain()) {
      row.setDrain(drain(true, false));
    } else if (row.hasDrain()) {
      boolean byAction = isByAction(row.getDrain());
      row.getDrainBuilder().setByFile(named).setByAction(byAction);
      if (!named && !byAction) {
        row.clearDrain();
      }
    }
  }

  private static boolean isByAction(DrainProto drain) {
    return drain.hasByAction() ? drain.getByAction() : !drain.getByFile();
  }

  private DrainProto.Builder drain(boolean byFile, boolean byAction) {
    return DrainProto.newBuilder()
        .setStartedMillis(clock.millis())
        .setByFile(byFile)
        .setByAction(byAction);
  }

  @Override
  public synchronized boolean startDrain(String serverUuid) throws IOException {
    if (known(serverUuid).isLeaving()) {
      return false;
    }
    LOG.info("chunk server {} is drained from now on", serverUuid);
    remember(update(serverUuid, row -> row.setDrain(drain(false, true))));
    return true;
  }

  @Override
  public synchronized boolean endDrain(String serverUuid) throws IOException {
    Server server = known(serverUuid);
    Optional<String> refusal = whyNotEnded(serverUuid);
    if (refusal.isPresent()) {
      throw new IOException(refusal.get());
    }
    if (!server.isLeaving()) {
      return false;
    }
    LOG.info("chunk server {} is taken back and takes blocks from now on", serverUuid);
    remember(update(serverUuid, ServerRow.Builder::clearDrain));
    return true;
  }

  @Override
  public synchronized Optional<String> whyNotEnded(String serverUuid) {
    return server(serverUuid)
        .filter(s -> hosts.excluded().match(s.hostName(), s.ipAddress(), s.transferPort()))
        .map(
            s ->
                "the file of excluded servers names chunk server %s (%s:%d): take it out of the file, then run 'hdfs dfsadmin -refreshNodes'"
                    .formatted(serverUuid, s.hostName(), s.transferPort()));
  }

  @Override
  public int enoughReplicas() {
    return settings.enoughReplicas();
  }

  /** When the drain of a server began; 0 if the server is not drained. Reads the store. */
  public long drainStartedMillis(String serverUuid) throws IOException {
    Key key = Tables.named(serverUuid);
    return store.transact(
        key.partition(),
        transaction ->
            transaction
                .get(Tables.SERVER, key)
                .filter(ServerRow::hasDrain)
                .map(row -> row.getDrain().getStartedMillis())
                .orElse(0L));
  }

  /**
   * Nothing depends on a server that is being drained any more.
   *
   * @param startedMillis when the drain began of which this is known
   * @return false if the server is not drained any more, or its drain has begun anew since
   */
  public synchronized boolean finishDrain(String serverUuid, long startedMillis)
      throws IOException {
    ServerRow after =
        update(
            serverUuid,
            row -> {
              if (row.hasDrain() && row.getDrain().getStartedMillis() == startedMillis) {
                row.getDrainBuilder().setFinishedMillis(clock.millis());
              }
            });
    remember(after);
    boolean finished = after.getDrain().hasFinishedMillis();
    if (finished) {
      LOG.info("chunk server {} is drained: nothing depends on it any more", serverUuid);
    }
    return finished;
  }

  private Server known(String serverUuid) throws IOException {
    return server(serverUuid)
        .orElseThrow(
            () ->
                new IOException(
                    "no chunk server has the uuid '%s': 'hdfs dfsadmin -report' and the dashboard list the servers"
                        .formatted(serverUuid)));
  }

  private static DrainState drainOf(ServerRow row) {
    if (!row.hasDrain()) {
      return DrainState.NONE;
    }
    return row.getDrain().hasFinishedMillis() ? DrainState.DRAINED : DrainState.DRAINING;
  }

  // ---- disks

  private void changeDisks(Server server, List<DiskReport> reports) throws IOException {
    Set<String> working = new HashSet<>();
    List<String> unknown = new ArrayList<>();
    for (DiskReport report : reports) {
      Disk disk = disks.get(report.storageUuid());
      if (disk == null || !disk.serverUuid().equals(server.uuid())) {
        unknown.add(report.storageUuid());
      }
      if (!report.failed()) {
        working.add(report.storageUuid());
      }
    }
    if (!unknown.isEmpty()) {
      addDisks(server.uuid(), unknown);
    }
    boolean changed =
        disksOf(server.uuid()).stream()
            .anyMatch(disk -> disk.failed() == working.contains(disk.storageUuid()));
    if (changed) {
      setFailures(server.uuid(), working);
    }
    if (reports.stream().anyMatch(report -> typeOf(report.storageUuid()) != report.type())) {
      setTypes(server.uuid(), reports);
    }
  }

  private List<Disk> takeNewlyFailed(String serverUuid) {
    List<Disk> taken =
        newlyFailed.values().stream().filter(disk -> disk.serverUuid().equals(serverUuid)).toList();
    taken.forEach(disk -> newlyFailed.remove(disk.storageUuid()));
    return taken.stream().filter(disk -> !isLive(disk.storageUuid())).toList();
  }

  private synchronized void addDisks(String serverUuid, Collection<String> uuids)
      throws IOException {
    List<StorageRow> added = new ArrayList<>();
    for (String uuid : uuids) {
      Disk disk = disks.get(uuid);
      if (disk != null && disk.serverUuid().equals(serverUuid)) {
        continue;
      }
      long number = disk == null ? storageNumbers.next() : disk.storageNumber();
      if (disk != null) {
        LOG.warn("disk {} moved from server {} to {}", uuid, disk.serverUuid(), serverUuid);
        removeDisk(disk);
      }
      added.add(StorageRow.newBuilder().setUuid(uuid).setNumber(number).setFailed(false).build());
    }
    if (!added.isEmpty()) {
      remember(update(serverUuid, builder -> builder.addAllStorages(added)));
    }
  }

  private void removeDisk(Disk disk) throws IOException {
    ServerRow row =
        update(
            disk.serverUuid(),
            builder -> {
              List<StorageRow> kept =
                  builder.getStoragesList().stream()
                      .filter(storage -> !storage.getUuid().equals(disk.storageUuid()))
                      .toList();
              builder.clearStorages().addAllStorages(kept);
            });
    disks.remove(disk.storageUuid());
    reported.remove(disk.storageUuid());
    remember(row);
  }

  private synchronized void setFailures(String serverUuid, Set<String> working) throws IOException {
    remember(
        update(
            serverUuid,
            builder ->
                builder
                    .getStoragesBuilderList()
                    .forEach(storage -> storage.setFailed(!working.contains(storage.getUuid())))));
  }

  private synchronized void setTypes(String serverUuid, List<DiskReport> reports)
      throws IOException {
    Map<String, StorageType> types = new HashMap<>();
    reports.forEach(report -> types.put(report.storageUuid(), report.type()));
    remember(
        update(
            serverUuid,
            builder ->
                builder.getStoragesBuilderList().stream()
                    .filter(storage -> types.containsKey(storage.getUuid()))
                    .forEach(storage -> storage.setType(types.get(storage.getUuid()).name()))));
  }

  /**
   * Notes that a disk has failed. The row may say so before a heartbeat does: because a former
   * leader has written it, or this process has, without an answer.
   */
  private void noteFailure(Disk disk) {
    reported.remove(disk.storageUuid());
    lostSince.put(disk.storageUuid(), clock.millis());
    safeMode.diskSettled(disk.storageUuid());
    newlyFailed.put(disk.storageUuid(), disk);
    LOG.warn("disk {} of server {} failed", disk.storageUuid(), disk.serverUuid());
  }

  // ---- rows and records

  /** A change of a server's row. */
  interface Change {
    void apply(ServerRow.Builder row);
  }

  /** Changes the row of a server; the change is durable when the call returns. */
  synchronized ServerRow changeRow(String serverUuid, Change change) throws IOException {
    known(serverUuid);
    ServerRow row = update(serverUuid, change);
    remember(row);
    return row;
  }

  private ServerRow update(String uuid, Change change) throws IOException {
    Key key = Tables.named(uuid);
    return store.transact(
        key.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SERVER, key)));
          ServerRow.Builder row =
              transaction
                  .get(Tables.SERVER, key)
                  .map(ServerRow::toBuilder)
                  .orElseGet(() -> ServerRow.newBuilder().setUuid(uuid));
          ServerRow before = row.isInitialized() ? row.build() : null;
          change.apply(row);
          ServerRow after = row.build();
          if (!after.equals(before)) {
            transaction.put(Tables.SERVER, key, after);
          }
          return after;
        });
  }

  private static void describe(ServerRow.Builder row, DatanodeID id, Optional<String> rack) {
    row.setHostName(id.getHostName())
        .setIpAddress(id.getIpAddr())
        .setTransferPort(id.getXferPort())
        .setInfoPort(id.getInfoPort())
        .setIpcPort(id.getIpcPort());
    rack.ifPresent(row::setRack);
  }

  /** Moves servers to other racks if the table or the program of the racks tells so now. */
  public void refreshRacks() throws IOException {
    topology.refresh();
    topology.prepare(servers.values().stream().map(Server::ipAddress).toList());
    for (Server server : List.copyOf(servers.values())) {
      Optional<String> rack =
          topology.rackOf(server.hostName(), server.ipAddress(), server.transferPort());
      if (rack.isPresent() && !rack.get().equals(server.rack())) {
        moveToRack(server, rack.get());
      }
    }
  }

  private synchronized void moveToRack(Server server, String rack) throws IOException {
    LOG.info("chunk server {} is in rack {} now, not {}", server.uuid(), rack, server.rack());
    remember(update(server.uuid(), row -> row.setRack(rack)));
  }

  private void remember(ServerRow row) {
    Server known = servers.get(row.getUuid());
    remember(
        toServer(
            row, known != null && known.live(), known == null ? 0 : known.lastHeartbeatMillis()));
  }

  /** Changes a server, if it is known. The next caller of {@link #liveServers} sees the change. */
  private void change(String serverUuid, UnaryOperator<Server> change) {
    servers.computeIfPresent(serverUuid, (uuid, server) -> change.apply(server));
    changes.incrementAndGet();
  }

  private void remember(Server server) {
    for (Disk disk : server.disks()) {
      if (disk.type() != StorageType.DISK) {
        typedDisks = true;
      }
      Disk before = disks.put(disk.storageUuid(), disk);
      if (disk.failed() && before != null && !before.failed()) {
        noteFailure(disk);
      }
    }
    servers.put(server.uuid(), server);
    changes.incrementAndGet();
    if (server.live()) {
      server.disks().stream()
          .filter(disk -> !disk.failed())
          .forEach(disk -> lostSince.remove(disk.storageUuid()));
    }
  }

  private Server toServer(ServerRow row, boolean live, long lastHeartbeatMillis) {
    List<Disk> list = new ArrayList<>();
    for (StorageRow storage : row.getStoragesList()) {
      Disk known = disks.get(storage.getUuid());
      list.add(
          new Disk(
              storage.getUuid(),
              storage.getNumber(),
              row.getUuid(),
              storage.getFailed(),
              known == null ? 0 : known.capacityBytes(),
              known == null ? 0 : known.usedBytes(),
              known == null ? 0 : known.remainingBytes(),
              typeOf(storage),
              known == null ? Disk.NOT_TOLD : known.queuedCalls(),
              known == null ? 0 : known.recentErrors()));
    }
    return new Server(
        row.getUuid(),
        row.getHostName(),
        row.getIpAddress(),
        row.getTransferPort(),
        row.getInfoPort(),
        row.getIpcPort(),
        row.hasRack() ? row.getRack() : RackTopology.DEFAULT_RACK,
        live,
        lastHeartbeatMillis,
        0,
        List.copyOf(list),
        drainOf(row),
        Hibernations.of(row));
  }

  private static StorageType typeOf(StorageRow storage) {
    return storage.hasType() ? StorageType.valueOf(storage.getType()) : StorageType.DISK;
  }

  private Server refreshed(Server s, boolean live, long heartbeatMillis, int activeTransfers) {
    return new Server(
        s.uuid(),
        s.hostName(),
        s.ipAddress(),
        s.transferPort(),
        s.infoPort(),
        s.ipcPort(),
        s.rack(),
        live,
        heartbeatMillis,
        activeTransfers,
        disksOf(s),
        s.drain(),
        s.hibernation());
  }

  private List<Disk> disksOf(String serverUuid) {
    Server server = servers.get(serverUuid);
    return server == null ? List.of() : disksOf(server);
  }

  private List<Disk> disksOf(Server server) {
    return server.disks().stream()
        .map(disk -> disks.getOrDefault(disk.storageUuid(), disk))
        .filter(disk -> disk.serverUuid().equals(server.uuid()))
        .toList();
  }

  private static boolean sameAddress(Server server, DatanodeID id) {
    return server.ipAddress().equals(id.getIpAddr())
        && server.transferPort() == id.getXferPort()
        && server.ipcPort() == id.getIpcPort();
  }
}
