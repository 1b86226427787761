package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
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
import java.util.Optional;

/**
 * Reads and writes the rows of replicas. A replica has two rows, which are always written together:
 * "replica" finds the disks of a block, "storageReplica" finds the blocks of a disk.
 */
public final class ReplicaRows {
  /**
   * The length in the row of a CORRUPT replica that no report has named yet. Perhaps the replica
   * was never written.
   */
  public static final long NOT_REPORTED = 0;

  /** One replica of a block as its row says. */
  public record Replica(String storageUuid, ReplicaRow row) {
    public boolean finalized() {
      return row.getState() == ReplicaStateProto.FINALIZED;
    }
  }

  private ReplicaRows() {}

  /** All replicas of a block, in the order of their storage uuids. */
  public static List<Replica> of(Transaction transaction, long ownerId, long blockId)
      throws IOException {
    List<Row<ReplicaRow>> rows =
        transaction.scan(
            Tables.REPLICA,
            ownerId,
            Key.of(ownerId, blockId),
            Key.of(ownerId, blockId + 1),
            Integer.MAX_VALUE);
    List<Replica> found = new ArrayList<>(rows.size());
    for (Row<ReplicaRow> row : rows) {
      found.add(new Replica(Tables.replicaStorage(row.key()), row.value()));
    }
    return found;
  }

  /** The row of the replica of a block on a disk. */
  static Optional<ReplicaRow> find(
      Transaction transaction, ClusterView.Disk disk, StoredBlock stored, long blockId)
      throws IOException {
    return transaction.get(
        Tables.REPLICA, Tables.replica(stored.ownerId(), blockId, disk.storageUuid()));
  }

  /** Writes both rows of a replica. */
  public static void put(
      Transaction transaction, long ownerId, long blockId, ClusterView.Disk disk, ReplicaRow row) {
    transaction.put(Tables.REPLICA, Tables.replica(ownerId, blockId, disk.storageUuid()), row);
    transaction.put(
        Tables.STORAGE_REPLICA,
        Tables.storageReplica(disk.storageNumber(), blockId),
        StorageReplicaRow.getDefaultInstance());
  }

  /**
   * Writes the row of a replica that has one. The row of its disk says no more that a report has
   * verified the replica.
   */
  public static void change(
      Transaction transaction,
      ClusterView cluster,
      long ownerId,
      long blockId,
      String storageUuid,
      ReplicaRow row) {
    transaction.put(Tables.REPLICA, Tables.replica(ownerId, blockId, storageUuid), row);
    clearNote(transaction, cluster, blockId, storageUuid);
  }

  /** Has the next full reports compare the replicas of a block with all rows. */
  static void clearNotes(Transaction transaction, ClusterView cluster, long ownerId, long blockId)
      throws IOException {
    for (Replica replica : of(transaction, ownerId, blockId)) {
      clearNote(transaction, cluster, blockId, replica.storageUuid());
    }
  }

  private static void clearNote(
      Transaction transaction, ClusterView cluster, long blockId, String storageUuid) {
    cluster
        .disk(storageUuid)
        .ifPresent(
            disk ->
                transaction.put(
                    Tables.STORAGE_REPLICA,
                    Tables.storageReplica(disk.storageNumber(), blockId),
                    StorageReplicaRow.getDefaultInstance()));
  }

  /** Deletes both rows of a replica. */
  public static void delete(
      Transaction transaction, long ownerId, long blockId, ClusterView.Disk disk) {
    transaction.delete(Tables.REPLICA, Tables.replica(ownerId, blockId, disk.storageUuid()));
    transaction.delete(
        Tables.STORAGE_REPLICA, Tables.storageReplica(disk.storageNumber(), blockId));
  }

  /** A finalized replica of the block as it is now. */
  static ReplicaRow finalizedRow(BlockRow block) {
    return row(ReplicaStateProto.FINALIZED, block.getGenerationStamp(), block.getLengthBytes());
  }

  static ReplicaRow row(ReplicaStateProto state, long generationStamp, long lengthBytes) {
    return ReplicaRow.newBuilder()
        .setState(state)
        .setGenerationStamp(generationStamp)
        .setLengthBytes(lengthBytes)
        .build();
  }

  /** True if the client still writes the block, or its recovery decides on its length. */
  static boolean isOpen(BlockRow block) {
    return block.getState() == BlockStateProto.UNDER_CONSTRUCTION
        || block.getState() == BlockStateProto.RECOVERING;
  }

  /** True if generation and length are those of the block. The length of an open block is free. */
  static boolean agrees(BlockRow block, long generationStamp, long lengthBytes) {
    return generationStamp == block.getGenerationStamp()
        && (isOpen(block) || lengthBytes == block.getLengthBytes());
  }

  /** True if the row is of a good replica of the block, on a live disk or not. */
  static boolean isGood(BlockRow block, ReplicaRow row) {
    return row.getState() == ReplicaStateProto.FINALIZED
        && agrees(block, row.getGenerationStamp(), row.getLengthBytes());
  }

  static Invalidation invalidation(long blockId, Replica replica) {
    return new Invalidation(
        replica.storageUuid(),
        blockId,
        replica.row().getGenerationStamp(),
        replica.row().getLengthBytes());
  }
}
