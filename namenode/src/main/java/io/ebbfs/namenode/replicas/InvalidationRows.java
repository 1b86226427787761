package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InvalidationRow;
import java.io.IOException;
import java.time.Clock;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicas of unknown blocks that their servers are to delete, as rows: a queue in memory may
 * drop orders, and a restart loses the queue.
 *
 * <p>A replica of an unknown block without a row is an <em>orphan</em>: no known delete explains
 * it, so perhaps the block is newer than this store (after a restore from a backup). An orphan gets
 * a row with the time of its first report and is kept for a while, so that an operator can act.
 *
 * <p>Thread-safe.
 */
final class InvalidationRows {
  private static final Logger LOG = LoggerFactory.getLogger(InvalidationRows.class);
  private static final int BATCH = 500;

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final Clock clock;
  private final long orphanWaitMillis;
  private final long startedMillis;
  private final int limit;
  // Blocks whose deletion this process knows: a copy of one may arrive late, on another disk.
  private final Set<Long> deletedBlocks = new LinkedHashSet<>();

  InvalidationRows(
      MetadataStore store,
      DatanodeRegistry cluster,
      Clock clock,
      long orphanWaitMillis,
      int limit) {
    this.store = store;
    this.cluster = cluster;
    this.clock = clock;
    this.orphanWaitMillis = orphanWaitMillis;
    this.startedMillis = clock.millis();
    this.limit = limit;
  }

  /**
   * Writes rows for replicas whose blocks have no rows any more. If a row is lost, its replica is
   * taken for an orphan: it is deleted later.
   */
  void remember(List<Invalidation> invalidations) {
    try {
      for (int i = 0; i < invalidations.size(); i += BATCH) {
        rememberBatch(invalidations.subList(i, Math.min(i + BATCH, invalidations.size())));
      }
    } catch (IOException e) {
      LOG.warn(
          "{} deletions of replicas could not be stored; the replicas are deleted as orphans later",
          invalidations.size(),
          e);
    }
  }

  private void rememberBatch(List<Invalidation> batch) throws IOException {
    List<Long> ids = batch.stream().map(Invalidation::blockId).distinct().toList();
    Set<Long> known =
        store.transactInBackground(
            ids.get(0),
            transaction -> {
              Set<Long> owned = BlockLookup.find(transaction, ids).keySet();
              for (Invalidation gone : batch) {
                Optional<Disk> disk = cluster.disk(gone.storageUuid()).filter(d -> !d.failed());
                if (disk.isPresent() && !owned.contains(gone.blockId())) {
                  put(transaction, disk.get(), gone, Optional.empty());
                }
              }
              return owned;
            });
    ids.stream().filter(id -> !known.contains(id)).forEach(this::noteDeleted);
  }

  private static void put(
      Transaction transaction, Disk disk, Invalidation gone, Optional<Long> orphanSinceMillis) {
    InvalidationRow.Builder row =
        InvalidationRow.newBuilder()
            .setGenerationStamp(gone.generationStamp())
            .setLengthBytes(gone.lengthBytes());
    orphanSinceMillis.ifPresent(row::setOrphanSinceMillis);
    if (gone.ofGroup()) {
      row.setOfGroup(true);
    }
    transaction.put(
        Tables.INVALIDATION,
        Tables.invalidation(disk.storageNumber(), gone.blockId()),
        row.build());
  }

  static Optional<InvalidationRow> find(Transaction transaction, Disk disk, long blockId)
      throws IOException {
    return transaction.get(Tables.INVALIDATION, Tables.invalidation(disk.storageNumber(), blockId));
  }

  static void delete(Transaction transaction, Disk disk, long blockId) {
    transaction.delete(Tables.INVALIDATION, Tables.invalidation(disk.storageNumber(), blockId));
  }

  private void noteDeleted(long blockId) {
    synchronized (deletedBlocks) {
      if (deletedBlocks.size() >= limit) {
        deletedBlocks.remove(deletedBlocks.iterator().next());
      }
      deletedBlocks.add(blockId);
    }
  }

  private boolean isDeleted(long blockId) {
    synchronized (deletedBlocks) {
      return deletedBlocks.contains(blockId);
    }
  }

  /**
   * Notes that a disk still has a replica of an unknown block.
   *
   * @return whether the replica may be deleted now
   */
  boolean noteReported(Transaction transaction, Disk disk, Invalidation reported)
      throws IOException {
    Optional<InvalidationRow> known = find(transaction, disk, reported.blockId());
    Optional<Long> orphanSince =
        known.isEmpty()
            ? Optional.of(clock.millis()).filter(now -> !isDeleted(reported.blockId()))
            : known
                .filter(InvalidationRow::hasOrphanSinceMillis)
                .map(InvalidationRow::getOrphanSinceMillis);
    boolean changed =
        known.isEmpty()
            || known.get().getGenerationStamp() != reported.generationStamp()
            || known.get().getLengthBytes() != reported.lengthBytes();
    if (changed) {
      boolean ofGroup = known.filter(InvalidationRow::getOfGroup).isPresent();
      put(
          transaction,
          disk,
          new Invalidation(
              reported.storageUuid(),
              reported.blockId(),
              reported.generationStamp(),
              reported.lengthBytes(),
              ofGroup),
          orphanSince);
    }
    return orphanSince.isEmpty() || isOver(orphanSince.get());
  }

  /**
   * True if the replica of this row may be deleted now. An orphan may be, too, once a deletion of
   * its block is known: the report of the replica came before the deletion was written.
   */
  boolean isDue(long blockId, InvalidationRow row) {
    return !row.hasOrphanSinceMillis() || isOver(row.getOrphanSinceMillis()) || isDeleted(blockId);
  }

  /** Learns from a row which block was deleted, perhaps by another namenode. */
  void learn(long blockId, InvalidationRow row) {
    if (!row.hasOrphanSinceMillis()) {
      noteDeleted(blockId);
    }
  }

  /** Counted from the start, too: after a restore, the times in the rows are old. */
  private boolean isOver(long orphanSinceMillis) {
    return clock.millis() - Math.max(orphanSinceMillis, startedMillis) >= orphanWaitMillis;
  }

  /** The rows of a disk after a key, in the order of block ids. */
  List<Row<InvalidationRow>> page(Disk disk, Key after, int limit) throws IOException {
    return store.transact(
        disk.storageNumber(),
        Durability.RELAXED,
        transaction -> transaction.scan(Tables.INVALIDATION, disk.storageNumber(), after, limit));
  }

  /** Deletes rows of a disk. */
  void delete(Disk disk, List<Long> blockIds) throws IOException {
    if (!blockIds.isEmpty()) {
      store.transact(
          disk.storageNumber(),
          Durability.RELAXED,
          transaction -> {
            blockIds.forEach(id -> delete(transaction, disk, id));
            return null;
          });
    }
  }
}
