package io.ebbfs.namespace.block;

import io.ebbfs.namespace.IdGenerator;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The chunk servers: who they are is durable (table "server"), how they are is in memory and comes
 * with their heartbeats.
 *
 * <p>Thread-safe. Readers see immutable records. A heartbeat replaces one server's record; changes
 * of who a server is or which disks it has (rare) go one at a time, through the store.
 */
public final class ClusterMap implements ClusterView {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterMap.class);
  private static final int PAGE = 500;
  private static final long NEVER = Long.MIN_VALUE;

  /** What a heartbeat says about one disk. */
  public record DiskReport(
      String storageUuid,
      boolean failed,
      long capacityBytes,
      long usedBytes,
      long remainingBytes) {}

  private final MetadataStore store;
  private final IdGenerator storageNumbers;
  private final Clock clock;
  private final BlockSettings settings;
  private final Topology topology;
  private final AtomicLong firstRegisteredMillis = new AtomicLong(NEVER);

  private final Map<String, Server> servers = new ConcurrentHashMap<>();
  private final Map<String, Disk> disks = new ConcurrentHashMap<>();
  // Disks with a full report since their server registered: their rows are what is on them.
  private final Set<String> reported = ConcurrentHashMap.newKeySet();
  // Disks known from before the start that have not reported yet.
  private final Set<String> awaited = ConcurrentHashMap.newKeySet();
  private volatile boolean safeMode = true;

  /** With all servers in one rack. */
  public ClusterMap(
      MetadataStore store, IdGenerator storageNumbers, Clock clock, BlockSettings settings)
      throws IOException {
    this(store, storageNumbers, clock, settings, Topology.none());
  }

  /** Reads the known servers from the store; none of them is live before it registers. */
  public ClusterMap(
      MetadataStore store,
      IdGenerator storageNumbers,
      Clock clock,
      BlockSettings settings,
      Topology topology)
      throws IOException {
    this.topology = topology;
    this.store = store;
    this.storageNumbers = storageNumbers;
    this.clock = clock;
    this.settings = settings;
    Key after = null;
    List<Row<ServerRow>> page;
    do {
      page = store.scanAll(Tables.SERVER, after, PAGE);
      for (Row<ServerRow> row : page) {
        Server server = toServer(row.value(), false, 0);
        remember(server);
        server.disks().stream()
            .filter(disk -> !disk.failed())
            .forEach(disk -> awaited.add(disk.storageUuid()));
        after = row.key();
      }
    } while (page.size() == PAGE);
  }

  // ---- reading ----------------------------------------------------------------------------------

  @Override
  public List<Server> liveServers() {
    return servers.values().stream().filter(Server::live).toList();
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

  /** True if the disk is live and its rows were compared with what is on it since then. */
  boolean hasReported(String storageUuid) {
    return reported.contains(storageUuid) && isLive(storageUuid);
  }

  /** True if heartbeats of the server are overdue, though it does not count as dead yet. */
  boolean isStale(Server server) {
    return clock.millis() - server.lastHeartbeatMillis() > settings.staleAfterMillis();
  }

  @Override
  public boolean inSafeMode() {
    if (safeMode && (awaited.isEmpty() || graceIsOver())) {
      safeMode = false;
      LOG.info("safe mode is over; {} known disks have not reported", awaited.size());
    }
    return safeMode;
  }

  /** Counted from the first registration: before it, servers had no chance. */
  private boolean graceIsOver() {
    long first = firstRegisteredMillis.get();
    return first != NEVER && clock.millis() - first >= settings.graceMillis();
  }

  // ---- changes ----------------------------------------------------------------------------------

  /**
   * A server says who it is. The same uuid at another address takes over once the server at the old
   * one is silent.
   *
   * @throws IOException if a live server has the same uuid
   */
  synchronized void register(DatanodeID id) throws IOException {
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
    topology.refresh();
    ServerRow row = update(id.getDatanodeUuid(), builder -> describe(builder, id));
    row.getStoragesList().forEach(storage -> reported.remove(storage.getUuid()));
    remember(toServer(row, true, clock.millis()));
    firstRegisteredMillis.compareAndSet(NEVER, clock.millis());
  }

  /**
   * Takes note of a heartbeat.
   *
   * @return the disks that failed or vanished since the last one, or empty if the server has to
   *     register first
   */
  Optional<List<Disk>> heartbeat(DatanodeID id, List<DiskReport> reports, int activeTransfers)
      throws IOException {
    Server server = servers.get(id.getDatanodeUuid());
    if (server == null || !server.live() || !sameAddress(server, id)) {
      return Optional.empty();
    }
    List<Disk> lost = changeDisks(server, reports);
    for (DiskReport report : reports) {
      disks.computeIfPresent(
          report.storageUuid(),
          (uuid, disk) ->
              new Disk(
                  uuid,
                  disk.storageNumber(),
                  disk.serverUuid(),
                  disk.failed(),
                  report.capacityBytes(),
                  report.usedBytes(),
                  report.remainingBytes()));
    }
    servers.computeIfPresent(
        server.uuid(), (uuid, s) -> refreshed(s, s.live(), clock.millis(), activeTransfers));
    return Optional.of(lost);
  }

  /** Makes disks known that a report names before any heartbeat did. */
  void ensureDisk(String serverUuid, String storageUuid) throws IOException {
    Disk disk = disks.get(storageUuid);
    if (disk == null || !disk.serverUuid().equals(serverUuid)) {
      addDisks(serverUuid, List.of(storageUuid));
    }
  }

  /** The rows of a disk agree with the disk from now on. */
  void markReported(String storageUuid) {
    reported.add(storageUuid);
    awaited.remove(storageUuid);
  }

  /** Declares servers dead whose heartbeats ended; returns them. */
  List<Server> expire() {
    long deadline = clock.millis() - settings.deadAfterMillis();
    List<Server> died = new ArrayList<>();
    for (Server server : servers.values()) {
      if (server.live() && server.lastHeartbeatMillis() < deadline) {
        servers.computeIfPresent(
            server.uuid(),
            (uuid, s) -> {
              if (!s.live() || s.lastHeartbeatMillis() >= deadline) {
                return s;
              }
              Server dead = refreshed(s, false, s.lastHeartbeatMillis(), 0);
              died.add(dead);
              return dead;
            });
      }
    }
    for (Server server : died) {
      server.disks().forEach(disk -> reported.remove(disk.storageUuid()));
      LOG.warn(
          "chunk server {} at {}:{} is dead: no heartbeat for {} ms",
          server.uuid(),
          server.ipAddress(),
          server.transferPort(),
          clock.millis() - server.lastHeartbeatMillis());
    }
    return died;
  }

  // ---- disks
  // --------------------------------------------------------------------------------------

  private List<Disk> changeDisks(Server server, List<DiskReport> reports) throws IOException {
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
    return changed ? setFailures(server.uuid(), working) : List.of();
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

  private synchronized List<Disk> setFailures(String serverUuid, Set<String> working)
      throws IOException {
    List<Disk> lost = new ArrayList<>();
    ServerRow row =
        update(
            serverUuid,
            builder ->
                builder
                    .getStoragesBuilderList()
                    .forEach(storage -> storage.setFailed(!working.contains(storage.getUuid()))));
    for (StorageRow storage : row.getStoragesList()) {
      Disk before = disks.get(storage.getUuid());
      if (storage.getFailed() && before != null && !before.failed()) {
        lost.add(before);
        reported.remove(storage.getUuid());
        awaited.remove(storage.getUuid());
        LOG.warn("disk {} of server {} failed", storage.getUuid(), serverUuid);
      }
    }
    remember(row);
    return lost;
  }

  // ---- rows and records
  // -----------------------------------------------------------------------------

  private interface Change {
    void apply(ServerRow.Builder row);
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

  private void describe(ServerRow.Builder row, DatanodeID id) {
    row.setHostName(id.getHostName())
        .setIpAddress(id.getIpAddr())
        .setTransferPort(id.getXferPort())
        .setInfoPort(id.getInfoPort())
        .setIpcPort(id.getIpcPort())
        .setRack(topology.rackOf(id.getHostName(), id.getIpAddr(), id.getXferPort()));
  }

  /** Takes over a changed topology, also for servers that have registered. */
  public synchronized void refreshRacks() throws IOException {
    if (!topology.refresh()) {
      return;
    }
    for (Server server : List.copyOf(servers.values())) {
      String rack = topology.rackOf(server.hostName(), server.ipAddress(), server.transferPort());
      if (!rack.equals(server.rack())) {
        LOG.info("chunk server {} is in rack {} now, not {}", server.uuid(), rack, server.rack());
        remember(update(server.uuid(), row -> row.setRack(rack)));
      }
    }
  }

  private void remember(ServerRow row) {
    Server known = servers.get(row.getUuid());
    remember(
        toServer(
            row, known != null && known.live(), known == null ? 0 : known.lastHeartbeatMillis()));
  }

  private void remember(Server server) {
    server.disks().forEach(disk -> disks.put(disk.storageUuid(), disk));
    servers.put(server.uuid(), server);
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
              known == null ? 0 : known.remainingBytes()));
    }
    return new Server(
        row.getUuid(),
        row.getHostName(),
        row.getIpAddress(),
        row.getTransferPort(),
        row.getInfoPort(),
        row.getIpcPort(),
        row.hasRack() ? row.getRack() : Topology.DEFAULT_RACK,
        live,
        lastHeartbeatMillis,
        0,
        List.copyOf(list));
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
        disksOf(s));
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
