package io.ebbfs.manager.view;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;
import java.util.Set;

/**
 * A transition that is planned, running, or failed.
 *
 * @param createdMillis when it was proposed, by the clock of the namenode
 * @param leaving for a RELEASE: the positions of the blocks that leave its stripe
 * @param groupFileId for a RELEASE: the file whose block groups it makes replicas of; 0 for none
 * @param ofNamenode whether it is a rewrite that the namenode planned by itself
 * @param lack what was missing in the cluster; null if the transition failed for another reason
 */
public record TransitionView(
    long id,
    TransitionKindProto kind,
    TransitionStateProto state,
    String policy,
    String toCode,
    long createdMillis,
    long updatedMillis,
    int attempt,
    String failure,
    List<Block> blocks,
    List<Long> stripeIds,
    Set<Integer> leaving,
    long groupFileId,
    boolean ofNamenode,
    Lack lack) {
  /** The states of a transition that failed after all attempts. */
  public static final List<TransitionStateProto> UNDONE =
      List.of(
          TransitionStateProto.FAILED,
          TransitionStateProto.NO_SPACE,
          TransitionStateProto.NO_DOMAINS);

  /**
   * What the cluster lacked when the namenode found no place for the blocks of a transition.
   *
   * @param bytes of space that were missing; 0 if servers were missing
   * @param then the cluster at that time
   */
  public record Lack(long bytes, ClusterSnapshot.Cluster then) {
    /** Whether the cluster has grown enough for another attempt. */
    public boolean isMet(ClusterSnapshot.Cluster now) {
      return now.liveServers() > then.liveServers()
          || now.liveDisks() > then.liveDisks()
          || (bytes > 0 && now.freeBytes() >= then.freeBytes() + bytes);
    }
  }

  /** A block that an encoding puts into one of its stripes, the one with number stripeIndex. */
  public record Block(int stripeIndex, int position, long ownerId, int ownerIndex) {}

  /** Whether the transition is planned or running. */
  public boolean active() {
    return state == TransitionStateProto.PLANNED || state == TransitionStateProto.RUNNING;
  }
}
