package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.BlockService.MissingBlock;
import io.ebbfs.namenode.replicas.DrainMonitor.Need;
import io.ebbfs.namenode.replicas.LostDiskWalker.Outcome;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.replicas.SuspectReplicas.Suspect;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;

/**
 * Keeps the number of replicas of each block right. Events name blocks to examine. The monitor then
 * decides from the rows and the live disks alone: {@link ReplicationScheduler} replicates a block
 * with too few replicas, {@link ExcessReplicaMarker} marks replicas beyond the wanted number. A
 * member of a stripe is not replicated: the monitor tells the stripe's repair scanner.
 *
 * <p>One thread calls {@link #tick}; the other methods are thread-safe and quick.
 */
public final class RedundancyMonitor {
  private static final long OPEN_RECHECK_MILLIS = 2_000;

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final DatanodeCommandQueue commands;
  private final ExcessReplicaMarker excessReplicas;
  private final BlockCompleter completer;
  private final Clock clock;
  private final RedundancySettings settings;
  private final RedundancyQueue queue;
  private final ReplicationScheduler replications;
  private final TypeMoves typeMoves;
  private final SuspectReplicas suspects;
  private final InvalidationRows invalidationRows;
  private final LostDiskWalker lostDisks;
  private final DrainMonitor drains;
  private final AbsenceCheck absence;
  private final HibernationMonitor hibernations;
  private final ReplicaTargetChooser chooser;
  private volatile StripeService stripes;

  RedundancyMonitor(
      MetadataStore store,
      DatanodeRegistry cluster,
      DatanodeCommandQueue commands,
      ReplicaTargetChooser chooser,
      Clock clock,
      RedundancySettings settings,
      SuspectReplicas suspects,
      InvalidationRows invalidationRows,
      ReplacedReplicas replaced) {
    this.store = store;
    this.cluster = cluster;
    this.commands = commands;
    this.excessReplicas =
        new ExcessReplicaMarker(store, cluster, commands, settings.reportTravelMillis(), replaced);
    this.completer = new BlockCompleter(store, cluster);
    this.clock = clock;
    this.settings = settings;
    this.suspects = suspects;
    this.invalidationRows = invalidationRows;
    this.queue = new RedundancyQueue(settings.queueLimit());
    this.replications =
        new ReplicationScheduler(
            cluster,
            commands,
            chooser,
            clock,
            settings,
            queue,
            this::assess,
            new BlockTypes(store, cluster));
    this.chooser = chooser;
    this.typeMoves = new TypeMoves(cluster, chooser, replications, replaced);
    this.drains = new DrainMonitor(store, cluster, clock, settings, new BlocksOfDrainedServers());
    this.lostDisks = new LostDiskWalker(store, cluster, clock, settings, new BlocksOfLostDisks());
    this.absence = new AbsenceCheck(store, cluster);
    this.hibernations = new HibernationMonitor(cluster, settings, absence, lostDisks::walk);
  }

  // ---- hints ------------------------------------------------------------------------------------

  void bind(StripeService service) {
    stripes = service;
    excessReplicas.bind(service);
    absence.bind(service);
  }

  void check(long blockId) {
    queue.check(blockId);
  }

  void checkLater(long blockId) {
    queue.checkLater(blockId, clock.millis() + OPEN_RECHECK_MILLIS);
  }

  void checkStripe(long stripeId) {
    if (stripes != null) {
      stripes.check(stripeId);
    }
  }

  private void checkLeaving(long stripeId) {
    if (stripes != null) {
      stripes.checkLeaving(stripeId);
    }
  }

  /** Orders the moves of the replicas of a block to the types that a policy wants. */
  TypeMoves.Ordered satisfy(long blockId, BlockStoragePolicy policy) throws IOException {
    Optional<BlockAssessment> block = assess(blockId);
    return block.isEmpty() ? TypeMoves.Ordered.NOTHING : typeMoves.order(block.get(), policy);
  }

  /** A good replica was reported. */
  void arrived(String storageUuid, long blockId) {
    cluster.disk(storageUuid).ifPresent(disk -> replications.arrived(blockId, disk.serverUuid()));
  }

  /** A disk went out of service: {@link LostDiskWalker} examines its blocks from the start. */
  void checkDisk(Disk disk) {
    lostDisks.walk(disk);
  }

  /** A disk is out of service after a restart: the walk over its blocks goes on where it was. */
  void resumeDisk(Disk disk) {
    lostDisks.resume(disk);
  }

  /** Whether blocks of the disk are still to be examined. */
  boolean isToCheck(Disk disk) {
    return lostDisks.isToWalk(disk);
  }

  /** Disks out of service whose blocks are still to be examined. */
  int lostDisksToWalk() {
    return lostDisks.toWalk();
  }

  /** Blocks of these disks that were examined. */
  long lostDiskBlocksExamined() {
    return lostDisks.examined();
  }

  /** How far the drain of a server is; empty if the server is not being drained. */
  Optional<DrainProgress> drain(String serverUuid) {
    return drains.progress(serverUuid);
  }

  /** What is known of the blocks of a server; empty if the server does not begin to hibernate. */
  Optional<HibernationProgress> hibernation(String serverUuid) {
    return hibernations.progress(serverUuid);
  }

  /** See {@link BlockManager#whyNotAway}. */
  Absence absence(Server server, int mostBlocks) throws IOException {
    long looked = 0;
    for (Disk disk : server.disks()) {
      AbsenceCheck.Page page = new AbsenceCheck.Page(0, false, 0, 0, Optional.empty());
      while (!page.atEnd() && looked < mostBlocks) {
        page = absence.look(disk, page.reached(), mostBlocks);
        looked += page.blocks();
        if (page.why().isPresent()) {
          return new Absence(looked, page.why());
        }
      }
    }
    return new Absence(looked, Optional.empty());
  }

  /**
   * What a look at blocks of a server has found.
   *
   * @param blocks that were looked at
   * @param why names the first one that would not survive another loss while the server is away
   */
  public record Absence(long blocks, Optional<String> why) {}

  /** Ends hibernations whose time is over. */
  void endHibernations() throws IOException {
    hibernations.endExpired();
  }

  /** A server is dead: its commands and its pending replications are void. */
  void serverDied(Server server) {
    commands.forget(server.uuid());
    replications.serverDied(server.uuid());
    server.disks().forEach(this::checkDisk);
  }

  int underReplicatedBlocks() {
    return queue.underReplicatedCount();
  }

  int missingBlocks() {
    return queue.missingCount();
  }

  int pendingReplications() {
    return replications.pendingCount();
  }

  /** See {@link BlockService#missingAfter}. */
  List<MissingBlock> missingAfter(long blockId, int most) throws IOException {
    List<MissingBlock> blocks = new ArrayList<>();
    for (long id : queue.missingAfter(blockId, most)) {
      Optional<BlockAssessment> missing = assess(id).filter(block -> block.live().isEmpty());
      OptionalLong file =
          missing.isPresent()
              ? OptionalLong.of(missing.get().stored().ownerId())
              : OptionalLong.empty();
      blocks.add(new MissingBlock(id, file));
    }
    return blocks;
  }

  // ---- the periodic work

  void tick() throws IOException {
    replications.retryOverdue();
    lostDisks.tick();
    drains.tick();
    hibernations.tick();
    for (long blockId : queue.take(settings.blocksPerTick(), clock.millis())) {
      examine(blockId);
    }
    replications.recheckMissing();
    replications.orderReplications();
  }

  /** What the walks do with the blocks that they find. */
  private final class BlocksOfLostDisks implements LostDiskWalker.Blocks {
    @Override
    public Outcome examine(StoredBlock stored, boolean onlyAtRisk) throws IOException {
      long blockId = stored.block().getBlockId();
      if (stored.striped()) {
        if (!onlyAtRisk) {
          queue.check(blockId);
        }
        return stripes == null || stripes.offer(stored.block().getStripeId(), onlyAtRisk)
            ? Outcome.EXAMINED
            : Outcome.WAITS;
      }
      if (onlyAtRisk) {
        noteIfAtRisk(blockId);
        return Outcome.EXAMINED;
      }
      RedundancyMonitor.this.examine(blockId);
      return queue.hasRoom() || queue.isUnderReplicated(blockId)
          ? Outcome.EXAMINED
          : Outcome.LEFT_OUT;
    }

    @Override
    public boolean isOpen(long blockId, OptionalLong stripeId) {
      return stripeId.isPresent()
          ? stripes != null && stripes.awaitsCheck(stripeId.getAsLong())
          : queue.isRepairable(blockId);
    }
  }

  /** What the walks over servers that are drained do with the blocks that they find. */
  private final class BlocksOfDrainedServers implements DrainMonitor.Blocks {
    @Override
    public DrainMonitor.Found look(StoredBlock stored, Disk disk) throws IOException {
      long blockId = stored.block().getBlockId();
      Optional<BlockAssessment> found = assess(blockId);
      if (found.isEmpty() || !found.get().hasGoodOn(disk.storageUuid())) {
        return new DrainMonitor.Found(Need.NONE, false, 0);
      }
      BlockAssessment block = found.get();
      Need need = need(block, disk);
      if (need != Need.NONE && block.striped()) {
        checkLeaving(block.block().getStripeId());
      } else if (block.settled() && !block.striped()) {
        replications.note(blockId, block);
      }
      return new DrainMonitor.Found(need, true, block.block().getLengthBytes());
    }

    private Need need(BlockAssessment block, Disk disk) {
      if (confirmed(block) >= enough(block)) {
        return Need.NONE;
      }
      if (!block.settled()) {
        return Need.OPEN;
      }
      boolean isElsewhere =
          block.live().stream()
              .anyMatch(
                  replica ->
                      !cluster
                          .serversOf(List.of(replica.storageUuid()))
                          .contains(disk.serverUuid()));
      return isElsewhere ? Need.ELSEWHERE_TOO : Need.ONLY_HERE;
    }

    /** The replicas on servers that stay, as far as reports since the registration confirm them. */
    private long confirmed(BlockAssessment block) {
      return block.live().stream()
          .map(Replica::storageUuid)
          .filter(storage -> cluster.isStaying(storage) && cluster.hasReported(storage))
          .count();
    }

    private long enough(BlockAssessment block) {
      return block.striped() || !block.settled()
          ? 1
          : Math.min(block.wanted(), settings.enoughReplicas());
    }

    @Override
    public Optional<String> whyStuck(long blockId) throws IOException {
      Optional<BlockAssessment> found = assess(blockId);
      if (found.isEmpty()) {
        return Optional.empty();
      }
      BlockAssessment block = found.get();
      if (!block.settled()) {
        return Optional.of(
            "block %d is being written, and no server that stays has a replica of it: it can leave once its file is closed"
                .formatted(blockId));
      }
      long staying =
          block.live().stream().filter(replica -> cluster.isStaying(replica.storageUuid())).count();
      if (staying >= enough(block)) {
        return Optional.of(
            "block %d has %d replicas on servers that stay, and reports confirm %d of them since the servers registered: wait for their full block reports"
                .formatted(blockId, staying, confirmed(block)));
      }
      if (block.striped()) {
        long stripeId = block.block().getStripeId();
        return Optional.ofNullable(stripes)
            .flatMap(service -> service.whyStuck(stripeId))
            .map(why -> "block %d of stripe %d: %s".formatted(blockId, stripeId, why));
      }
      if (block.live().isEmpty()) {
        return Optional.of(
            "block %d has no live replica: bring a server or disk back that holds one"
                .formatted(blockId));
      }
      Set<String> holders =
          cluster.serversOf(block.all().stream().map(Replica::storageUuid).toList());
      return chooser
          .whyNone(holders, block.block().getLengthBytes())
          .map(
              why ->
                  "block %d has %d of %d replicas on servers that stay; %s"
                      .formatted(blockId, block.counted().size(), block.wanted(), why));
    }
  }

  private void noteIfAtRisk(long blockId) throws IOException {
    Optional<BlockAssessment> found =
        assess(blockId)
            .filter(block -> block.settled() && !block.striped() && block.servers(cluster) <= 1);
    if (found.isPresent()) {
      replications.note(blockId, found.get());
    }
  }

  /** The state of a block; empty if neither a file nor a stripe has the block. */
  private Optional<BlockAssessment> assess(long blockId) throws IOException {
    return store.transact(
        blockId,
        Durability.RELAXED,
        transaction -> {
          StoredBlock stored = BlockLookup.find(transaction, List.of(blockId)).get(blockId);
          return stored == null || stored.isOutput()
              ? Optional.empty()
              : Optional.of(BlockAssessment.of(transaction, cluster, stored));
        });
  }

  private void examine(long blockId) throws IOException {
    Optional<BlockAssessment> found = assess(blockId);
    if (found.isEmpty()) {
      replications.notNeeded(blockId);
      return;
    }
    BlockAssessment block = found.get();
    if (block.committed() && !block.live().isEmpty()) {
      completer.complete(blockId);
      queue.check(blockId);
      return;
    }
    if (!block.settled()) {
      queue.notUnderReplicated(blockId);
      checkLater(blockId);
      return;
    }
    if (block.live().isEmpty()) {
      inspectMarked(block);
    }
    if (block.striped()) {
      queue.notUnderReplicated(blockId);
      if (block.live().isEmpty()) {
        checkStripe(block.block().getStripeId());
      }
    } else {
      replications.note(blockId, block);
    }
    if (excessReplicas.hasWork(block)) {
      commands.invalidate(excessReplicas.update(blockId));
      if (block.striped()) {
        checkStripe(block.block().getStripeId());
      }
    }
  }

  /**
   * Has the marked replicas of a block without a live one read again: a replica that can be read is
   * the last resort. An excess one may be there after all, if the order to delete it got lost.
   */
  private void inspectMarked(BlockAssessment block) {
    for (Replica replica : block.wrong()) {
      if (CorruptMarks.isFoundBad(replica.row())) {
        inspect(block, replica);
      }
    }
    for (Replica replica : block.excess()) {
      if (!commands.isOrdered(replica.storageUuid(), block.block().getBlockId())) {
        inspect(block, replica);
      }
    }
  }

  private void inspect(BlockAssessment block, Replica replica) {
    suspects.add(
        new Suspect(
            replica.storageUuid(), block.block().getBlockId(), replica.row().getGenerationStamp()),
        "its block has no other replica",
        clock.millis());
  }

  // ---- deletions

  /**
   * Checks deletions at the moment when they are sent. A deletion is right if the replica belongs
   * to no block and a delete explains that (or the replica has been an orphan for long), or if the
   * replica is excess or corrupt and the block has enough other replicas.
   *
   * @return the right deletions; the blocks of the wrong ones are examined again
   */
  List<Invalidation> approve(List<Invalidation> invalidations) throws IOException {
    if (invalidations.isEmpty()) {
      return List.of();
    }
    List<Long> ids = invalidations.stream().map(Invalidation::blockId).distinct().toList();
    List<Invalidation> approved =
        store.transact(
            ids.get(0),
            Durability.RELAXED,
            transaction -> {
              Map<Long, StoredBlock> owners = BlockLookup.find(transaction, ids);
              List<Invalidation> right = new ArrayList<>();
              for (Invalidation invalidation : invalidations) {
                if (mayDelete(transaction, owners.get(invalidation.blockId()), invalidation)) {
                  right.add(invalidation);
                }
              }
              return right;
            });
    invalidations.stream()
        .filter(invalidation -> !approved.contains(invalidation))
        .forEach(invalidation -> checkLater(invalidation.blockId()));
    if (!approved.isEmpty()) {
      // The rows that say why a replica goes must not get lost, or another one would go next.
      store.sync();
    }
    approved.forEach(commands::markOrdered);
    return approved;
  }

  private boolean mayDelete(Transaction transaction, StoredBlock stored, Invalidation order)
      throws IOException {
    if (stored == null) {
      Optional<Disk> disk = cluster.disk(order.storageUuid());
      return disk.isPresent()
          && InvalidationRows.find(transaction, disk.get(), order.blockId())
              .filter(row -> invalidationRows.isDue(order.blockId(), row))
              .isPresent();
    }
    return !stored.isOutput()
        && excessReplicas.mayDelete(
            transaction, BlockAssessment.of(transaction, cluster, stored), order);
  }
}
