package io.ebbfs.namenode.replicas;

import java.time.Clock;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The replicas that a balancer has replaced by replicas elsewhere, as the servers that got those
 * say. It is a hint for the choice among replicas of which one is too many: in memory, for a while,
 * and bounded. Without the hint another replica goes, and nothing is lost. Thread-safe.
 */
final class ReplacedReplicas {
  private static final long KEPT_MILLIS = 600_000;

  private record Hint(String serverUuid, long atMillis) {}

  private final Clock clock;
  private final int limit;
  // By block, oldest first.
  private final Map<Long, Hint> hints = new LinkedHashMap<>();

  ReplacedReplicas(Clock clock, int limit) {
    this.clock = clock;
    this.limit = limit;
  }

  /** A new replica of the block replaces the one of that server. */
  synchronized void note(long blockId, String serverUuid) {
    long now = clock.millis();
    hints.remove(blockId);
    hints.put(blockId, new Hint(serverUuid, now));
    Iterator<Hint> oldest = hints.values().iterator();
    Hint next = oldest.next();
    while (hints.size() > limit || now - next.atMillis() > KEPT_MILLIS) {
      oldest.remove();
      next = oldest.next();
    }
  }

  /**
   * The server has got a new replica of the block, which a hint about an older one does not mean.
   */
  synchronized void forget(long blockId, String serverUuid) {
    Hint hint = hints.get(blockId);
    if (hint != null && hint.serverUuid().equals(serverUuid)) {
      hints.remove(blockId);
    }
  }

  /** Whether the replica of the block on that server is replaced. */
  synchronized boolean has(long blockId, String serverUuid) {
    Hint hint = hints.get(blockId);
    return hint != null
        && hint.serverUuid().equals(serverUuid)
        && clock.millis() - hint.atMillis() <= KEPT_MILLIS;
  }
}
