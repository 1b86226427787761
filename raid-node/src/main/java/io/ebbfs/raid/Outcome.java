package io.ebbfs.raid;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;

/**
 * What came of one attempt at a transition.
 *
 * @param kind what it was to do
 * @param result how it ended
 * @param detail why, unless committed; else empty
 * @param work what its combines did, also if it was not committed
 */
public record Outcome(
    long transitionId, TransitionKindProto kind, Result result, String detail, Work work) {

  /** How an attempt ends. */
  public enum Result {
    /** The namenode has published the outputs. */
    COMMITTED,
    /** The namenode did not want them: the stripe changed, or the claim was another's. */
    REFUSED,
    /** A step failed; the namenode was told why. */
    FAILED,
    /** The claim ended while it ran, or the namenode was not reached: the claim expires. */
    ABANDONED
  }

  /**
   * Work done by combines.
   *
   * @param blocksRead source blocks read
   * @param bytesRead bytes of them
   * @param bytesWritten bytes of outputs written
   * @param micros time of all combines, one after the other
   * @param checks passed of what was written; what they read is counted on its own
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

    Work plus(Verifier.Result checked) {
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
