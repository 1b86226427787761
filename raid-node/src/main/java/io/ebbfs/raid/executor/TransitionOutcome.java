package io.ebbfs.raid.executor;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;

/**
 * The result of one attempt at a transition.
 *
 * @param kind of the transition
 * @param result how it ended
 * @param detail the reason if it was not committed; else empty
 * @param work of its combines, also if it was not committed
 */
public record TransitionOutcome(
    long transitionId, TransitionKindProto kind, Result result, String detail, Work work) {

  /** How an attempt ends. */
  public enum Result {
    /** The namenode has published the outputs. */
    COMMITTED,
    /** The namenode refused the commit: the stripe changed, or the claim was lost. */
    REFUSED,
    /** A step failed; the namenode was told why. */
    FAILED,
    /** The claim was lost, or the namenode did not answer and the claim expires. */
    ABANDONED
  }

  /**
   * Work done by combines.
   *
   * @param blocksRead source blocks read
   * @param bytesRead bytes of these blocks
   * @param bytesWritten bytes of outputs written
   * @param micros time of all combines, one after the other
   * @param checks of the written blocks that were passed; the blocks and bytes that checks read are
   *     not part of {@code blocksRead} and {@code bytesRead}
   */
  public record Work(
      long blocksRead,
      long bytesRead,
      long bytesWritten,
      long micros,
      int checks,
      long checkBlocksRead,
      long checkBytesRead,
      long checkBytesReadRemote) {
    static final Work NONE = new Work(0, 0, 0, 0, 0, 0, 0, 0);

    Work plus(OutputVerifier.Result checked) {
      return plus(
          new Work(
              0,
              0,
              0,
              0,
              checked.passed(),
              checked.blocksRead(),
              checked.bytesRead(),
              checked.bytesReadRemote()));
    }

    Work plus(Work other) {
      return new Work(
          blocksRead + other.blocksRead,
          bytesRead + other.bytesRead,
          bytesWritten + other.bytesWritten,
          micros + other.micros,
          checks + other.checks,
          checkBlocksRead + other.checkBlocksRead,
          checkBytesRead + other.checkBytesRead,
          checkBytesReadRemote + other.checkBytesReadRemote);
    }
  }
}
