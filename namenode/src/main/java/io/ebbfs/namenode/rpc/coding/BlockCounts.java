package io.ebbfs.namenode.rpc.coding;

import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/**
 * The counts of the block manager. The functions are thread-safe.
 *
 * @param underReplicatedBlocks blocks in no stripe with fewer live replicas than wanted
 * @param missingBlocks blocks in no stripe without a live replica
 * @param orphanReplicas replicas of blocks that the store does not know, which wait for deletion
 * @param orphanBytes their bytes
 * @param blocksOn replicas on the disk with this storage uuid
 */
public record BlockCounts(
    LongSupplier underReplicatedBlocks,
    LongSupplier missingBlocks,
    LongSupplier orphanReplicas,
    LongSupplier orphanBytes,
    ToLongFunction<String> blocksOn) {
  /** Without orphans. */
  public BlockCounts(
      LongSupplier underReplicatedBlocks,
      LongSupplier missingBlocks,
      ToLongFunction<String> blocksOn) {
    this(underReplicatedBlocks, missingBlocks, () -> 0, () -> 0, blocksOn);
  }
}
