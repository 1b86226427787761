package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.BlockOwners.Owned;
import io.ebbfs.namespace.block.Replicas.Replica;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.StripeService;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicas of all blocks. Rows are the truth; what is in memory (queues, orders, who waits) is
 * bounded and follows from rows, reports and time.
 *
 * <p>Thread-safe, except that {@link #tick} is for one thread, which calls it about once a second.
 */
public final class BlockManager implements BlockService {
  private static final Logger LOG = LoggerFactory.getLogger(BlockManager.class);

  private final MetadataStore store;
  private final ClusterMap cluster;
  private final Clock clock;
  private final BlockSettings settings;
  private final Commands commands;
  private final ReplicaWaiters waiters = new ReplicaWaiters();
  private final TargetChooser chooser;
  private final Locator locator;
  private final Redundancy redundancy;
  private final ReplicaReports reports;
  private final BlockScan scan;
  private final Surplus surplus;
  private final Set<String> disksToForget = new LinkedHashSet<>();
  private boolean wasInSafeMode = true;
  private long lastTickMillis;

  public BlockManager(
      MetadataStore store,
      ClusterMap cluster,
      String blockPoolId,
      Clock clock,
      RandomGenerator random,
      BlockSettings settings) {
    SharedRandom shared = new SharedRandom(random);
    this.store = store;
    this.cluster = cluster;
    this.lastTickMillis = clock.millis();
    this.clock = clock;
    this.settings = settings;
    this.commands = new Commands(cluster, clock, settings);
    this.chooser = new TargetChooser(cluster, clock, shared);
    this.locator = new Locator(cluster, shared, blockPoolId, clock);
    this.redundancy = new Redundancy(store, cluster, commands, chooser, clock, settings);
    this.reports =
        new ReplicaReports(store, cluster, waiters, commands, redundancy, clock, settings);
    this.scan = new BlockScan(store, cluster, redundancy, clock, settings);
    this.surplus = new Surplus(store, cluster, commands);
  }

  /** Where hints about stripes go; to be called once, before anything is served. */
  public void bind(StripeService stripes) {
    redundancy.onStripe(stripes::check);
  }

  /**
   * The periodic work: dead servers, lost replicas, copies, surplus, the slow scan. What fails is
   * logged and tried again by the next call.
   */
  public void tick() {
    try {
      // After a stall of this process the heartbeats are waiting to be read: they come first.
      long now = clock.millis();
      boolean stalled = now - lastTickMillis > settings.deadAfterMillis() / 2;
      lastTickMillis = now;
      if (!stalled) {
        cluster.expire().forEach(redundancy::serverDied);
      }
      if (cluster.inSafeMode()) {
        return;
      }
      if (wasInSafeMode) {
        wasInSafeMode = false;
        cluster.allServers().stream()
            .filter(server -> !server.live())
            .flatMap(server -> server.disks().stream())
            .forEach(redundancy::checkDisk);
        cluster.allServers().stream()
            .flatMap(server -> server.disks().stream())
            .filter(ClusterView.Disk::failed)
            .forEach(this::diskFailed);
      }
      forgetDisks();
      scan.tick();
      redundancy.tick();
    } catch (IOException | RuntimeException e) {
      LOG.error("the block manager's periodic work failed; it is tried again", e);
    }
  }

  /** Rows of failed disks go, a stretch at a time; a disk that comes back reports its blocks. */
  private void forgetDisks() throws IOException {
    List<String> todo;
    synchronized (disksToForget) {
      todo = List.copyOf(disksToForget);
    }
    for (String uuid : todo) {
      Optional<ClusterView.Disk> disk = cluster.disk(uuid).filter(ClusterView.Disk::failed);
      if (disk.isEmpty() || !reports.forget(disk.get())) {
        synchronized (disksToForget) {
          disksToForget.remove(uuid);
        }
      }
    }
  }

  // ---- what chunk servers say (see DatanodeFrontEnd)
  // ----------------------------------------------

  ReplicaReports reports() {
    return reports;
  }

  Commands commands() {
    return commands;
  }

  Redundancy redundancy() {
    return redundancy;
  }

  Locator locator() {
    return locator;
  }

  BlockSettings settings() {
    return settings;
  }

  void diskFailed(ClusterView.Disk disk) {
    redundancy.checkDisk(disk);
    synchronized (disksToForget) {
      disksToForget.add(disk.storageUuid());
    }
  }

  // ---- numbers
  // --------------------------------------------------------------------------------------

  /** Plain blocks that have fewer live replicas than they want, as far as is known. */
  public int underReplicatedBlocks() {
    return redundancy.underReplicatedBlocks();
  }

  /** Plain blocks with no live replica, as far as is known. */
  public int missingBlocks() {
    return redundancy.missingBlocks();
  }

  /** Copies that were ordered and have not arrived yet. */
  public int copiesUnderWay() {
    return redundancy.copiesUnderWay();
  }

  /** Replicas that wait to be ordered deleted. */
  public int pendingInvalidations() {
    return commands.pendingInvalidations();
  }

  /** Bytes in good replicas on live disks, of data and parities, as of the last full scan. */
  public long storedBytes() {
    return scan.usage().storedBytes();
  }

  /** When the scan behind {@link #storedBytes} ended; 0 if there was none yet. */
  public long scannedMillis() {
    return scan.usage().scannedMillis();
  }

  /** Good replicas on a disk, as of the last full scan. */
  public long blocksOn(String storageUuid) {
    BlockScan.DiskUsage usage = scan.usage().disks().get(storageUuid);
    return usage == null ? 0 : usage.blocks();
  }

  /** Bytes in good replicas on a disk, as of the last full scan. */
  public long bytesOn(String storageUuid) {
    BlockScan.DiskUsage usage = scan.usage().disks().get(storageUuid);
    return usage == null ? 0 : usage.bytes();
  }

  /** A server as stock clients and tools see it. */
  public static DatanodeInfo describe(ClusterView.Server server) {
    return Locator.info(server);
  }

  // ---- BlockService
  // -----------------------------------------------------------------------------------

  @Override
  public List<Target> chooseTargets(WriteRequest request) throws IOException {
    return chooser.choose(request);
  }

  @Override
  public LocatedBlock locate(
      Transaction transaction, long ownerId, BlockRow block, long offsetBytes, String clientMachine)
      throws IOException {
    return locator.locate(transaction, ownerId, block, offsetBytes, clientMachine);
  }

  @Override
  public int liveReplicas(Transaction transaction, long ownerId, BlockRow block)
      throws IOException {
    int live = 0;
    for (Replica replica : Replicas.of(transaction, ownerId, block.getBlockId())) {
      if (Replicas.isGood(block, replica.row()) && cluster.isLive(replica.storageUuid())) {
        live++;
      }
    }
    return live;
  }

  @Override
  public boolean awaitReplicas(long ownerId, BlockRow block, int replicas, long timeoutMillis)
      throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    long blockId = block.getBlockId();
    redundancy.checkLater(blockId);
    waiters.enter(blockId);
    try {
      while (true) {
        long seen = waiters.news(blockId);
        int live =
            store.transact(ownerId, Durability.RELAXED, t -> liveReplicas(t, ownerId, block));
        if (live >= replicas) {
          return true;
        }
        if (System.nanoTime() - deadline >= 0) {
          return false;
        }
        waiters.await(blockId, seen, deadline);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for replicas of block " + blockId, e);
    } finally {
      waiters.leave(blockId);
    }
  }

  @Override
  public List<Invalidation> release(Transaction transaction, long ownerId, List<Long> indices)
      throws IOException {
    List<Invalidation> gone = new ArrayList<>();
    List<Optional<BlockRow>> blocks =
        transaction.getAll(
            Tables.BLOCK, indices.stream().map(i -> Tables.block(ownerId, i)).toList());
    for (int i = 0; i < indices.size(); i++) {
      if (blocks.get(i).isPresent()) {
        release(transaction, ownerId, blocks.get(i).get(), gone);
        transaction.delete(Tables.BLOCK, Tables.block(ownerId, indices.get(i)));
      }
    }
    return gone;
  }

  private void release(
      Transaction transaction, long ownerId, BlockRow block, List<Invalidation> gone)
      throws IOException {
    long blockId = block.getBlockId();
    Set<String> storages = new LinkedHashSet<>();
    for (Replica replica : Replicas.of(transaction, ownerId, blockId)) {
      deleteRows(transaction, ownerId, blockId, replica.storageUuid());
      gone.add(Replicas.invalidation(blockId, replica));
      storages.add(replica.storageUuid());
    }
    // Half-written replicas have no rows.
    for (String storage : block.getPipelineStorageUuidsList()) {
      if (storages.add(storage)) {
        gone.add(
            new Invalidation(storage, blockId, block.getGenerationStamp(), block.getLengthBytes()));
      }
    }
    transaction.delete(Tables.BLOCK_OWNER, Tables.blockOwner(blockId));
  }

  private void deleteRows(Transaction transaction, long ownerId, long blockId, String storageUuid) {
    Optional<ClusterView.Disk> disk = cluster.disk(storageUuid);
    if (disk.isPresent()) {
      Replicas.delete(transaction, ownerId, blockId, disk.get());
    } else {
      transaction.delete(Tables.REPLICA, Tables.replica(ownerId, blockId, storageUuid));
    }
  }

  @Override
  public List<Invalidation> setReplication(
      Transaction transaction, long ownerId, long index, int replication) throws IOException {
    Optional<BlockRow> found = transaction.get(Tables.BLOCK, Tables.block(ownerId, index));
    if (found.isEmpty() || found.get().hasStripeId()) {
      return List.of(); // a member of a stripe stays single whatever its file wants
    }
    BlockRow block = found.get().toBuilder().setReplication(replication).build();
    transaction.put(Tables.BLOCK, Tables.block(ownerId, index), block);
    redundancy.checkLater(block.getBlockId()); // a hint: free if this transaction fails
    Owned owned =
        BlockOwners.lookUp(transaction, List.of(block.getBlockId())).get(block.getBlockId());
    if (owned == null || owned.isOutput() || cluster.inSafeMode()) {
      return List.of();
    }
    Assessment assessment = Assessment.of(transaction, cluster, owned);
    if (!assessment.settled() || assessment.pinned()) {
      return List.of();
    }
    List<Invalidation> gone = new ArrayList<>();
    for (Replica replica : surplus.choose(transaction, assessment)) {
      markExcess(transaction, ownerId, block.getBlockId(), replica);
      gone.add(Replicas.invalidation(block.getBlockId(), replica));
    }
    return gone;
  }

  /**
   * {@inheritDoc}
   *
   * <p>The rows of the others are marked EXCESS rather than deleted, so that a report that was
   * under way does not bring them back as live ones; they go when their servers say so.
   */
  @Override
  public void distrust(
      Transaction transaction, long ownerId, long blockId, long generationStamp, String storageUuid)
      throws IOException {
    // What was on a failed disk is forgotten as a whole.
    Optional<ClusterView.Disk> disk = cluster.disk(storageUuid).filter(d -> !d.failed());
    boolean known =
        transaction.get(Tables.REPLICA, Tables.replica(ownerId, blockId, storageUuid)).isPresent();
    if (disk.isPresent() && !known) {
      ReplicaRow mark =
          Replicas.row(ReplicaStateProto.CORRUPT, generationStamp, Replicas.NOT_REPORTED);
      Replicas.put(transaction, ownerId, blockId, disk.get(), mark);
    }
  }

  @Override
  public List<Invalidation> keepOnly(
      Transaction transaction, long ownerId, BlockRow block, String keepStorageUuid)
      throws IOException {
    long blockId = block.getBlockId();
    List<Replica> replicas = Replicas.of(transaction, ownerId, blockId);
    boolean kept =
        replicas.stream()
            .anyMatch(
                r -> r.storageUuid().equals(keepStorageUuid) && Replicas.isGood(block, r.row()));
    if (!kept) {
      throw new IOException(
          ("block %d has no good replica on disk %s, where its only one was to stay: choose another"
                  + " disk")
              .formatted(blockId, keepStorageUuid));
    }
    List<Invalidation> gone = new ArrayList<>();
    for (Replica replica : replicas) {
      if (!replica.storageUuid().equals(keepStorageUuid)) {
        if (replica.finalized()) {
          markExcess(transaction, ownerId, blockId, replica);
        }
        gone.add(Replicas.invalidation(blockId, replica));
      }
    }
    redundancy.checkLater(blockId);
    return gone;
  }

  private static void markExcess(
      Transaction transaction, long ownerId, long blockId, Replica replica) {
    ReplicaRow row = replica.row().toBuilder().setState(ReplicaStateProto.EXCESS).build();
    transaction.put(Tables.REPLICA, Tables.replica(ownerId, blockId, replica.storageUuid()), row);
  }

  @Override
  public void invalidate(List<Invalidation> invalidations) {
    commands.invalidate(invalidations);
  }

  @Override
  public void reportBad(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException {
    Optional<Owned> changed =
        BlockOwners.transact(
            store,
            blockId,
            Durability.SYNCED,
            transaction -> {
              Owned owned =
                  BlockOwners.lock(transaction, List.of(blockId), RowLock.Mode.EXCLUSIVE)
                      .get(blockId);
              return owned != null
                      && !owned.isOutput()
                      && markCorrupt(transaction, owned, generationStamp, storageUuid)
                  ? Optional.of(owned)
                  : Optional.empty();
            });
    if (changed.isPresent()) {
      LOG.warn("replica of block {} on disk {} is bad: {}", blockId, storageUuid, why);
      redundancy.check(blockId);
      if (changed.get().striped()) {
        redundancy.checkStripe(changed.get().block().getStripeId());
      }
    }
  }

  private static boolean markCorrupt(
      Transaction transaction, Owned owned, long generationStamp, String storageUuid)
      throws IOException {
    var key = Tables.replica(owned.ownerId(), owned.block().getBlockId(), storageUuid);
    Optional<ReplicaRow> row = transaction.get(Tables.REPLICA, key);
    if (row.isEmpty()
        || row.get().getState() != ReplicaStateProto.FINALIZED
        || row.get().getGenerationStamp() != generationStamp) {
      return false;
    }
    transaction.put(
        Tables.REPLICA, key, row.get().toBuilder().setState(ReplicaStateProto.CORRUPT).build());
    return true;
  }

  @Override
  public void recover(long ownerId, BlockRow block, long newGenerationStamp) throws IOException {
    Set<String> storages = new LinkedHashSet<>(block.getPipelineStorageUuidsList());
    store
        .transact(ownerId, Durability.RELAXED, t -> Replicas.of(t, ownerId, block.getBlockId()))
        .forEach(replica -> storages.add(replica.storageUuid()));
    List<ClusterView.Server> servers =
        storages.stream()
            .filter(cluster::isLive)
            .flatMap(storage -> cluster.disk(storage).stream())
            .flatMap(disk -> cluster.server(disk.serverUuid()).stream())
            .collect(
                java.util.stream.Collectors.toMap(
                    ClusterView.Server::uuid, s -> s, (a, b) -> a, java.util.LinkedHashMap::new))
            .values()
            .stream()
            .toList();
    ClusterView.Server primary =
        servers.stream()
            .max(Comparator.comparingLong(ClusterView.Server::lastHeartbeatMillis))
            .orElseThrow(
                () ->
                    new IOException(
                        "block %d cannot be recovered now: none of its disks %s is in service; try again when one is"
                            .formatted(block.getBlockId(), storages)));
    commands.recover(primary.uuid(), new Commands.Recovery(block, servers, newGenerationStamp));
  }
}
