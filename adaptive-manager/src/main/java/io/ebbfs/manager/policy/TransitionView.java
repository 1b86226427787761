package io.ebbfs.manager.policy;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;

/** A transition that is planned, running, or failed. */
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
    List<Long> stripeIds) {

  /** A block that an encoding puts into its stripe number stripeIndex. */
  public record Block(int stripeIndex, int position, long ownerId, int ownerIndex) {}

  public boolean active() {
    return state == TransitionStateProto.PLANNED || state == TransitionStateProto.RUNNING;
  }
}
