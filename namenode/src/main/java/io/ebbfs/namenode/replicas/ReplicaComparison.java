package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.replicas.ReportedReplica.Kind;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
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

/**
 * Compares the replicas of full reports with the rows. A replica that agrees with all rows is noted
 * as verified in the row of its disk, with its generation and length. The next full report that
 * says the same is compared with that one row, which is read anyway: the rows of the block and of
 * the replica are not read. So a report costs one scan of a disk's rows, and what has changed.
 *
 * <p>Whoever changes a replica row, or opens its block again, clears the note ({@link
 * ReplicaRows#change}, {@link BlockService#reopened}). A note that is wrong nevertheless (an older
 * version of EbbFS on the same store changes rows and clears no note) hides a replica that is to be
 * deleted, and loses no data. So each report compares one of {@value #PARTS} parts of the block ids
 * with all rows, another part each minute, and clears wrong notes. Thread-safe.
 */
final class ReplicaComparison {
  /** A prime: reports that come each so many minutes meet all parts. */
  private static final int PARTS = 61;

  private static final int PART_BITS = 20;
  private static final long MINUTE_MILLIS = 60_000;
  private static final int BATCH = 64;

  /** A reported replica that has a row. */
  record Known(ReportedReplica report, StorageReplicaRow row) {
    boolean isNoted() {
      return row.hasVerifiedGenerationStamp();
    }
  }

  private final MetadataStore store;

  ReplicaComparison(MetadataStore store) {
    this.store = store;
  }

  /** Whether the replica needs no comparison: the row of its disk says that all rows agree. */
  boolean isVerified(StorageReplicaRow row, ReportedReplica report, long nowMillis) {
    return report.kind() == Kind.FINALIZED
        && row.hasVerifiedGenerationStamp()
        && row.getVerifiedGenerationStamp() == report.generationStamp()
        && row.getVerifiedLengthBytes() == report.lengthBytes()
        && (report.blockId() >>> PART_BITS) % PARTS != nowMillis / MINUTE_MILLIS % PARTS;
  }

  /** The reports that differ from the rows. Notes which of the other replicas are verified. */
  List<ReportedReplica> unlike(Disk disk, List<Known> replicas) throws IOException {
    List<ReportedReplica> unlike = new ArrayList<>();
    List<ReportedReplica> toNote = new ArrayList<>();
    store.transactInBackground(
        disk.storageNumber(),
        transaction -> {
          compare(transaction, disk, replicas, unlike, toNote);
          return null;
        });
    for (int i = 0; i < toNote.size(); i += BATCH) {
      note(disk, toNote.subList(i, Math.min(i + BATCH, toNote.size())));
    }
    return unlike;
  }

  private static void compare(
      Transaction transaction,
      Disk disk,
      List<Known> replicas,
      List<ReportedReplica> unlike,
      List<ReportedReplica> toNote)
      throws IOException {
    Map<Long, StoredBlock> blocks =
        BlockLookup.find(
            transaction,
            replicas.stream().map(known -> known.report().blockId()).distinct().toList());
    List<Known> owned = new ArrayList<>(replicas.size());
    List<Key> keys = new ArrayList<>(replicas.size());
    for (Known known : replicas) {
      StoredBlock stored = blocks.get(known.report().blockId());
      if (stored == null || stored.isOutput()) {
        unlike.add(known.report());
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
        unlike.add(known.report());
      }
      if (known.isNoted() != (agrees && isFinal(block, known.report()))) {
        toNote.add(known.report());
      }
    }
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

  /** Whether nobody changes the block without clearing the note. */
  private static boolean isFinal(BlockRow block, ReportedReplica report) {
    return block.getState() == BlockStateProto.COMPLETE
        && ReplicaRows.agrees(block, report.generationStamp(), report.lengthBytes());
  }

  /** Notes under the locks of the owners whether replicas are verified. */
  private void note(Disk disk, List<ReportedReplica> reports) throws IOException {
    List<Long> ids = reports.stream().map(ReportedReplica::blockId).distinct().toList();
    OptimisticTransactions.transact(
        store,
        disk.storageNumber(),
        Durability.RELAXED,
        transaction -> {
          Map<Long, StoredBlock> blocks = BlockLookup.lock(transaction, ids, RowLock.Mode.SHARED);
          for (ReportedReplica report : reports) {
            StoredBlock stored = blocks.get(report.blockId());
            if (stored != null && !stored.isOutput()) {
              note(transaction, disk, stored, report);
            }
          }
          return null;
        });
  }

  private static void note(
      Transaction transaction, Disk disk, StoredBlock stored, ReportedReplica report)
      throws IOException {
    Optional<ReplicaRow> row = ReplicaRows.find(transaction, disk, stored, report.blockId());
    if (row.isPresent()) { // else the replica was deleted meanwhile
      StorageReplicaRow.Builder note = StorageReplicaRow.newBuilder();
      if (isAsReported(stored.block(), row, report) && isFinal(stored.block(), report)) {
        note.setVerifiedGenerationStamp(report.generationStamp())
            .setVerifiedLengthBytes(report.lengthBytes());
      }
      transaction.put(
          Tables.STORAGE_REPLICA,
          Tables.storageReplica(disk.storageNumber(), report.blockId()),
          note.build());
    }
  }
}
