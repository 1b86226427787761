package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.ReportedReplica.Kind;
import io.ebbfs.namenode.replicas.SuspectReplicas.Suspect;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the replica rows that follow from news of replicas, and hands on the effects: deletions to
 * order, blocks and stripes to check. Corrupt replicas that a report reveals are marked here.
 *
 * <p>A row that is CORRUPT or EXCESS stays so while the same generation is reported. Such a replica
 * is to be deleted; only its deletion changes that, or {@link ExcessReplicaMarker}, if the block
 * needs the replica after all, or {@link ReplicaInspector}, if the replica was bad by the word of
 * its server: then the report has the server read the replica again.
 *
 * <p>A new replica of a member of a stripe is CORRUPT too, until a commit writes its row: a repair
 * wrote the replica, and nobody has verified it. An attempt that ends without a commit leaves such
 * rows itself ({@link BlockService#distrust}), because a full report may bring the replica later.
 *
 * <p>Thread-safe; the caller makes sure that news of one disk come one batch at a time.
 */
final class ReportedReplicaApplier {
  private static final Logger LOG = LoggerFactory.getLogger(ReportedReplicaApplier.class);
  private static final int BATCH = 64;

  /** What is to be done after the commit of a batch. */
  private static final class Effects {
    private final List<Long> arrived = new ArrayList<>();
    private final List<Long> fresh = new ArrayList<>();
    private final List<Long> deleted = new ArrayList<>();
    private final List<Invalidation> invalidations = new ArrayList<>();
    private final List<Invalidation> leaving = new ArrayList<>();
    private final List<Long> changedBlocks = new ArrayList<>();
    private final List<Long> changedStripes = new ArrayList<>();
    private final List<Suspect> suspects = new ArrayList<>();
  }

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final ReplicaArrivalSignal arrivals;
  private final ReplicaTargetChooser chooser;
  private final DatanodeCommandQueue commands;
  private final RedundancyMonitor redundancy;
  private final InvalidationRows invalidationRows;
  private final SuspectReplicas suspects;
  private final ReplacedReplicas replaced;
  private final Clock clock;

  ReportedReplicaApplier(
      MetadataStore store,
      DatanodeRegistry cluster,
      ReplicaArrivalSignal arrivals,
      ReplicaTargetChooser chooser,
      DatanodeCommandQueue commands,
      RedundancyMonitor redundancy,
      InvalidationRows invalidationRows,
      SuspectReplicas suspects,
      ReplacedReplicas replaced,
      Clock clock) {
    this.store = store;
    this.cluster = cluster;
    this.arrivals = arrivals;
    this.chooser = chooser;
    this.commands = commands;
    this.redundancy = redundancy;
    this.invalidationRows = invalidationRows;
    this.suspects = suspects;
    this.replaced = replaced;
    this.clock = clock;
  }

  /**
   * Applies news of one disk, in short transactions of a bounded number of blocks.
   *
   * @param justWritten whether the replicas were written a moment ago, as an incremental report
   *     says
   */
  void applyAll(Disk disk, List<ReportedReplica> reports, boolean justWritten) throws IOException {
    for (int i = 0; i < reports.size(); i += BATCH) {
      List<ReportedReplica> batch = reports.subList(i, Math.min(i + BATCH, reports.size()));
      List<Long> ids = batch.stream().map(ReportedReplica::blockId).distinct().toList();
      Effects effects =
          OptimisticTransactions.transact(
              store,
              disk.storageNumber(),
              Durability.RELAXED,
              transaction -> {
                Map<Long, StoredBlock> owners =
                    BlockLookup.lock(transaction, ids, RowLock.Mode.SHARED);
                Effects batchEffects = new Effects();
                for (ReportedReplica report : batch) {
                  StoredBlock stored = owners.get(report.blockId());
                  apply(transaction, disk, stored, report, justWritten, batchEffects);
                }
                return batchEffects;
              });
      carryOut(disk, effects);
    }
  }

  private void carryOut(Disk disk, Effects effects) {
    effects.leaving.forEach(commands::markOrdered);
    effects.deleted.forEach(id -> commands.confirmDeleted(disk.storageUuid(), id));
    commands.invalidate(effects.invalidations);
    chooser.arrived(disk.storageUuid(), effects.fresh.size());
    effects.fresh.forEach(id -> replaced.forget(id, disk.serverUuid()));
    effects.arrived.forEach(
        id -> {
          redundancy.arrived(disk.storageUuid(), id);
          arrivals.wake(id);
        });
    effects.changedBlocks.forEach(redundancy::check);
    effects.suspects.forEach(
        suspect -> suspects.add(suspect, "its server still reports it", clock.millis()));
    effects.changedStripes.stream().distinct().forEach(redundancy::checkStripe);
  }

  private void apply(
      Transaction transaction,
      Disk disk,
      StoredBlock stored,
      ReportedReplica report,
      boolean justWritten,
      Effects effects)
      throws IOException {
    if (stored == null) {
      applyUnknown(transaction, disk, report, effects);
    } else if (stored.isOutput()) {
      if (stored.owner().hasOwnerId()) {
        LOG.error(
            "block {} belongs to owner {}, index {}, which has another block there: run the"
                + " metadata check",
            report.blockId(),
            stored.ownerId(),
            stored.owner().getIndex());
      }
      // A replica of an output is kept: the commit of its transition writes the rows.
    } else if (report.kind() == Kind.WRITING
        && (justWritten || !isLeftOpen(stored.block(), report))) {
      // The server reports again when the replica is finalized.
    } else if (report.isGone()) {
      applyGone(transaction, disk, stored, report, effects);
    } else {
      applyPresent(transaction, disk, stored, report, justWritten, effects);
    }
  }

  private void applyUnknown(
      Transaction transaction, Disk disk, ReportedReplica report, Effects effects)
      throws IOException {
    transaction.delete(
        Tables.STORAGE_REPLICA, Tables.storageReplica(disk.storageNumber(), report.blockId()));
    if (report.isGone()) {
      InvalidationRows.delete(transaction, disk, report.blockId());
      effects.deleted.add(report.blockId());
    } else if (invalidationRows.noteReported(transaction, disk, invalidation(disk, report))) {
      effects.invalidations.add(invalidation(disk, report));
    }
  }

  private void applyGone(
      Transaction transaction,
      Disk disk,
      StoredBlock stored,
      ReportedReplica report,
      Effects effects)
      throws IOException {
    Optional<ReplicaRow> row = ReplicaRows.find(transaction, disk, stored, report.blockId());
    if (report.kind() == Kind.DELETED
        && row.isPresent()
        && row.get().getGenerationStamp() > report.generationStamp()) {
      return; // the server deleted an older generation; the newer one is there
    }
    ReplicaRows.delete(transaction, stored.ownerId(), report.blockId(), disk);
    effects.deleted.add(report.blockId());
    if (row.isPresent()) {
      changed(stored, report.blockId(), effects);
    }
  }

  private void applyPresent(
      Transaction transaction,
      Disk disk,
      StoredBlock stored,
      ReportedReplica report,
      boolean justWritten,
      Effects effects)
      throws IOException {
    BlockRow block = stored.block();
    Optional<ReplicaRow> known = ReplicaRows.find(transaction, disk, stored, report.blockId());
    if (report.kind() == Kind.ABANDONED && ReplicaRows.isOpen(block)) {
      return; // block recovery decides on this replica
    }
    if (known.isPresent() && isToBeDeleted(known.get(), report)) {
      applyToBeDeleted(transaction, disk, stored, report, known.get(), effects);
      return;
    }
    if (known.isPresent() && known.get().getGenerationStamp() > report.generationStamp()) {
      return; // late news of a generation that was replaced on this disk
    }
    boolean corrupt =
        report.kind() == Kind.WRITING
            || isWrong(block, report)
            || (known.isEmpty()
                && (isUnverified(transaction, disk, block, justWritten)
                    || isExcessOfStripe(transaction, stored)));
    boolean leaves = !corrupt && known.isEmpty() && isOrderedAway(transaction, disk, stored);
    ReplicaStateProto usable = leaves ? ReplicaStateProto.EXCESS : ReplicaStateProto.FINALIZED;
    ReplicaRow row =
        ReplicaRows.row(
            corrupt ? ReplicaStateProto.CORRUPT : usable,
            report.generationStamp(),
            report.lengthBytes());
    if (leaves) {
      effects.leaving.add(invalidation(disk, report));
    }
    if (known.isEmpty() || !known.get().equals(row)) {
      ReplicaRows.put(transaction, stored.ownerId(), report.blockId(), disk, row);
      changed(stored, report.blockId(), effects);
    }
    if (!corrupt) {
      effects.arrived.add(report.blockId());
    }
    if (known.isEmpty()) {
      effects.fresh.add(report.blockId());
    }
  }

  /**
   * Whether the server was told to delete the block as an excess replica, on another of its disks.
   * An order names no disk: if the replica has moved within the server meanwhile, it is deleted
   * where it is now. A copy that takes the place of a bad replica did not move, and stays.
   */
  private boolean isOrderedAway(Transaction transaction, Disk disk, StoredBlock stored)
      throws IOException {
    Optional<Server> server = cluster.server(disk.serverUuid());
    if (server.isEmpty()) {
      return false;
    }
    long blockId = stored.block().getBlockId();
    for (Disk other : server.get().disks()) {
      boolean ordered =
          !other.storageUuid().equals(disk.storageUuid())
              && !other.failed()
              && commands.isOrdered(other.storageUuid(), blockId);
      if (ordered && isExcess(transaction, stored.ownerId(), blockId, other)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isExcess(Transaction transaction, long ownerId, long blockId, Disk disk)
      throws IOException {
    return transaction
        .get(Tables.REPLICA, Tables.replica(ownerId, blockId, disk.storageUuid()))
        .filter(row -> row.getState() == ReplicaStateProto.EXCESS)
        .isPresent();
  }

  /** The row keeps its state; a lost order to delete the replica is given again. */
  private void applyToBeDeleted(
      Transaction transaction,
      Disk disk,
      StoredBlock stored,
      ReportedReplica report,
      ReplicaRow known,
      Effects effects) {
    if (known.getLengthBytes() == ReplicaRows.NOT_REPORTED) {
      ReplicaRow row = known.toBuilder().setLengthBytes(report.lengthBytes()).build();
      ReplicaRows.put(transaction, stored.ownerId(), report.blockId(), disk, row);
      changed(stored, report.blockId(), effects);
    }
    if (CorruptMarks.isFoundBad(known)) {
      effects.suspects.add(
          new Suspect(disk.storageUuid(), report.blockId(), report.generationStamp()));
    }
    if (known.getState() == ReplicaStateProto.EXCESS
        && !commands.isOrdered(disk.storageUuid(), report.blockId())) {
      effects.invalidations.add(invalidation(disk, report));
    }
  }

  private static boolean isToBeDeleted(ReplicaRow row, ReportedReplica report) {
    return row.getState() != ReplicaStateProto.FINALIZED
        && row.getGenerationStamp() == report.generationStamp();
  }

  /**
   * True if a writer went away and the block was closed under another generation. Example: an
   * append raised the stamp on one server, the client died, and the lease ended on the old stamp.
   * Such a replica is never finalized; the block needs a replica in its place. Only a full report
   * is believed: an incremental one may be late, and the replica finalized since.
   */
  private static boolean isLeftOpen(BlockRow block, ReportedReplica report) {
    return !ReplicaRows.isOpen(block) && report.generationStamp() != block.getGenerationStamp();
  }

  /**
   * True if the replica differs from the block in generation or length. A replica of a newer
   * generation is not wrong: its commit has not happened yet. The replica is kept, and it counts
   * after the commit.
   */
  static boolean isWrong(BlockRow block, ReportedReplica report) {
    if (ReplicaRows.isOpen(block) || report.generationStamp() > block.getGenerationStamp()) {
      return false;
    }
    return report.kind() == Kind.ABANDONED
        || !ReplicaRows.agrees(block, report.generationStamp(), report.lengthBytes());
  }

  /**
   * True if a transition without a commit wrote the replica. A commit verifies the replica and then
   * writes its row. So a new replica of a member of a stripe that has no row is not trusted, even
   * after its repair has given up.
   */
  private boolean isUnverified(
      Transaction transaction, Disk disk, BlockRow block, boolean justWritten) throws IOException {
    // A late report may bring the copy that an earlier attempt to encode the block has made.
    return block.hasTransitionId()
        || (block.hasStripeId() && justWritten && !isFromWriter(disk, block))
        || BlockAssessment.isUnverified(transaction, block, disk.storageUuid());
  }

  /**
   * True if the client that wrote the block group of a block sent the block to the server of that
   * disk. A server may have put the block on another one of its disks than the namenode chose.
   */
  private boolean isFromWriter(Disk disk, BlockRow block) {
    return block.hasGroupFileId()
        && block.getPipelineStorageUuidsList().stream()
            .flatMap(storage -> cluster.disk(storage).stream())
            .anyMatch(chosen -> chosen.serverUuid().equals(disk.serverUuid()));
  }

  /**
   * True if the block is a member of a stripe and has a live replica elsewhere. The new replica is
   * on a disk that came back, or is a copy that never passed its checks. Of the two, the known
   * replica must stay.
   */
  private boolean isExcessOfStripe(Transaction transaction, StoredBlock stored) throws IOException {
    return stored.block().hasStripeId()
        && !BlockAssessment.of(transaction, cluster, stored).live().isEmpty();
  }

  private static void changed(StoredBlock stored, long blockId, Effects effects) {
    effects.changedBlocks.add(blockId);
    if (stored.striped()) {
      effects.changedStripes.add(stored.block().getStripeId());
    }
  }

  private static Invalidation invalidation(Disk disk, ReportedReplica report) {
    return new Invalidation(
        disk.storageUuid(), report.blockId(), report.generationStamp(), report.lengthBytes());
  }
}
