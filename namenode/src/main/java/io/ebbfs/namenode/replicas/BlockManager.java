package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.HeartbeatMonitor;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.datanodes.SharedRandom;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.ScanCursor;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages the replicas of all blocks. Rows are the truth; queues and commands in memory are bounded
 * and follow from rows, reports and time.
 *
 * <p>Thread-safe. One thread calls {@link #tick} about once a second.
 */
public final class BlockManager implements BlockService, TypeMover {
  private static final Logger LOG = LoggerFactory.getLogger(BlockManager.class);

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final HeartbeatMonitor heartbeats;
  private final DatanodeCommandQueue commands;
  private final ReplicaArrivalSignal arrivals = new ReplicaArrivalSignal();
  private final ReplicaTargetChooser chooser;
  private final BlockLocator locator;
  private final RedundancyMonitor redundancy;
  private final BlockReportProcessor reports;
  private final RedundancyScanner scanner;
  private final ExcessReplicaMarker excessReplicas;
  private final InvalidationRows invalidationRows;
  private final InvalidationFeeder feeder;
  private final CorruptMarks marks;
  private final ReplicaInspector inspector;
  private final ReplacedReplicas replaced;
  private final MovableBlocks movable;
  private final Rebalancer rebalancer;
  private final Set<String> disksToForget = new LinkedHashSet<>();
  private final RedundancySettings settings;
  private SafeModeProgress safeModeProgress;
  private boolean wasInSafeMode = true;

  /** A block manager that asks no server to read a replica: marks come from servers alone. */
  public BlockManager(
      MetadataStore store,
      DatanodeRegistry cluster,
      String blockPoolId,
      Clock clock,
      RandomGenerator random,
      RedundancySettings settings) {
    this(store, cluster, blockPoolId, clock, random, settings, ReplicaVerifier.NONE);
  }

  public BlockManager(
      MetadataStore store,
      DatanodeRegistry cluster,
      String blockPoolId,
      Clock clock,
      RandomGenerator random,
      RedundancySettings settings,
      ReplicaVerifier verifier) {
    this.settings = settings;
    SharedRandom shared = new SharedRandom(random);
    this.store = store;
    this.cluster = cluster;
    this.heartbeats = new HeartbeatMonitor(cluster, clock, settings.deadAfterMillis());
    this.commands = new DatanodeCommandQueue(cluster, clock, settings);
    this.chooser = new ReplicaTargetChooser(cluster, clock, shared);
    this.locator = new BlockLocator(cluster, shared, blockPoolId, clock);
    this.invalidationRows =
        new InvalidationRows(
            store, cluster, clock, settings.orphanWaitMillis(), settings.queueLimit());
    this.replaced = new ReplacedReplicas(clock, settings.queueLimit());
    this.movable = new MovableBlocks(store, cluster);
    this.rebalancer =
        new Rebalancer(
            store, cluster, commands, new MovableBlocks(store, cluster), replaced, clock, settings);
    SuspectReplicas suspects = new SuspectReplicas(settings.queueLimit());
    this.redundancy =
        new RedundancyMonitor(
            store,
            cluster,
            commands,
            chooser,
            clock,
            settings,
            suspects,
            invalidationRows,
            replaced);
    this.marks = new CorruptMarks(store, cluster, commands, redundancy);
    this.inspector =
        new ReplicaInspector(store, cluster, marks, verifier, blockPoolId, clock, suspects);
    this.reports =
        new BlockReportProcessor(
            store,
            new ReportedReplicaApplier(
                store,
                cluster,
                arrivals,
                chooser,
                commands,
                redundancy,
                invalidationRows,
                suspects,
                replaced,
                clock),
            invalidationRows,
            clock,
            settings);
    this.scanner = new RedundancyScanner(store, cluster, redundancy, clock, settings);
    this.feeder =
        new InvalidationFeeder(
            cluster, invalidationRows, commands, clock, settings.blocksPerTick());
    this.excessReplicas =
        new ExcessReplicaMarker(store, cluster, commands, settings.reportTravelMillis(), replaced);
  }

  /** Sets the stripes; called once, before the namenode serves. */
  public void bind(StripeService stripes) {
    redundancy.bind(stripes);
    rebalancer.bind(stripes);
    safeModeProgress =
        new SafeModeProgress(
            store, cluster, stripes, settings.safeModeThreshold(), System::nanoTime);
    locator.bind(stripes);
  }

  /** Sets the sequences that skip the ids that servers report; called once, before serving. */
  public void bind(IdGenerators ids) {
    reports.bind(new ReportedIds(ids.blocks(), ids.generationStamps()));
  }

  /**
   * Does the periodic work: dead servers, failed disks, under-replicated blocks, excess replicas,
   * the slow scan. A failure is logged, and the next call tries again.
   */
  public void tick() {
    try {
      scanner.open();
      heartbeats.declareDeadServers().forEach(redundancy::serverDied);
      redundancy.endHibernations();
      if (cluster.inSafeMode()) {
        wasInSafeMode = true;
        if (safeModeProgress.tick()) {
          cluster.blocksAreReadable();
        }
        return;
      }
      if (wasInSafeMode) {
        wasInSafeMode = false;
        checkDisksOutOfService();
      }
      forgetDisks();
      feeder.tick();
      scanner.tick();
      redundancy.tick();
      rebalancer.tick();
    } catch (IOException | RuntimeException e) {
      LOG.error("the block manager's periodic work failed; it is tried again", e);
    }
  }

  /** Examines the blocks on servers and disks that did not come back before safe mode ended. */
  private void checkDisksOutOfService() {
    for (ClusterView.Disk disk : cluster.noteLosses()) {
      redundancy.resumeDisk(disk);
      if (disk.failed()) {
        forgetLater(disk);
      }
    }
  }

  /**
   * Deletes the replica rows of failed disks whose blocks were examined, some at each call. A disk
   * that comes back reports its blocks again.
   */
  private void forgetDisks() throws IOException {
    List<String> todo;
    synchronized (disksToForget) {
      todo = List.copyOf(disksToForget);
    }
    for (String uuid : todo) {
      Optional<ClusterView.Disk> disk = cluster.disk(uuid).filter(ClusterView.Disk::failed);
      if (disk.filter(redundancy::isToCheck).isPresent()) {
        continue;
      }
      if (disk.isEmpty() || !reports.forget(disk.get())) {
        synchronized (disksToForget) {
          disksToForget.remove(uuid);
        }
      }
    }
  }

  // ---- parts that DatanodeFrontEnd calls

  public BlockReportProcessor reports() {
    return reports;
  }

  public DatanodeCommandQueue commands() {
    return commands;
  }

  public BlockLocator locator() {
    return locator;
  }

  /** Levels the disks in the background. */
  public Rebalancer rebalancer() {
    return rebalancer;
  }

  /** What a balancer may move. */
  public MovableBlocks movable() {
    return movable;
  }

  /**
   * A server has got a replica of the block in the place of the one on another server. Nothing is
   * noted of a server that is not known: the name comes from whoever has ordered the move.
   */
  public void replaces(long blockId, String otherServerUuid) {
    cluster.server(otherServerUuid).ifPresent(server -> replaced.note(blockId, server.uuid()));
  }

  /** A disk has failed: its blocks are examined, and its replica rows are deleted. */
  public void diskFailed(ClusterView.Disk disk) {
    redundancy.checkDisk(disk);
    forgetLater(disk);
  }

  private void forgetLater(ClusterView.Disk disk) {
    synchronized (disksToForget) {
      disksToForget.add(disk.storageUuid());
    }
  }

  /**
   * Takes the next deletions for a server; none in safe mode. Each is checked against the rows at
   * this moment.
   */
  public List<Invalidation> takeDeletions(String serverUuid) throws IOException {
    return cluster.inSafeMode()
        ? List.of()
        : redundancy.approve(commands.takeInvalidations(serverUuid));
  }

  // ---- numbers

  /** Blocks in no stripe with fewer live replicas than wanted. */
  public int underReplicatedBlocks() {
    return redundancy.underReplicatedBlocks();
  }

  /** Blocks in no stripe without a live replica. */
  public int missingBlocks() {
    return redundancy.missingBlocks();
  }

  @Override
  public List<MissingBlock> missingAfter(long blockId, int most) throws IOException {
    return redundancy.missingAfter(blockId, most);
  }

  @Override
  public Set<Long> writtenToLeavingServers(List<Long> fileIds) throws IOException {
    Set<String> leaving =
        cluster.allServers().stream()
            .filter(server -> server.drain() == DrainState.DRAINING)
            .flatMap(server -> server.disks().stream())
            .map(ClusterView.Disk::storageUuid)
            .collect(Collectors.toSet());
    return leaving.isEmpty() ? Set.of() : OpenBlockFinder.files(store, fileIds, leaving);
  }

  /** The thread of {@link #tick} calls it. Nothing is ordered in safe mode. */
  @Override
  public TypeMoves.Ordered satisfy(long blockId, BlockStoragePolicy policy) throws IOException {
    return cluster.inSafeMode() ? TypeMoves.Ordered.BUSY : redundancy.satisfy(blockId, policy);
  }

  @Override
  public boolean isReplicating() {
    return pendingReplications() > 0;
  }

  /** Replications that were ordered and have not arrived yet. */
  int pendingReplications() {
    return redundancy.pendingReplications();
  }

  /** Replicas of blocks that the store does not know and of which no delete is known. */
  public long orphanReplicas() {
    return feeder.orphans().replicas();
  }

  /** Replicas of deleted blocks that their servers are to delete, as of a few seconds ago. */
  public long pendingDeletions() {
    return feeder.pending().replicas();
  }

  /** Those of them that are of block groups. */
  public long pendingDeletionsOfGroups() {
    return feeder.pending().ofGroups();
  }

  /** The bytes of {@link #orphanReplicas}. */
  public long orphanBytes() {
    return feeder.orphans().lengthBytes();
  }

  /** Disks out of service whose blocks are still to be examined. */
  public int lostDisksToWalk() {
    return redundancy.lostDisksToWalk();
  }

  /** Blocks of {@link #lostDisksToWalk} that were examined. */
  public long lostDiskBlocksExamined() {
    return redundancy.lostDiskBlocksExamined();
  }

  /** How far the drain of a server is; empty if the server is not being drained. */
  public Optional<DrainProgress> drain(String serverUuid) {
    return redundancy.drain(serverUuid);
  }

  /** What is known of the blocks of a server; empty if the server does not begin to hibernate. */
  public Optional<HibernationProgress> hibernation(String serverUuid) {
    return redundancy.hibernation(serverUuid);
  }

  /**
   * Looks for a block of a server that would not survive another loss while the server is away.
   *
   * @param mostBlocks so many blocks are looked at
   */
  public RedundancyMonitor.Absence whyNotAway(ClusterView.Server server, int mostBlocks)
      throws IOException {
    return redundancy.absence(server, mostBlocks);
  }

  /**
   * Good replicas on a disk, as of the last whole scan of all blocks. If that scan has found none,
   * the replicas that the disk has reported as a whole since.
   */
  public long blocksOn(String storageUuid) {
    return scanner.counted(storageUuid).orElseGet(() -> reportedOn(storageUuid));
  }

  private long reportedOn(String storageUuid) {
    long countedMillis = scanner.progress().completedMillis().orElse(Long.MIN_VALUE);
    return reports
        .lastFull(storageUuid)
        .filter(report -> report.millis() >= countedMillis)
        .map(BlockReportProcessor.FullReport::replicas)
        .orElse(0L);
  }

  /** How far the scan of all blocks is. */
  public ScanCursor.Progress scan() {
    return scanner.progress();
  }

  // ---- BlockService

  @Override
  public List<Target> chooseTargets(WriteRequest request) throws IOException {
    return chooser.choose(request);
  }

  @Override
  public boolean hasTypedDisks() {
    return cluster.hasTypedDisks();
  }

  @Override
  public void giveBack(List<Target> targets) {
    chooser.giveBack(targets);
  }

  @Override
  public BlockPlaces places(
      Transaction transaction, long ownerId, BlockRow block, long offsetBytes, String clientMachine)
      throws IOException {
    return locator.places(transaction, ownerId, block, offsetBytes, clientMachine);
  }

  @Override
  public LocatedBlock located(BlockPlaces where) {
    return locator.located(where);
  }

  @Override
  public BlockHealth health(Transaction transaction, long ownerId, BlockRow block)
      throws IOException {
    return locator.health(transaction, ownerId, block);
  }

  @Override
  public int liveReplicas(Transaction transaction, long ownerId, BlockRow block)
      throws IOException {
    int live = 0;
    for (Replica replica : ReplicaRows.of(transaction, ownerId, block.getBlockId())) {
      if (ReplicaRows.isGood(block, replica.row()) && cluster.isLive(replica.storageUuid())) {
        live++;
      }
    }
    return live;
  }

  @Override
  public CompletableFuture<Void> firstReplica(long ownerId, BlockRow block, long timeoutMillis)
      throws IOException {
    redundancy.checkLater(block.getBlockId());
    CompletableFuture<Void> arrival = arrivals.next(block.getBlockId(), timeoutMillis);
    // The rows show a replica that arrived before somebody waited for it.
    if (store.transact(ownerId, Durability.RELAXED, t -> liveReplicas(t, ownerId, block)) > 0) {
      arrival.complete(null);
    }
    return arrival;
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
    for (Replica replica : ReplicaRows.of(transaction, ownerId, blockId)) {
      deleteRows(transaction, ownerId, blockId, replica.storageUuid());
      gone.add(ReplicaRows.invalidation(blockId, replica).of(block));
      storages.add(replica.storageUuid());
    }
    // Half-written replicas have no rows.
    for (String storage : block.getPipelineStorageUuidsList()) {
      if (storages.add(storage)) {
        gone.add(
            new Invalidation(storage, blockId, block.getGenerationStamp(), block.getLengthBytes())
                .of(block));
      }
    }
    transaction.delete(Tables.BLOCK_OWNER, Tables.blockOwner(blockId));
  }

  private void deleteRows(Transaction transaction, long ownerId, long blockId, String storageUuid) {
    Optional<ClusterView.Disk> disk = cluster.disk(storageUuid);
    if (disk.isPresent()) {
      ReplicaRows.delete(transaction, ownerId, blockId, disk.get());
    } else {
      transaction.delete(Tables.REPLICA, Tables.replica(ownerId, blockId, storageUuid));
    }
  }

  @Override
  public List<Invalidation> setReplication(
      Transaction transaction, long ownerId, long index, int replication) throws IOException {
    Optional<BlockRow> found = transaction.get(Tables.BLOCK, Tables.block(ownerId, index));
    if (found.isEmpty() || found.get().hasStripeId()) {
      return List.of(); // a member of a stripe has one replica, whatever its file wants
    }
    BlockRow block = found.get().toBuilder().setReplication(replication).build();
    transaction.put(Tables.BLOCK, Tables.block(ownerId, index), block);
    redundancy.checkLater(block.getBlockId()); // harmless if the transaction fails
    StoredBlock stored =
        BlockLookup.find(transaction, List.of(block.getBlockId())).get(block.getBlockId());
    if (stored == null || stored.isOutput() || cluster.inSafeMode()) {
      return List.of();
    }
    BlockAssessment assessment = BlockAssessment.of(transaction, cluster, stored);
    if (!assessment.settled() || assessment.pinned()) {
      return List.of();
    }
    List<Invalidation> gone = new ArrayList<>();
    for (Replica replica : excessReplicas.choose(transaction, assessment)) {
      markExcess(transaction, ownerId, block.getBlockId(), replica);
      gone.add(ReplicaRows.invalidation(block.getBlockId(), replica));
    }
    return gone;
  }

  @Override
  public void distrust(
      Transaction transaction, long ownerId, long blockId, long generationStamp, String storageUuid)
      throws IOException {
    // The rows of a failed disk are deleted as a whole.
    Optional<ClusterView.Disk> disk = cluster.disk(storageUuid).filter(d -> !d.failed());
    boolean known =
        transaction.get(Tables.REPLICA, Tables.replica(ownerId, blockId, storageUuid)).isPresent();
    if (disk.isPresent() && !known) {
      ReplicaRow mark =
          ReplicaRows.row(ReplicaStateProto.CORRUPT, generationStamp, ReplicaRows.NOT_REPORTED);
      ReplicaRows.put(transaction, ownerId, blockId, disk.get(), mark);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>The other rows are marked EXCESS, not deleted: a late report would bring a deleted row back
   * as a live replica. A row is deleted when its server reports the deletion.
   */
  @Override
  public List<Invalidation> keepOnly(
      Transaction transaction, long ownerId, BlockRow block, String keepStorageUuid)
      throws IOException {
    long blockId = block.getBlockId();
    List<Replica> replicas = ReplicaRows.of(transaction, ownerId, blockId);
    boolean kept =
        replicas.stream()
            .anyMatch(
                r -> r.storageUuid().equals(keepStorageUuid) && ReplicaRows.isGood(block, r.row()));
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
        gone.add(ReplicaRows.invalidation(blockId, replica));
      }
    }
    redundancy.checkLater(blockId);
    return gone;
  }

  private void markExcess(Transaction transaction, long ownerId, long blockId, Replica replica) {
    ReplicaRow row = replica.row().toBuilder().setState(ReplicaStateProto.EXCESS).build();
    ReplicaRows.change(transaction, cluster, ownerId, blockId, replica.storageUuid(), row);
  }

  @Override
  public void reopened(Transaction transaction, long ownerId, long blockId) throws IOException {
    ReplicaRows.clearNotes(transaction, cluster, ownerId, blockId);
  }

  @Override
  public void invalidate(List<Invalidation> invalidations) {
    invalidationRows.remember(invalidations);
    commands.invalidate(invalidations);
  }

  @Override
  public void reportBad(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException {
    marks.set(blockId, generationStamp, storageUuid, true, why);
  }

  @Override
  public void reportWrongBytes(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException {
    marks.set(blockId, generationStamp, storageUuid, false, why);
  }

  @Override
  public void suspect(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException {
    inspector.suspect(blockId, generationStamp, storageUuid, why);
  }

  /**
   * Asks the servers of suspect replicas, until no question is due. A call may take minutes;
   * several threads may call at the same time.
   */
  public void inspectSuspects() throws IOException {
    while (!Thread.currentThread().isInterrupted() && inspector.inspectOne()) {
      // the next one
    }
  }

  @Override
  public Optional<String> whyHoldersAreUnknown(Collection<String> storageUuids) {
    if (cluster.inSafeMode()) {
      return Optional.of("the namenode is in safe mode and waits for its chunk servers");
    }
    return storageUuids.stream()
        .filter(storage -> cluster.isLive(storage) && !cluster.hasReported(storage))
        .findFirst()
        .map(storage -> "disk " + storage + " has not sent its full report yet");
  }

  @Override
  public Optional<String> whyHoldersAreAway(Collection<String> storageUuids) {
    return storageUuids.stream()
        .flatMap(storage -> cluster.disk(storage).stream())
        .filter(disk -> !disk.failed() && !cluster.isLive(disk.storageUuid()))
        .findFirst()
        .map(
            disk ->
                "disk %s of server %s is out of service and may hold more bytes"
                    .formatted(disk.storageUuid(), disk.serverUuid()));
  }

  @Override
  public Optional<String> whyReadable(GroupHolders holders, BlockRow group) {
    return holders.whyReadable(cluster, group);
  }

  @Override
  public boolean recover(long ownerId, BlockRow block, long newGenerationStamp) throws IOException {
    if (GroupRows.isGroup(block)) {
      return recoverGroup(block, newGenerationStamp);
    }
    Set<String> storages = new LinkedHashSet<>(block.getPipelineStorageUuidsList());
    boolean cuts = block.hasRecoveryLengthBytes();
    if (!cuts) {
      store
          .transact(
              ownerId, Durability.RELAXED, t -> ReplicaRows.of(t, ownerId, block.getBlockId()))
          .forEach(replica -> storages.add(replica.storageUuid()));
    }
    Optional<String> unknown = whyHoldersAreUnknown(storages);
    if (unknown.isPresent()) {
      LOG.info("block {} is recovered later: {}", block.getBlockId(), unknown.get());
      return false;
    }
    // A holder that is out of service may be back when the recovery runs: then it is asked, too.
    // A replica that is cut needs no other one.
    boolean mayNeedAll = block.getLengthBytes() > 0 && !cuts;
    List<ClusterView.Server> servers =
        storages.stream()
            .flatMap(storage -> cluster.disk(storage).stream())
            .filter(disk -> cluster.isLive(disk.storageUuid()) || mayNeedAll && !disk.failed())
            .map(ClusterView.Disk::serverUuid)
            .distinct()
            .flatMap(uuid -> cluster.server(uuid).stream())
            .toList();
    orderRecovery(new DatanodeCommandQueue.Recovery(block, servers, newGenerationStamp), storages);
    return true;
  }

  private boolean recoverGroup(BlockRow group, long newGenerationStamp) throws IOException {
    GroupHolders holders =
        store.transact(
            group.getInternalOwnerId(),
            Durability.RELAXED,
            transaction -> GroupHolders.read(transaction, group));
    Optional<String> unknown = whyHoldersAreUnknown(holders.storages());
    if (unknown.isPresent()) {
      LOG.info("block group {} is recovered later: {}", group.getBlockId(), unknown.get());
      return false;
    }
    orderRecovery(holders.recovery(cluster, group, newGenerationStamp), holders.storages());
    return true;
  }

  /** The server that was heard of last leads the recovery. */
  private void orderRecovery(DatanodeCommandQueue.Recovery recovery, Collection<String> storages)
      throws IOException {
    ClusterView.Server primary =
        recovery.servers().stream()
            .filter(ClusterView.Server::live)
            .max(Comparator.comparingLong(ClusterView.Server::lastHeartbeatMillis))
            .orElseThrow(
                () ->
                    new IOException(
                        "block %d cannot be recovered now: none of its disks %s is in service; try again when one is"
                            .formatted(recovery.block().getBlockId(), storages)));
    commands.recover(primary.uuid(), recovery);
  }
}
