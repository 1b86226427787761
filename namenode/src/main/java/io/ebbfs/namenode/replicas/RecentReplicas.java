package io.ebbfs.namenode.replicas;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers for a while which replicas came or went. A full block report that was made before such
 * a change and arrives after it is wrong about that replica. The memory is bounded; after a replica
 * was forgotten too early, {@link #has} says true of every replica for a while. Thread-safe.
 */
final class RecentReplicas {
  private record ReplicaId(String storageUuid, long blockId) {}

  private final int limit;
  private final long rememberMillis;
  private final Map<ReplicaId, Long> recent = new LinkedHashMap<>();
  // Until this time the map may lack a recent replica.
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

  /** True if the replica may have changed after the making of a report that arrives now. */
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
