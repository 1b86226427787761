package io.ebbfs.manager.policy;

import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.List;

/**
 * Transitions to propose. ENCODE names files; all other kinds name stripes: UPCODE (to compact),
 * DOWNCODE (to fast), REWRITE (all of them together) and SUBTRACT (each by itself).
 *
 * @param longestBlocks for ENCODE: how many of the blocks are encoded, longest first; 0 for all
 * @param movedBytes for REWRITE and SUBTRACT: bytes that are read and written; 0 for the kinds
 *     whose price follows from the codes
 * @param single for ENCODE, and for a REWRITE in another code: the stripes keep their code, so they
 *     need not be placed for a merge
 * @param recodes for REWRITE: the stripes get another code
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
    long movedBytes,
    boolean single,
    boolean recodes) {

  /** A decision that encodes nothing again in another code. */
  public Decision(
      TransitionKindProto kind,
      List<Long> fileIds,
      List<Long> stripeIds,
      String toCode,
      String policy,
      String reason,
      long dataBytes,
      int longestBlocks,
      long movedBytes,
      boolean single) {
    this(
        kind,
        fileIds,
        stripeIds,
        toCode,
        policy,
        reason,
        dataBytes,
        longestBlocks,
        movedBytes,
        single,
        false);
  }

  /** Whether stripes get another code. */
  public boolean isConversion() {
    return recodes || kind == TransitionKindProto.UPCODE || kind == TransitionKindProto.DOWNCODE;
  }

  /** The message to the namenode. */
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
