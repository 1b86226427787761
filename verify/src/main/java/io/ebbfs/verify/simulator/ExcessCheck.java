package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;

/**
 * Checks that no replica of a replicated block is deleted which the block needs. A block of which a
 * fault has destroyed a replica is left out: the namenode may not know it yet.
 */
final class ExcessCheck {
  private final MetadataMirror rows;
  private final SimReplicaMap replicas;
  private final AcknowledgedFiles acknowledged;

  ExcessCheck(MetadataMirror rows, SimReplicaMap replicas, AcknowledgedFiles acknowledged) {
    this.rows = rows;
    this.replicas = replicas;
    this.acknowledged = acknowledged;
  }

  /** The server is about to delete the replica. */
  void beforeDeletion(SimDisk disk, SimBlock deleted) {
    long id = deleted.blockId();
    BlockRow block = rows.block(id);
    if (block == null
        || acknowledged.fileOf(id) == null
        || block.getState() != BlockStateProto.COMPLETE
        || block.hasStripeId()
        || block.hasTransitionId()
        || replicas.wasDisturbed(id)
        || !isGood(block, deleted)
        || isMarked(id, disk)) {
      return;
    }
    long good = replicas.of(id).stream().filter(r -> isGood(block, r.block())).count();
    if (good <= block.getReplication()) {
      throw new Violation(
          "replica %d@%s is deleted, and its block has only %s"
              .formatted(id, disk.uuid, replicas.of(id)));
    }
  }

  private static boolean isGood(BlockRow block, SimBlock replica) {
    return replica.is(block.getGenerationStamp(), block.getLengthBytes());
  }

  private boolean isMarked(long blockId, SimDisk disk) {
    ReplicaRow row =
        rows.replicas.get(Tables.replica(rows.keyOf(blockId).partition(), blockId, disk.uuid));
    return row != null && row.getState() == ReplicaStateProto.CORRUPT;
  }
}
