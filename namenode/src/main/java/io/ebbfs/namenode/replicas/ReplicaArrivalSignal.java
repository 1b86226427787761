package io.ebbfs.namenode.replicas;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Wakes threads that wait for replicas of a block when a report brings a replica. Thread-safe. */
final class ReplicaArrivalSignal {
  private static final class Waiter {
    private int users;
    private long news;
  }

  private final Map<Long, Waiter> waiters = new HashMap<>();

  /** Begins to count the news of a block, so that a wait from now on misses none. */
  synchronized void enter(long blockId) {
    waiters.computeIfAbsent(blockId, ignored -> new Waiter()).users++;
  }

  /** Ends what {@link #enter} began. */
  synchronized void leave(long blockId) {
    Waiter waiter = waiters.get(blockId);
    if (--waiter.users == 0) {
      waiters.remove(blockId);
    }
  }

  /** The number of news of the block since {@link #enter}. */
  long news(long blockId) {
    Waiter waiter = of(blockId);
    synchronized (waiter) {
      return waiter.news;
    }
  }

  /**
   * Waits until the block has more news than seen, or {@link System#nanoTime} is at the deadline.
   */
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
