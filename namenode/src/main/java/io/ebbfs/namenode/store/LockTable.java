package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.RowLock.Mode;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.ipc.RetriableException;

/**
 * The row locks of one process. A lock exists only while a transaction holds it or waits for it, so
 * memory grows with running transactions, not with rows. Who came first gets a lock first, so that
 * a stream of readers does not starve a writer. Thread-safe; sharded by row.
 */
public final class LockTable {
  private static final int SHARDS = 256;
  private static final Comparator<RowLock> STRONGEST_FIRST_PER_ROW =
      Comparator.<RowLock>naturalOrder().thenComparing(RowLock::mode, Comparator.reverseOrder());

  private final List<Shard> shards = new ArrayList<>();
  private final long timeoutMillis;

  public LockTable(long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
    for (int i = 0; i < SHARDS; i++) {
      shards.add(new Shard());
    }
  }

  /** The locks of one transaction; owned by one thread. */
  public final class Holder implements AutoCloseable {
    private final List<Held> held = new ArrayList<>(4);

    /** Takes the locks in the total order; see {@link Transaction#lock}. */
    public void lock(List<RowLock> locks) throws IOException {
      RowLock[] sorted = locks.toArray(new RowLock[0]);
      Arrays.sort(sorted, STRONGEST_FIRST_PER_ROW);
      for (RowLock lock : sorted) {
        if (!isHeld(lock)) {
          held.add(acquire(lock));
        }
      }
    }

    /** Whether the lock is held already; fails if its turn has passed. */
    private boolean isHeld(RowLock wanted) {
      if (held.isEmpty()) {
        return false;
      }
      RowLock last = held.get(held.size() - 1).lock();
      if (last.compareTo(wanted) < 0) {
        return false;
      }
      for (Held one : held) {
        if (one.lock().compareTo(wanted) == 0 && covers(one.lock(), wanted)) {
          return true;
        }
      }
      throw new IllegalStateException(
          "lock on %s %s asked for after %s %s: lock all rows in one call"
              .formatted(wanted.table().name(), wanted.key(), last.table().name(), last.key()));
    }

    /** Whether a row of a table is locked. */
    boolean holdsAny(Table<?> table) {
      for (Held one : held) {
        if (one.lock().table() == table) {
          return true;
        }
      }
      return false;
    }

    /** The partitions of the locked rows of a table. */
    Set<Long> partitions(Table<?> table) {
      Set<Long> partitions = holdsAny(table) ? new HashSet<>() : Set.of();
      for (Held one : held) {
        if (one.lock().table() == table) {
          partitions.add(one.lock().key().partition());
        }
      }
      return partitions;
    }

    @Override
    public void close() {
      for (int i = held.size() - 1; i >= 0; i--) {
        Held one = held.get(i);
        shardOf(one.row()).release(one.row(), one.lock().mode());
      }
      held.clear();
    }
  }

  private record Held(RowLock lock, RowKey row) {}

  public Holder holder() {
    return new Holder();
  }

  private static boolean covers(RowLock held, RowLock wanted) {
    return held.mode() == Mode.EXCLUSIVE || wanted.mode() == Mode.SHARED;
  }

  private Held acquire(RowLock lock) throws IOException {
    RowKey row = new RowKey(lock.table(), lock.key());
    Shard shard = shardOf(row);
    Waiter waiter = shard.takeOrQueue(row, lock.mode());
    if (waiter != null) {
      await(shard, row, waiter);
    }
    return new Held(lock, row);
  }

  private void await(Shard shard, RowKey row, Waiter waiter) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    while (!waiter.granted) {
      long left = deadline - System.nanoTime();
      boolean interrupted = Thread.currentThread().isInterrupted();
      if (!interrupted && left > 0) {
        LockSupport.parkNanos(this, left);
      } else if (shard.giveUp(row, waiter)) {
        if (interrupted) {
          throw new IOException("interrupted while waiting for " + row);
        }
        // Stock clients of several namenodes repeat a call whose failure has this class.
        throw new RetriableException(
            "no lock on row %s of table '%s' within %d ms: another transaction holds it; try again"
                .formatted(row.key(), row.table().name(), timeoutMillis));
      }
    }
  }

  private Shard shardOf(RowKey row) {
    int hash = row.hashCode();
    return shards.get((hash ^ (hash >>> 16)) & (SHARDS - 1));
  }

  /** A transaction that waits for a row. */
  private static final class Waiter {
    private final Thread thread = Thread.currentThread();
    private final Mode mode;
    private volatile boolean granted;

    private Waiter(Mode mode) {
      this.mode = mode;
    }
  }

  /** One locked row; guarded by its shard. */
  private static final class Lock {
    // -1: one transaction, exclusively.
    private int holders;
    // In the order of arrival; null until somebody waits.
    private ArrayDeque<Waiter> waiters;

    private boolean isFreeFor(Mode mode) {
      return holders == 0 || holders > 0 && mode == Mode.SHARED;
    }

    private boolean hasWaiters() {
      return waiters != null && !waiters.isEmpty();
    }

    private void take(Mode mode) {
      holders = mode == Mode.EXCLUSIVE ? -1 : holders + 1;
    }

    private void give(Mode mode) {
      holders = mode == Mode.EXCLUSIVE ? 0 : holders - 1;
    }

    private void grantToNext() {
      while (hasWaiters() && isFreeFor(waiters.peek().mode)) {
        Waiter next = waiters.poll();
        take(next.mode);
        next.granted = true;
        LockSupport.unpark(next.thread);
      }
    }
  }

  private static final class Shard {
    private final Map<RowKey, Lock> locks = new HashMap<>();

    /** Takes the lock and returns null, or queues for it. */
    private synchronized Waiter takeOrQueue(RowKey row, Mode mode) {
      Lock lock = locks.get(row);
      if (lock == null) {
        lock = new Lock();
        locks.put(row, lock);
      }
      if (!lock.hasWaiters() && lock.isFreeFor(mode)) {
        lock.take(mode);
        return null;
      }
      if (NonBlocking.isActive()) {
        throw WouldBlockException.INSTANCE;
      }
      if (lock.waiters == null) {
        lock.waiters = new ArrayDeque<>();
      }
      Waiter waiter = new Waiter(mode);
      lock.waiters.add(waiter);
      return waiter;
    }

    /** Leaves the queue. Returns false if the lock was granted meanwhile. */
    private synchronized boolean giveUp(RowKey row, Waiter waiter) {
      if (waiter.granted) {
        return false;
      }
      Lock lock = locks.get(row);
      lock.waiters.remove(waiter);
      lock.grantToNext();
      return true;
    }

    private synchronized void release(RowKey row, Mode mode) {
      Lock lock = locks.get(row);
      lock.give(mode);
      lock.grantToNext();
      if (lock.holders == 0) {
        locks.remove(row);
      }
    }
  }
}
