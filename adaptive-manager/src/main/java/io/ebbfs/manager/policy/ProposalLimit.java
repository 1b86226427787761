package io.ebbfs.manager.policy;

import io.ebbfs.common.config.Units;

/**
 * How much one run may still propose for one policy. It limits logical bytes and counts of
 * transitions; transitions under way count too. Something larger than the whole limit is proposed
 * alone. Not thread-safe.
 */
final class ProposalLimit {
  private final long limitBytes;
  private long usedBytes;
  private final TransitionQuota transitions;

  ProposalLimit(long limitBytes, long bytesUnderWay, TransitionQuota transitions) {
    this.limitBytes = limitBytes;
    this.usedBytes = bytesUnderWay;
    this.transitions = transitions;
  }

  boolean allows(long bytes) {
    return allows(bytes, 0, 0);
  }

  /** Whether these bytes are allowed in addition to other bytes and their transitions. */
  boolean allows(long bytes, long otherBytes, long otherTransitions) {
    long before = usedBytes + otherBytes;
    return transitions.left() > otherTransitions && (before == 0 || before + bytes <= limitBytes);
  }

  void take(long bytes, long count) {
    usedBytes += bytes;
    transitions.take(count);
  }

  /** Whether anything is under way or proposed. */
  boolean isUsed() {
    return usedBytes > 0;
  }

  /** The limits, for messages about data that waits for them. */
  String show() {
    return "transitions under way: the limit of %s at once (maxBytesPerRun) or the limit of"
            .formatted(Units.showBytes(limitBytes))
        + " transitions (maxPendingTransitions) is reached";
  }
}
