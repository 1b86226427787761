package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The row locks of one process. A lock exists only while a transaction holds it or waits for it, so
 * memory grows with running transactions, not with rows. Thread-safe; sharded by row.
 */
final class LockTable {
  private static final int SHARDS = 64;

  private final List<Map<Row, Counted>> shards = new ArrayList<>();
  private final long timeoutMillis;

  LockTable(long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
    for (int i = 0; i < SHARDS; i++) {
      shards.add(new HashMap<>());
    }
  }

  /** The locks of one transaction; owned by one thread. */
  public final class Holder implements AutoCloseable {
    private final List<RowLock> held = new ArrayList<>();

    /** Takes the locks in the total order; see {@link Transaction#lock}. */
    public void lock(List<RowLock> locks) throws IOException {
      for (RowLock lock : strongestFirstPerRow(locks)) {
        if (!held.isEmpty()) {
          RowLock last = held.get(held.size() - 1);
          int order = last.compareTo(lock);
          if (order == 0 && covers(last, lock)) {
            continue;
          }
          if (order >= 0) {
            if (isHeld(lock)) {
              continue;
            }
            throw new IllegalStateException(
                "lock on %s %s asked for after %s %s: lock all rows in one call"
                    .formatted(lock.table().name(), lock.key(), last.table().name(), last.key()));
          }
        }
        acquire(lock);
        held.add(lock);
      }
    }

    private boolean isHeld(RowLock lock) {
      return held.stream().anyMatch(h -> h.compareTo(lock) == 0 && covers(h, lock));
    }

    @Override
    public void close() {
      for (int i = held.size() - 1; i >= 0; i--) {
        release(held.get(i));
      }
      held.clear();
    }
  }

  public Holder holder() {
    return new Holder();
  }

  private static boolean covers(RowLock held, RowLock wanted) {
    return held.mode() == RowLock.Mode.EXCLUSIVE || wanted.mode() == RowLock.Mode.SHARED;
  }

  private static List<RowLock> strongestFirstPerRow(List<RowLock> locks) {
    List<RowLock> sorted = new ArrayList<>(locks);
    sorted.sort(
        (a, b) -> {
          int byRow = a.compareTo(b);
          return byRow != 0 ? byRow : b.mode().compareTo(a.mode());
        });
    return sorted;
  }

  private void acquire(RowLock lock) throws IOException {
    Row row = new Row(lock.table().order(), lock.key());
    Map<Row, Counted> shard = shardOf(row);
    Counted counted;
    synchronized (shard) {
      counted = shard.computeIfAbsent(row, ignored -> new Counted());
      counted.users++;
    }
    boolean obtained = false;
    try {
      long patience = NonBlocking.isActive() ? 0 : timeoutMillis;
      obtained =
          lock.mode() == RowLock.Mode.EXCLUSIVE
              ? counted.lock.writeLock().tryLock(patience, TimeUnit.MILLISECONDS)
              : counted.lock.readLock().tryLock(patience, TimeUnit.MILLISECONDS);
      if (!obtained && NonBlocking.isActive()) {
        throw WouldBlockException.INSTANCE;
      }
      if (!obtained) {
        throw new IOException(
            "no lock on row %s of table '%s' within %d ms: another transaction holds it; try again"
                .formatted(lock.key(), lock.table().name(), timeoutMillis));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for row " + lock.key(), e);
    } finally {
      if (!obtained) {
        forget(shard, row, counted);
      }
    }
  }

  private void release(RowLock lock) {
    Row row = new Row(lock.table().order(), lock.key());
    Map<Row, Counted> shard = shardOf(row);
    Counted counted;
    synchronized (shard) {
      counted = shard.get(row);
    }
    if (lock.mode() == RowLock.Mode.EXCLUSIVE) {
      counted.lock.writeLock().unlock();
    } else {
      counted.lock.readLock().unlock();
    }
    forget(shard, row, counted);
  }

  private static void forget(Map<Row, Counted> shard, Row row, Counted counted) {
    synchronized (shard) {
      if (--counted.users == 0) {
        shard.remove(row);
      }
    }
  }

  private Map<Row, Counted> shardOf(Row row) {
    int hash = row.hashCode();
    return shards.get((hash ^ (hash >>> 16)) & (SHARDS - 1));
  }

  private record Row(int table, Key key) {}

  private static final class Counted {
    // Fair, so that a stream of readers does not starve a writer.
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);
    private int users;
  }
}
