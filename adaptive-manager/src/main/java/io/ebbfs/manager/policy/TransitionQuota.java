package io.ebbfs.manager.policy;

/** How many transitions one run may still propose, for all policies together. Not thread-safe. */
final class TransitionQuota {
  private long left;

  TransitionQuota(long left) {
    this.left = left;
  }

  long left() {
    return left;
  }

  void take(long count) {
    left -= count;
  }
}
