package io.ebbfs.namenode.leader;

/**
 * The times of an election, in milliseconds.
 *
 * @param renew from one renewal to the next
 * @param timeout a leader whose row stands still for this long has lost
 */
public record LeaderTimes(long renew, long timeout) {
  /** A tenth of the time-out between renewals. */
  public static LeaderTimes of(long timeoutMillis) {
    return new LeaderTimes(Math.max(1, timeoutMillis / 10), timeoutMillis);
  }

  /**
   * A leader holds for four fifths of the time-out after the begin of its last renewal. The rest is
   * the difference that the clocks of two machines may show in this time, with a wide margin.
   */
  long holdNanos() {
    return timeout * 1_000_000 / 5 * 4;
  }

  /** A leader whose process seems to have ended has lost after one and a half renewals. */
  long endedNanos() {
    return renew * 1_500_000;
  }

  long timeoutNanos() {
    return timeout * 1_000_000;
  }
}
