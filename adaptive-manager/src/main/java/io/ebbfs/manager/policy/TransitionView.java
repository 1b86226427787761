package io.ebbfs.manager.policy;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;

/**
 * A transition that is planned, running, or failed.
 *
 * @param lack what it lacked; null if that is not why it ended
 */
public record TransitionView(
    long id,
    TransitionKindProto kind,
    TransitionStateProto state,
    String policy,
    String toCode,
    long updatedMillis,
    int attempt,
    String failure,
    List<Block> blocks,
    List<Long> stripeIds,
    Lack lack) {
  /** The states in which a transition has ended without being done, and is still wanted. */
  public static final List<TransitionStateProto> UNDONE =
      List.of(
          TransitionStateProto.FAILED,
          TransitionStateProto.NO_SPACE,
          TransitionStateProto.NO_DOMAINS);

  /**
   * What was missing when there was no place for its blocks.
   *
   * @param bytes on disks that were too full; 0 if servers were missing
   * @param then what was in service
   */
  public record Lack(long bytes, Snapshot.Cluster then) {
    /** Whether there is enough more now that it may work. */
    boolean isMet(Snapshot.Cluster now) {
      return now.liveServers() > then.liveServers()
          || now.liveDisks() > then.liveDisks()
          || (bytes > 0 && now.freeBytes() >= then.freeBytes() + bytes);
    }
  }

  /** A block that an encoding puts into its stripe number stripeIndex. */
  public record Block(int stripeIndex, int position, long ownerId, int ownerIndex) {}

  public boolean active() {
    return state == TransitionStateProto.PLANNED || state == TransitionStateProto.RUNNING;
  }
}
