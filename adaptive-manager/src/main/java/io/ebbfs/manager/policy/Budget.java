package io.ebbfs.manager.policy;

/**
 * What one run may still propose for one policy: logical bytes and transitions, each together with
 * what is under way. Something larger than the whole limit goes alone. Not thread-safe.
 */
final class Budget {
  private final long limitBytes;
  private long usedBytes;
  private long transitions;

  Budget(long limitBytes, long pendingBytes, long transitionsLeft) {
    this.limitBytes = limitBytes;
    this.usedBytes = pendingBytes;
    this.transitions = transitionsLeft;
  }

  boolean allows(long bytes) {
    return allows(0, bytes, 0);
  }

  /** Whether bytes fit on top of others, and as many transitions as those others need. */
  boolean allows(long otherBytes, long bytes, long otherTransitions) {
    long before = usedBytes + otherBytes;
    return transitions > otherTransitions && (before == 0 || before + bytes <= limitBytes);
  }

  void take(long bytes, long count) {
    usedBytes += bytes;
    transitions -= count;
  }

  /** Whether anything is under way or proposed. */
  boolean used() {
    return usedBytes > 0;
  }

  long transitionsLeft() {
    return transitions;
  }
}
