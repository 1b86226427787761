package io.ebbfs.namenode.datanodes;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How often each server sends heartbeats, learnt from the heartbeats themselves: servers choose
 * their intervals on their own command lines. Thread-safe.
 */
final class HeartbeatRhythm {
  /** A server that misses so many heartbeats is overdue. */
  private static final int MISSED = 3;

  /** No server is overdue before, however often it usually sends heartbeats. */
  private static final long LEAST_MILLIS = 3_000;

  /** Of the gaps between heartbeats, each gap counts for a fourth of the average. */
  private static final int WEIGHT = 4;

  /** The average gap in milliseconds, by server. */
  private final Map<String, Long> gaps = new ConcurrentHashMap<>();

  void heard(String serverUuid, long gapMillis) {
    gaps.merge(serverUuid, gapMillis, (average, gap) -> average + (gap - average) / WEIGHT);
  }

  /** A silence longer than this is unusual for the server. At most {@code mostMillis}. */
  long overdueAfterMillis(String serverUuid, long mostMillis) {
    long gap = gaps.getOrDefault(serverUuid, mostMillis);
    return Math.min(mostMillis, Math.max(LEAST_MILLIS, MISSED * gap));
  }

  void forget(String serverUuid) {
    gaps.remove(serverUuid);
  }
}
