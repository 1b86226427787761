package io.ebbfs.manager.policy;

import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.DOWNCODE;
import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.ENCODE;
import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.RELEASE;
import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.REWRITE;
import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.UPCODE;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.List;

/**
 * Transitions to propose. ENCODE names files; all other kinds name stripes: UPCODE (to compact),
 * DOWNCODE (to fast), REWRITE (all of them together) and SUBTRACT (each by itself). RELEASE names a
 * stripe and the files whose blocks leave it, or a file alone that its client has encoded.
 *
 * @param longestBlocks for ENCODE: how many of the blocks are encoded, longest first; 0 for all
 * @param movedBytes for REWRITE, SUBTRACT and RELEASE: bytes that are read and written; 0 for the
 *     kinds whose price follows from the codes
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

  /**
   * Encodes unencoded blocks of files.
   *
   * @param dataBytes of the blocks that are encoded
   * @param longestBlocks how many of the blocks are encoded, longest first; 0 for all
   */
  static Decision encode(
      PolicyRule rule,
      String toCode,
      List<Long> fileIds,
      String reason,
      long dataBytes,
      int longestBlocks) {
    return new Decision(
        ENCODE,
        fileIds,
        List.of(),
        toCode,
        rule.name(),
        reason,
        dataBytes,
        longestBlocks,
        0,
        rule.isSingle(),
        false);
  }

  /**
   * Converts stripes together between the two codes of a pair, by their parities.
   *
   * @param kind UPCODE or DOWNCODE
   */
  static Decision convert(
      TransitionKindProto kind,
      PolicyRule rule,
      String toCode,
      List<Long> stripeIds,
      String reason,
      long dataBytes) {
    return ofStripes(kind, rule, toCode, stripeIds, reason, dataBytes, 0, rule.isSingle(), false);
  }

  /**
   * Frees deleted data of stripes that keep their code.
   *
   * @param kind SUBTRACT or REWRITE
   * @param dataBytes of the live data in the stripes
   */
  static Decision free(
      TransitionKindProto kind,
      PolicyRule rule,
      String code,
      List<Long> stripeIds,
      String reason,
      long dataBytes,
      long movedBytes) {
    return ofStripes(kind, rule, code, stripeIds, reason, dataBytes, movedBytes, false, false);
  }

  /** Encodes the live data of stripes again, in another code. */
  static Decision recode(
      PolicyRule rule,
      String toCode,
      List<Long> stripeIds,
      String reason,
      long dataBytes,
      long movedBytes) {
    return ofStripes(
        REWRITE, rule, toCode, stripeIds, reason, dataBytes, movedBytes, rule.isSingle(), true);
  }

  /**
   * Takes the blocks of files out of a stripe, so that they become replicas.
   *
   * @param dataBytes of the blocks that leave
   */
  static Decision release(
      PolicyRule rule,
      String code,
      List<Long> fileIds,
      long stripeId,
      String reason,
      long dataBytes,
      long movedBytes) {
    return new Decision(
        RELEASE,
        fileIds,
        List.of(stripeId),
        code,
        rule.name(),
        reason,
        dataBytes,
        0,
        movedBytes,
        false,
        false);
  }

  /**
   * Makes a replicated file of a file that its client has encoded.
   *
   * @param dataBytes of the file
   */
  static Decision releaseClientStriped(
      PolicyRule rule, long fileId, String reason, long dataBytes, long movedBytes) {
    return new Decision(
        RELEASE,
        List.of(fileId),
        List.of(),
        rule.family().compact(), // has no meaning here
        rule.name(),
        reason,
        dataBytes,
        0,
        movedBytes,
        false,
        false);
  }

  /** Whether this makes a replicated file of one that its client has encoded. */
  public boolean releasesClientStriped() {
    return kind == RELEASE && stripeIds.isEmpty();
  }

  private static Decision ofStripes(
      TransitionKindProto kind,
      PolicyRule rule,
      String toCode,
      List<Long> stripeIds,
      String reason,
      long dataBytes,
      long movedBytes,
      boolean single,
      boolean recodes) {
    return new Decision(
        kind,
        List.of(),
        stripeIds,
        toCode,
        rule.name(),
        reason,
        dataBytes,
        0,
        movedBytes,
        single,
        recodes);
  }

  /** Whether data gets another code, or becomes replicas: it counts for the budget of the day. */
  public boolean isConversion() {
    return recodes || kind == RELEASE || kind == UPCODE || kind == DOWNCODE;
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
