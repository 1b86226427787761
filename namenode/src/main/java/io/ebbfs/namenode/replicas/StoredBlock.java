package io.ebbfs.namenode.replicas;

import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;

/**
 * The rows that the store has for a block id.
 *
 * @param block null if neither a file nor a stripe has the block yet: the id is then the output of
 *     a running transition
 */
record StoredBlock(BlockOwnerRow owner, BlockRow block) {
  boolean isOutput() {
    return block == null;
  }

  long ownerId() {
    return owner.getOwnerId();
  }

  boolean striped() {
    return block != null && block.hasStripeId();
  }
}
