package io.ebbfs.manager.policy;

import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.List;

/**
 * A transition to propose. ENCODE names files; UPCODE and DOWNCODE name stripes.
 *
 * @param longestBlocks of an ENCODE: how many of the blocks, longest first; 0 for all
 * @param single of an ENCODE: the code is kept, the stripes need not be placed to merge
 */
public record Decision(
    TransitionKindProto kind,
    List<Long> fileIds,
    List<Long> stripeIds,
    String toCode,
    String policy,
    String reason,
    long dataBytes,
    int longestBlocks,
    boolean single) {

  /** As the namenode takes it. */
  public DecisionProto toProto() {
    DecisionProto.Builder proto =
        DecisionProto.newBuilder()
            .setKind(kind)
            .addAllFileIds(fileIds)
            .addAllStripeIds(stripeIds)
            .setToCode(toCode)
            .setPolicy(policy)
            .setReason(reason);
    if (single) {
      proto.setSingle(true);
    }
    if (longestBlocks > 0) {
      proto.setLongestBlocks(longestBlocks);
    }
    return proto.build();
  }
}
