package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.util.List;

/**
 * What is known of the replicas of a block.
 *
 * @param replicas those on disks in service
 * @param decodes whether other blocks of its stripe are enough to decode it
 */
public record BlockHealth(BlockRow block, List<Found> replicas, boolean decodes) {
  /** What a replica is good for. */
  public enum State {
    LIVE,
    CORRUPT,
    EXCESS
  }

  /** A replica on a disk in service. */
  public record Found(Server server, String storageUuid, State state) {}

  public boolean isEncoded() {
    return block.hasStripeId();
  }

  /** How many replicas the block is to have. */
  public int wanted() {
    return isEncoded() ? 1 : block.getReplication();
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

  /** Whether bad replicas are all that is left. */
  public boolean isCorrupt() {
    return count(State.LIVE) == 0 && count(State.CORRUPT) > 0 && !decodes;
  }

  /** Whether neither a good replica nor the stripe has the bytes. */
  public boolean isMissing() {
    return count(State.LIVE) == 0 && !decodes;
  }
}
