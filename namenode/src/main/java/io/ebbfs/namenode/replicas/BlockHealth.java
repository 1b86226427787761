package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.util.List;

/**
 * What is known of the replicas of a block, or of the blocks of a group.
 *
 * @param replicas those on disks in service; of each block of a group, at most one is live
 * @param decodes whether other blocks of its stripe are enough to decode it
 */
public record BlockHealth(BlockRow block, List<Found> replicas, boolean decodes) {
  /** What a replica is good for. */
  public enum State {
    LIVE,
    CORRUPT,
    EXCESS
  }

  /**
   * A replica on a disk in service.
   *
   * @param blockId of the block; in a group, of one of its blocks
   */
  public record Found(Server server, String storageUuid, State state, long blockId) {
    Found as(State other) {
      return new Found(server, storageUuid, other, blockId);
    }
  }

  public boolean isEncoded() {
    return block.hasStripeId();
  }

  /** Whether the replicas are those of all blocks of a block group. */
  public boolean isGroup() {
    return GroupRows.isGroup(block);
  }

  /** How many replicas the block is to have, or how many blocks the group has. */
  public int wanted() {
    return isGroup()
        ? layout().blocks(block.getLengthBytes())
        : isEncoded() ? 1 : block.getReplication();
  }

  /** How many live replicas a reader needs. */
  private int needed() {
    return isGroup() ? layout().neededBlocks(block.getLengthBytes()) : 1;
  }

  private BlockGroupLayout layout() {
    return BlockGroupLayout.of(block.getEcPolicyId());
  }

  /** Good replicas on servers in this state. */
  public int live(DrainState drain) {
    return (int)
        replicas.stream()
            .filter(found -> found.state() == State.LIVE && found.server().drain() == drain)
            .count();
  }

  public int count(State state) {
    return (int) replicas.stream().filter(found -> found.state() == state).count();
  }

  /** Whether bad replicas are in the place of those that a reader needs. */
  public boolean isCorrupt() {
    return isMissing() && count(State.CORRUPT) > 0;
  }

  /** Whether neither good replicas nor the stripe have the bytes. */
  public boolean isMissing() {
    return count(State.LIVE) < needed() && !decodes;
  }
}
