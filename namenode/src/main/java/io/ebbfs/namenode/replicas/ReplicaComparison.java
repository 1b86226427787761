package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.replicas.ReportedReplica.Kind;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the replicas of full reports with the rows. A replica that agrees with all rows is noted
 * as verified in the row of its disk, with its generation and length. The next full report that
 * says the same is compared with that one row, which is read anyway: the rows of the block and of
 * the replica are not read. So a report costs one scan of a disk's rows, and what has changed.
 *
 * <p>Whoever changes a replica row, or opens its block again, clears the note ({@link
 * ReplicaRows#change}, {@link BlockService#reopened}). An older version of EbbFS on the same store
 * does not. A wrong note hides that a replica is to be deleted or to be read again by its server.
 * So each report compares one of {@value #PARTS} parts of the block ids with all rows, the next
 * report of the disk the next part: with a report each six hours, all within a week. Thread-safe.
 */
final class ReplicaComparison {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaComparison.class);

  static final int PARTS = 28;

  private static final int PART_BITS = 10;
  private static final int BATCH = 64;

  /** A reported replica that has a row. */
  record Known(ReportedReplica report, StorageReplicaRow row) {
    boolean isNoted() {
      return row.hasVerifiedGenerationStamp();
    }
  }

  /**
   * What a comparison has found.
   *
   * @param unlike reports that differ from the rows
   * @param toNote reports whose notes are to be written or cleared
   */
  record Found(List<ReportedReplica> unlike, List<ReportedReplica> toNote) {}

  private final MetadataStore store;
  // By storage uuid: the part that the last full report compared with all rows.
  private final Map<String, Integer> parts = new ConcurrentHashMap<>();

  ReplicaComparison(MetadataStore store) {
    this.store = store;
  }

  /** The part of the ids that the next full report of a disk compares with all rows. */
  int nextPart(Disk disk) {
    String uuid = disk.storageUuid();
    return parts.merge(
        uuid, ThreadLocalRandom.current().nextInt(PARTS), (last, first) -> (last + 1) % PARTS);
  }

  static int partOf(long blockId) {
    return (int) ((blockId >>> PART_BITS) % PARTS);
  }

  /**
   * Whether the replica needs no comparison: the row of its disk says that all rows agree.
   *
   * @param part of the ids that is compared nevertheless
   */
  static boolean isVerified(StorageReplicaRow row, ReportedReplica report, int part) {
    return report.kind() == Kind.FINALIZED
        && row.hasVerifiedGenerationStamp()
        && row.getVerifiedGenerationStamp() == report.generationStamp()
        && row.getVerifiedLengthBytes() == report.lengthBytes()
        && partOf(report.blockId()) != part;
  }

  /** Compares replicas with all their rows. */
  Found compare(Disk disk, List<Known> replicas) throws IOException {
    return store.transactInBackground(
        disk.storageNumber(), transaction -> compare(transaction, disk, replicas));
  }

  private static Found compare(Transaction transaction, Disk disk, List<Known> replicas)
      throws IOException {
    Found result = new Found(new ArrayList<>(), new ArrayList<>());
    Map<Long, StoredBlock> blocks =
        BlockLookup.find(
            transaction,
            replicas.stream().map(known -> known.report().blockId()).distinct().toList());
    List<Known> owned = new ArrayList<>(replicas.size());
    List<Key> keys = new ArrayList<>(replicas.size());
    for (Known known : replicas) {
      StoredBlock stored = blocks.get(known.report().blockId());
      if (stored == null || stored.isOutput()) {
        result.unlike().add(known.report());
      } else {
        owned.add(known);
        keys.add(Tables.replica(stored.ownerId(), known.report().blockId(), disk.storageUuid()));
      }
    }
    List<Optional<ReplicaRow>> rows = transaction.getAll(Tables.REPLICA, keys);
    for (int i = 0; i < rows.size(); i++) {
      Known known = owned.get(i);
      BlockRow block = blocks.get(known.report().blockId()).block();
      boolean agrees = isAsReported(block, rows.get(i), known.report());
      if (!agrees) {
        result.unlike().add(known.report());
      }
      if (known.isNoted() != (agrees && isFinal(block, known.report()))) {
        result.toNote().add(known.report());
      }
    }
    return result;
  }

  private static boolean isAsReported(
      BlockRow block, Optional<ReplicaRow> found, ReportedReplica report) {
    return report.kind() == Kind.FINALIZED
        && found
            .filter(
                row ->
                    row.getState() == ReplicaStateProto.FINALIZED
                        && row.getGenerationStamp() == report.generationStamp()
                        && row.getLengthBytes() == report.lengthBytes())
            .isPresent()
        && !ReportedReplicaApplier.isWrong(block, report);
  }

  /** True if the block is complete, with the reported generation and length. */
  private static boolean isFinal(BlockRow block, ReportedReplica report) {
    return block.getState() == BlockStateProto.COMPLETE
        && ReplicaRows.agrees(block, report.generationStamp(), report.lengthBytes());
  }

  /**
   * Notes under the locks of the owners which replicas are verified. Nothing depends on the notes,
   * so a failure is logged and the rest is left to the next report.
   *
   * @param progress is called often
   */
  void note(Disk disk, List<ReportedReplica> reports, Runnable progress) {
    try {
      for (int i = 0; i < reports.size(); i += BATCH) {
        note(disk, reports.subList(i, Math.min(i + BATCH, reports.size())));
        progress.run();
      }
    } catch (IOException e) {
      LOG.info(
          "the next full report of disk {} notes which replicas are verified, because {}",
          disk.storageUuid(),
          e.getMessage());
    }
  }

  private void note(Disk disk, List<ReportedReplica> reports) throws IOException {
    List<Long> ids = reports.stream().map(ReportedReplica::blockId).distinct().toList();
    OptimisticTransactions.transact(
        store,
        disk.storageNumber(),
        Durability.RELAXED,
        transaction -> {
          Map<Long, StoredBlock> blocks = BlockLookup.lock(transaction, ids, RowLock.Mode.SHARED);
          List<ReportedReplica> owned =
              reports.stream()
                  .filter(report -> blocks.containsKey(report.blockId()))
                  .filter(report -> !blocks.get(report.blockId()).isOutput())
                  .toList();
          if (transaction.isShared()) {
            lockRows(transaction, disk, owned, blocks);
          }
          for (ReportedReplica report : owned) {
            note(transaction, disk, blocks.get(report.blockId()), report);
          }
          return null;
        });
  }

  /**
   * Locks all rows that a note depends on. A shared store may show the row of an owner after a
   * commit and the row of a block or a replica before the same commit; a commit on a locked row
   * that is old is refused.
   */
  private static void lockRows(
      Transaction transaction,
      Disk disk,
      List<ReportedReplica> reports,
      Map<Long, StoredBlock> blocks)
      throws IOException {
    List<RowLock> locks = new ArrayList<>();
    for (ReportedReplica report : reports) {
      StoredBlock stored = blocks.get(report.blockId());
      locks.add(RowLock.shared(Tables.BLOCK, blockKey(stored)));
      locks.add(
          RowLock.shared(
              Tables.REPLICA,
              Tables.replica(stored.ownerId(), report.blockId(), disk.storageUuid())));
      locks.add(
          RowLock.exclusive(
              Tables.STORAGE_REPLICA,
              Tables.storageReplica(disk.storageNumber(), report.blockId())));
    }
    transaction.lock(locks);
    for (ReportedReplica report : reports) {
      StoredBlock stored = blocks.get(report.blockId());
      if (!transaction.get(Tables.BLOCK, blockKey(stored)).equals(Optional.of(stored.block()))) {
        throw new StaleReadException("block %d has changed".formatted(report.blockId()));
      }
    }
  }

  private static Key blockKey(StoredBlock stored) {
    return Tables.block(stored.ownerId(), stored.owner().getIndex());
  }

  private static void note(
      Transaction transaction, Disk disk, StoredBlock stored, ReportedReplica report)
      throws IOException {
    Key key = Tables.storageReplica(disk.storageNumber(), report.blockId());
    Optional<ReplicaRow> row = ReplicaRows.find(transaction, disk, stored, report.blockId());
    if (row.isEmpty() || transaction.get(Tables.STORAGE_REPLICA, key).isEmpty()) {
      return; // the replica was deleted meanwhile
    }
    StorageReplicaRow.Builder note = StorageReplicaRow.newBuilder();
    if (isAsReported(stored.block(), row, report) && isFinal(stored.block(), report)) {
      note.setVerifiedGenerationStamp(report.generationStamp())
          .setVerifiedLengthBytes(report.lengthBytes());
    }
    transaction.put(Tables.STORAGE_REPLICA, key, note.build());
  }
}
