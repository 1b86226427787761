package io.ebbfs.namespace.block;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Who waits for replicas of a block, and is woken by their reports. Thread-safe. */
final class ReplicaWaiters {
  private static final class Waiter {
    private int users;
    private long news;
  }

  private final Map<Long, Waiter> waiters = new HashMap<>();

  /** Somebody is going to wait for the block: from now on no news of it is missed. */
  synchronized void enter(long blockId) {
    waiters.computeIfAbsent(blockId, ignored -> new Waiter()).users++;
  }

  synchronized void leave(long blockId) {
    Waiter waiter = waiters.get(blockId);
    if (--waiter.users == 0) {
      waiters.remove(blockId);
    }
  }

  /** How much news of the block there was since {@link #enter}. */
  long news(long blockId) {
    Waiter waiter = of(blockId);
    synchronized (waiter) {
      return waiter.news;
    }
  }

  /** Waits for more news than that, or until the time of {@link System#nanoTime} is reached. */
  void await(long blockId, long seen, long deadlineNanos) throws InterruptedException {
    Waiter waiter = of(blockId);
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

  private synchronized Waiter of(long blockId) {
    return waiters.get(blockId);
  }

  void wake(long blockId) {
    Waiter waiter = of(blockId);
    if (waiter != null) {
      synchronized (waiter) {
        waiter.news++;
        waiter.notifyAll();
      }
    }
  }
}
