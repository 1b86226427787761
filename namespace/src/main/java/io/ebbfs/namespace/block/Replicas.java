package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of replicas, as one pair: "replica" tells the disks of a block, "storageReplica" the
 * blocks of a disk. Nobody writes one without the other.
 */
public final class Replicas {
  private static final int PAGE = 32;

  /**
   * The length in the row of a CORRUPT replica of which nothing was reported yet: it may never have
   * been written.
   */
  public static final long NOT_REPORTED = 0;

  /** One replica of a block as its row says. */
  public record Replica(String storageUuid, ReplicaRow row) {
    public boolean finalized() {
      return row.getState() == ReplicaStateProto.FINALIZED;
    }
  }

  private Replicas() {}

  /** All replicas of a block, in the order of their storage uuids. */
  public static List<Replica> of(Transaction transaction, long ownerId, long blockId)
      throws IOException {
    List<Replica> found = new ArrayList<>();
    Key after = Key.of(ownerId, ByteBuffer.allocate(Long.BYTES).putLong(blockId).array());
    while (true) {
      List<Row<ReplicaRow>> page = transaction.scan(Tables.REPLICA, ownerId, after, PAGE);
      for (Row<ReplicaRow> row : page) {
        if (row.key().firstLong() != blockId) {
          return found;
        }
        found.add(new Replica(Tables.replicaStorage(row.key()), row.value()));
        after = row.key();
      }
      if (page.size() < PAGE) {
        return found;
      }
    }
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

  /** Deletes both rows of a replica. */
  public static void delete(
      Transaction transaction, long ownerId, long blockId, ClusterView.Disk disk) {
    transaction.delete(Tables.REPLICA, Tables.replica(ownerId, blockId, disk.storageUuid()));
    transaction.delete(
        Tables.STORAGE_REPLICA, Tables.storageReplica(disk.storageNumber(), blockId));
  }

  /** A finalized replica of the block as it is now. */
  public static ReplicaRow finalizedRow(BlockRow block) {
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

  /** True if generation and, once it is fixed, length are those of the block. */
  static boolean agrees(BlockRow block, long generationStamp, long lengthBytes) {
    return generationStamp == block.getGenerationStamp()
        && (isOpen(block) || lengthBytes == block.getLengthBytes());
  }

  /** True if the row is of a good replica of the block; whether its disk is live is not asked. */
  public static boolean isGood(BlockRow block, ReplicaRow row) {
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
