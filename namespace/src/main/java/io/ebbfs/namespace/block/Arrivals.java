package io.ebbfs.namespace.block;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * News of replicas: wakes who waits for a block, and remembers for a while which replicas became
 * known, since a block report that was made before must not be read as their loss. Thread-safe.
 */
final class Arrivals {
  private record ReplicaId(String storageUuid, long blockId) {}

  private static final class Waiter {
    private int users;
    private long news;
  }

  private final int limit;
  private final long rememberMillis;
  private final Map<ReplicaId, Long> recent = new LinkedHashMap<>();
  // Up to this time more may be recent than is remembered.
  private long incompleteUntil = Long.MIN_VALUE;
  private final Map<Long, Waiter> waiters = new HashMap<>();

  Arrivals(int limit, long rememberMillis) {
    this.limit = limit;
    this.rememberMillis = rememberMillis;
  }

  /** A replica was reported as newly written. */
  void note(String storageUuid, long blockId, long nowMillis) {
    synchronized (recent) {
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
  }

  /** True if the replica may have become known after a report was made that arrives now. */
  boolean isRecent(String storageUuid, long blockId, long nowMillis) {
    synchronized (recent) {
      forgetOld(nowMillis);
      return nowMillis <= incompleteUntil
          || recent.containsKey(new ReplicaId(storageUuid, blockId));
    }
  }

  private void forgetOld(long nowMillis) {
    Iterator<Long> times = recent.values().iterator();
    while (times.hasNext() && nowMillis - times.next() > rememberMillis) {
      times.remove();
    }
  }

  // ---- waiting
  // ------------------------------------------------------------------------------------

  /** Somebody is going to wait for the block: from now on no news of it is missed. */
  void enter(long blockId) {
    synchronized (waiters) {
      waiters.computeIfAbsent(blockId, ignored -> new Waiter()).users++;
    }
  }

  void leave(long blockId) {
    synchronized (waiters) {
      Waiter waiter = waiters.get(blockId);
      if (--waiter.users == 0) {
        waiters.remove(blockId);
      }
    }
  }

  /** How much news of the block there was since {@link #enter}. */
  long news(long blockId) {
    Waiter waiter = waiterOf(blockId);
    synchronized (waiter) {
      return waiter.news;
    }
  }

  /** Waits for more news than that, or until the time of {@link System#nanoTime} is reached. */
  void await(long blockId, long seen, long deadlineNanos) throws InterruptedException {
    Waiter waiter = waiterOf(blockId);
    synchronized (waiter) {
      while (waiter.news == seen) {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0) {
          return;
        }
        TimeUnit.NANOSECONDS.timedWait(waiter, left);
      }
    }
  }

  private Waiter waiterOf(long blockId) {
    synchronized (waiters) {
      return waiters.get(blockId);
    }
  }

  void wake(long blockId) {
    Waiter waiter = waiterOf(blockId);
    if (waiter != null) {
      synchronized (waiter) {
        waiter.news++;
        waiter.notifyAll();
      }
    }
  }
}
