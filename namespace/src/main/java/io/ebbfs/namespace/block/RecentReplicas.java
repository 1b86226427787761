package io.ebbfs.namespace.block;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers for a while which replicas came or went, since a full block report that was made before
 * and arrives after must not be believed about them. Bounded: if it forgets too early, it says of
 * all replicas that they may be recent. Thread-safe.
 */
final class RecentReplicas {
  private record ReplicaId(String storageUuid, long blockId) {}

  private final int limit;
  private final long rememberMillis;
  private final Map<ReplicaId, Long> recent = new LinkedHashMap<>();
  // Up to this time more may be recent than is remembered.
  private long incompleteUntil = Long.MIN_VALUE;

  RecentReplicas(int limit, long rememberMillis) {
    this.limit = limit;
    this.rememberMillis = rememberMillis;
  }

  synchronized void note(String storageUuid, long blockId, long nowMillis) {
    forgetOld(nowMillis);
    if (recent.size() >= limit) {
      Iterator<Long> oldest = recent.values().iterator();
      incompleteUntil = Math.max(incompleteUntil, oldest.next() + rememberMillis);
      oldest.remove();
    }
    ReplicaId id = new ReplicaId(storageUuid, blockId);
    recent.remove(id);
    recent.put(id, nowMillis);
  }

  /** True if the replica may have been noted after a report was made that arrives now. */
  synchronized boolean has(String storageUuid, long blockId, long nowMillis) {
    forgetOld(nowMillis);
    return nowMillis <= incompleteUntil || recent.containsKey(new ReplicaId(storageUuid, blockId));
  }

  private void forgetOld(long nowMillis) {
    Iterator<Long> times = recent.values().iterator();
    while (times.hasNext() && nowMillis - times.next() > rememberMillis) {
      times.remove();
    }
  }
}
