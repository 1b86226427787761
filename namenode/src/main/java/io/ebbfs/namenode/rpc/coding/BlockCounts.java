package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.replicas.DrainProgress;
import io.ebbfs.namenode.store.ScanCursor;
import io.ebbfs.namenode.tasks.scan.GroupDamage;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * The counts of the block manager. The functions are thread-safe.
 *
 * @param underReplicatedBlocks blocks in no stripe with fewer live replicas than wanted
 * @param missingBlocks blocks in no stripe without a live replica
 * @param orphanReplicas replicas of blocks that the store does not know, which wait for deletion
 * @param orphanBytes their bytes
 * @param lostDisksToWalk disks out of service whose blocks are still to be examined
 * @param lostDiskBlocksExamined blocks of these disks that were examined
 * @param pendingDeletions replicas of deleted blocks that their servers are to delete
 * @param pendingDeletionsOfGroups those of them that are of block groups
 * @param groups block groups that are not whole
 * @param blocksOn replicas on the disk with this storage uuid
 * @param scan how far the scan of all blocks is, which counts the replicas of the disks
 * @param drain how far the drain of the server with this uuid is; empty if it is not being drained
 */
public record BlockCounts(
    LongSupplier underReplicatedBlocks,
    LongSupplier missingBlocks,
    LongSupplier orphanReplicas,
    LongSupplier orphanBytes,
    LongSupplier lostDisksToWalk,
    LongSupplier lostDiskBlocksExamined,
    LongSupplier pendingDeletions,
    LongSupplier pendingDeletionsOfGroups,
    GroupDamage groups,
    ToLongFunction<String> blocksOn,
    Supplier<Optional<ScanCursor.Progress>> scan,
    Function<String, Optional<DrainProgress>> drain) {
  /** Without orphans, lost disks, deletions, block groups, a scan and drains. */
  public BlockCounts(
      LongSupplier underReplicatedBlocks,
      LongSupplier missingBlocks,
      ToLongFunction<String> blocksOn) {
    this(
        underReplicatedBlocks,
        missingBlocks,
        () -> 0,
        () -> 0,
        () -> 0,
        () -> 0,
        () -> 0,
        () -> 0,
        new GroupDamage(),
        blocksOn,
        Optional::empty,
        server -> Optional.empty());
  }

  /** The same, with block groups. */
  public BlockCounts with(GroupDamage damage) {
    return new BlockCounts(
        underReplicatedBlocks,
        missingBlocks,
        orphanReplicas,
        orphanBytes,
        lostDisksToWalk,
        lostDiskBlocksExamined,
        pendingDeletions,
        pendingDeletionsOfGroups,
        damage,
        blocksOn,
        scan,
        drain);
  }
}
