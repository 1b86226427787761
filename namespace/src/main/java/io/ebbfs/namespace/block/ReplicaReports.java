package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.BlockOwners.Owned;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.block.ClusterView.Disk;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the rows of replicas in line with what the disks report.
 *
 * <p><b>Why this is correct.</b> Reports of one disk are processed one at a time (under {@link
 * #lockOf}), so each replica row has one reporting writer. The other writers (a file that is
 * deleted, a stripe that takes over a block, surplus that is marked) hold the owner's row lock
 * exclusively; a report holds it <em>shared</em> and looks the owner up again under it. So reports
 * of different disks do not wait for each other, a report never writes under an owner that the
 * block has just left, and never brings back rows of a block that was just deleted.
 *
 * <p>A full report is compared with the rows first without any lock; only where they differ, a
 * change is made, in short transactions of a bounded number of blocks. A full report may have been
 * made before incremental ones that arrived earlier, so it is not believed about replicas that came
 * or went a short while ago ({@link RecentReplicas}): a replica would be lost that is there, or,
 * worse, one would count that is not. All commits are relaxed: what a machine crash takes is
 * reported again.
 *
 * <p>A row that is CORRUPT or EXCESS stays so whatever is reported about the same generation: such
 * a replica is doomed, and only its deletion (or {@link Redundancy}, if it turns out to be needed
 * after all) ends that. A replica of a member of a stripe that is new and that no commit has told
 * of is CORRUPT too: it was written by a repair, and nobody has verified it. An attempt that ends
 * without a commit leaves such rows itself ({@link BlockService#distrust}), for what only a full
 * report will tell of.
 */
final class ReplicaReports {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaReports.class);
  private static final int BATCH = 64;
  private static final int PAGE = 1_000;
  private static final int LOCKS = 256;

  /** What a disk says about one block. */
  record Report(long blockId, long generationStamp, long lengthBytes, Kind kind) {}

  /** The kinds of news about a replica. */
  enum Kind {
    /** The replica is finalized. */
    FINALIZED,
    /** Some half-written replica that nobody is writing any more. */
    ABANDONED,
    /** The replica is being written. */
    WRITING,
    /** The server says that it deleted the replica. */
    DELETED,
    /** A full report does not have it. */
    MISSING
  }

  /** What follows from a committed batch. */
  private static final class Effects {
    private final List<Long> arrived = new ArrayList<>();
    private final List<Long> deleted = new ArrayList<>();
    private final List<Invalidation> invalidations = new ArrayList<>();
    private final List<Long> changedBlocks = new ArrayList<>();
    private final List<Long> changedStripes = new ArrayList<>();
  }

  private final MetadataStore store;
  private final ClusterMap cluster;
  private final ReplicaWaiters waiters;
  private final RecentReplicas arrivals;
  private final RecentReplicas deletions;
  private final Commands commands;
  private final Redundancy redundancy;
  private final Clock clock;
  private final Object[] locks = new Object[LOCKS];

  ReplicaReports(
      MetadataStore store,
      ClusterMap cluster,
      ReplicaWaiters waiters,
      Commands commands,
      Redundancy redundancy,
      Clock clock,
      BlockSettings settings) {
    this.store = store;
    this.cluster = cluster;
    this.waiters = waiters;
    this.arrivals = new RecentReplicas(settings.queueLimit(), settings.reportTravelMillis());
    this.deletions = new RecentReplicas(settings.queueLimit(), settings.reportTravelMillis());
    this.commands = commands;
    this.redundancy = redundancy;
    this.clock = clock;
    for (int i = 0; i < LOCKS; i++) {
      locks[i] = new Object();
    }
  }

  private Object lockOf(Disk disk) {
    return locks[Math.floorMod(disk.storageUuid().hashCode(), LOCKS)];
  }

  /** News of single replicas, in the order in which they happened. */
  void incremental(Disk disk, List<Report> reports) throws IOException {
    long now = clock.millis();
    synchronized (lockOf(disk)) {
      for (Report report : reports) {
        if (report.kind() == Kind.FINALIZED) {
          arrivals.note(disk.storageUuid(), report.blockId(), now);
        } else if (report.kind() == Kind.DELETED) {
          deletions.note(disk.storageUuid(), report.blockId(), now);
        }
      }
      applyAll(disk, reports, true);
    }
  }

  /** All replicas on a disk; what is not among them is not on it. */
  void full(Disk disk, List<Report> reports) throws IOException {
    long now = clock.millis();
    synchronized (lockOf(disk)) {
      List<Report> sorted =
          reports.stream()
              .filter(report -> !deletions.has(disk.storageUuid(), report.blockId(), now))
              .sorted(Comparator.comparingLong(Report::blockId))
              .toList();
      List<Report> differences = new ArrayList<>();
      int next = 0;
      Key after = null;
      List<Row<StorageReplicaRow>> page;
      do {
        page = rowsOf(disk, after);
        boolean last = page.size() < PAGE;
        long end = last ? Long.MAX_VALUE : page.get(page.size() - 1).key().firstLong();
        int from = next;
        while (next < sorted.size() && sorted.get(next).blockId() <= end) {
          next++;
        }
        compare(disk, page, sorted.subList(from, next), now, differences);
        applyAll(disk, differences, false);
        differences.clear();
        after = last ? null : page.get(page.size() - 1).key();
      } while (after != null);
    }
  }

  /**
   * Deletes rows of a disk that is gone for good, a bounded number at a time.
   *
   * @return whether rows are left
   */
  boolean forget(Disk disk) throws IOException {
    synchronized (lockOf(disk)) {
      List<Row<StorageReplicaRow>> page = rowsOf(disk, null);
      applyAll(
          disk,
          page.stream().map(row -> new Report(row.key().firstLong(), 0, 0, Kind.MISSING)).toList(),
          false);
      return page.size() == PAGE;
    }
  }

  private List<Row<StorageReplicaRow>> rowsOf(Disk disk, Key after) throws IOException {
    return store.transact(
        disk.storageNumber(),
        Durability.RELAXED,
        transaction -> transaction.scan(Tables.STORAGE_REPLICA, disk.storageNumber(), after, PAGE));
  }

  /** Merges a stretch of the rows with the same stretch of the report, both in order of ids. */
  private void compare(
      Disk disk,
      List<Row<StorageReplicaRow>> rows,
      List<Report> reports,
      long nowMillis,
      List<Report> differences)
      throws IOException {
    int r = 0;
    List<Report> inBoth = new ArrayList<>();
    for (Row<StorageReplicaRow> row : rows) {
      long id = row.key().firstLong();
      while (r < reports.size() && reports.get(r).blockId() < id) {
        differences.add(reports.get(r++));
      }
      if (r < reports.size() && reports.get(r).blockId() == id) {
        inBoth.add(reports.get(r++));
      } else if (!arrivals.has(disk.storageUuid(), id, nowMillis)) {
        differences.add(new Report(id, 0, 0, Kind.MISSING));
      }
    }
    differences.addAll(reports.subList(r, reports.size()));
    for (int i = 0; i < inBoth.size(); i += PAGE) {
      differences.addAll(unlikeRows(disk, inBoth.subList(i, Math.min(i + PAGE, inBoth.size()))));
    }
  }

  /** Those of the reports that are not what the rows of replicas say already. */
  private List<Report> unlikeRows(Disk disk, List<Report> reports) throws IOException {
    return store.transact(
        disk.storageNumber(),
        Durability.RELAXED,
        transaction -> {
          Map<Long, Owned> owners =
              BlockOwners.lookUp(
                  transaction, reports.stream().map(Report::blockId).distinct().toList());
          List<Report> unlike = new ArrayList<>();
          for (Report report : reports) {
            Owned owned = owners.get(report.blockId());
            if (owned == null
                || owned.isOutput()
                || !isAsReported(transaction, disk, owned, report)) {
              unlike.add(report);
            }
          }
          return unlike;
        });
  }

  private static boolean isAsReported(
      Transaction transaction, Disk disk, Owned owned, Report report) throws IOException {
    return report.kind() == Kind.FINALIZED
        && replica(transaction, disk, owned, report.blockId())
            .filter(
                row ->
                    row.getState() == ReplicaStateProto.FINALIZED
                        && row.getGenerationStamp() == report.generationStamp()
                        && row.getLengthBytes() == report.lengthBytes()
                        && !isWrong(owned.block(), report))
            .isPresent();
  }

  private static Optional<ReplicaRow> replica(
      Transaction transaction, Disk disk, Owned owned, long blockId) throws IOException {
    return transaction.get(
        Tables.REPLICA, Tables.replica(owned.ownerId(), blockId, disk.storageUuid()));
  }

  // ---- changes
  // --------------------------------------------------------------------------------------

  private void applyAll(Disk disk, List<Report> reports, boolean justWritten) throws IOException {
    for (int i = 0; i < reports.size(); i += BATCH) {
      List<Report> batch = reports.subList(i, Math.min(i + BATCH, reports.size()));
      List<Long> ids = batch.stream().map(Report::blockId).distinct().toList();
      Effects effects =
          BlockOwners.transact(
              store,
              disk.storageNumber(),
              Durability.RELAXED,
              transaction -> {
                Map<Long, Owned> owners = BlockOwners.lock(transaction, ids, RowLock.Mode.SHARED);
                Effects batchEffects = new Effects();
                for (Report report : batch) {
                  Owned owned = owners.get(report.blockId());
                  apply(transaction, disk, owned, report, justWritten, batchEffects);
                }
                return batchEffects;
              });
      carryOut(disk, effects);
    }
  }

  private void carryOut(Disk disk, Effects effects) {
    effects.deleted.forEach(id -> commands.confirmDeleted(disk.storageUuid(), id));
    commands.invalidate(effects.invalidations);
    effects.arrived.forEach(
        id -> {
          redundancy.arrived(disk.storageUuid(), id);
          waiters.wake(id);
        });
    effects.changedBlocks.forEach(redundancy::check);
    effects.changedStripes.stream().distinct().forEach(redundancy::checkStripe);
  }

  private void apply(
      Transaction transaction,
      Disk disk,
      Owned owned,
      Report report,
      boolean justWritten,
      Effects effects)
      throws IOException {
    boolean gone = report.kind() == Kind.DELETED || report.kind() == Kind.MISSING;
    if (owned == null) {
      transaction.delete(
          Tables.STORAGE_REPLICA, Tables.storageReplica(disk.storageNumber(), report.blockId()));
      if (gone) {
        effects.deleted.add(report.blockId());
      } else {
        effects.invalidations.add(invalidation(disk, report));
      }
    } else if (owned.isOutput()) {
      if (owned.owner().hasOwnerId()) {
        LOG.error(
            "block {} belongs to owner {}, index {}, which has another block there: run the metadata"
                + " check",
            report.blockId(),
            owned.ownerId(),
            owned.owner().getIndex());
      }
      // An output of a running transition is kept; its commit writes the rows.
    } else if (report.kind() == Kind.WRITING) {
      // Its end will be reported.
    } else if (gone) {
      applyGone(transaction, disk, owned, report, effects);
    } else {
      applyPresent(transaction, disk, owned, report, justWritten, effects);
    }
  }

  private void applyGone(
      Transaction transaction, Disk disk, Owned owned, Report report, Effects effects)
      throws IOException {
    Optional<ReplicaRow> row = replica(transaction, disk, owned, report.blockId());
    if (report.kind() == Kind.DELETED
        && row.isPresent()
        && row.get().getGenerationStamp() > report.generationStamp()) {
      return; // an older generation was deleted, the newer one is there
    }
    Replicas.delete(transaction, owned.ownerId(), report.blockId(), disk);
    effects.deleted.add(report.blockId());
    if (row.isPresent()) {
      changed(owned, report.blockId(), effects);
    }
  }

  private void applyPresent(
      Transaction transaction,
      Disk disk,
      Owned owned,
      Report report,
      boolean justWritten,
      Effects effects)
      throws IOException {
    BlockRow block = owned.block();
    Optional<ReplicaRow> known = replica(transaction, disk, owned, report.blockId());
    if (report.kind() == Kind.ABANDONED && Replicas.isOpen(block)) {
      return; // recovery decides on it
    }
    if (known.isPresent() && isDoomed(known.get(), report)) {
      if (known.get().getLengthBytes() == Replicas.NOT_REPORTED) {
        Replicas.put(
            transaction,
            owned.ownerId(),
            report.blockId(),
            disk,
            known.get().toBuilder().setLengthBytes(report.lengthBytes()).build());
        changed(owned, report.blockId(), effects);
      }
      if (known.get().getState() == ReplicaStateProto.EXCESS
          && !commands.isOrdered(disk.storageUuid(), report.blockId())) {
        effects.invalidations.add(invalidation(disk, report));
      }
      return;
    }
    if (known.isPresent() && known.get().getGenerationStamp() > report.generationStamp()) {
      return; // late news of a generation that was replaced on this disk
    }
    boolean corrupt =
        isWrong(block, report)
            || (known.isEmpty()
                && (isUnverified(transaction, disk, block, justWritten)
                    || isSurplusOfStripe(transaction, owned)));
    ReplicaRow row =
        Replicas.row(
            corrupt ? ReplicaStateProto.CORRUPT : ReplicaStateProto.FINALIZED,
            report.generationStamp(),
            report.lengthBytes());
    if (known.isEmpty() || !known.get().equals(row)) {
      Replicas.put(transaction, owned.ownerId(), report.blockId(), disk, row);
      changed(owned, report.blockId(), effects);
    }
    if (!corrupt) {
      effects.arrived.add(report.blockId());
    }
  }

  private static boolean isDoomed(ReplicaRow row, Report report) {
    return row.getState() != ReplicaStateProto.FINALIZED
        && row.getGenerationStamp() == report.generationStamp();
  }

  /**
   * True if the replica is not of the block's content. A newer generation than the block's is a
   * commit that has not happened yet: it is kept, and not counted until then.
   */
  private static boolean isWrong(BlockRow block, Report report) {
    if (Replicas.isOpen(block) || report.generationStamp() > block.getGenerationStamp()) {
      return false;
    }
    return report.kind() == Kind.ABANDONED
        || !Replicas.agrees(block, report.generationStamp(), report.lengthBytes());
  }

  /**
   * True if what came is the work of a transition that has not been committed. A commit comes after
   * the checks of what was written, and writes the row; whatever else is written of a member of a
   * stripe is not to be trusted, also after its repair has given up.
   */
  private static boolean isUnverified(
      Transaction transaction, Disk disk, BlockRow block, boolean justWritten) throws IOException {
    // A block that waits to be encoded again may be told of late: a copy of an earlier attempt.
    return block.hasTransitionId()
        || (block.hasStripeId() && justWritten)
        || Assessment.isUnverified(transaction, block, disk.storageUuid());
  }

  /**
   * True if a member of a stripe turns up that is live elsewhere: whatever it is, a lost disk that
   * came back or a copy that never passed its checks, it is not needed, and must not be the one of
   * the two that stays.
   */
  private boolean isSurplusOfStripe(Transaction transaction, Owned owned) throws IOException {
    return owned.block().hasStripeId()
        && !Assessment.of(transaction, cluster, owned).live().isEmpty();
  }

  private static void changed(Owned owned, long blockId, Effects effects) {
    effects.changedBlocks.add(blockId);
    if (owned.striped()) {
      effects.changedStripes.add(owned.block().getStripeId());
    }
  }

  private static Invalidation invalidation(Disk disk, Report report) {
    return new Invalidation(
        disk.storageUuid(), report.blockId(), report.generationStamp(), report.lengthBytes());
  }
}
