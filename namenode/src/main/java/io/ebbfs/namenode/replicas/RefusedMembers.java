package io.ebbfs.namenode.replicas;

import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The members of stripes that could not move to level disks. They are not asked for again for a
 * while, so that other members of the disk get their turn. If there are too many, the oldest are
 * forgotten. For one thread.
 */
final class RefusedMembers {
  private static final long PAUSE_MILLIS = 600_000;
  private static final int MOST = 10_000;

  private final Clock clock;
  private final Map<Long, Long> untilMillis =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
          return size() > MOST;
        }
      };

  RefusedMembers(Clock clock) {
    this.clock = clock;
  }

  void add(long blockId) {
    untilMillis.remove(blockId);
    untilMillis.put(blockId, clock.millis() + PAUSE_MILLIS);
  }

  boolean has(long blockId) {
    return untilMillis.getOrDefault(blockId, 0L) > clock.millis();
  }

  void clear() {
    untilMillis.clear();
  }
}
