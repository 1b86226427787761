package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A sequence of ids (inodes, blocks, generation stamps ...) that never repeats, across restarts and
 * namenodes. Ranges of ids are reserved in the store, each twice as long as the one before, so that
 * a namenode that creates many files seldom waits for a range; unused ids of a range are lost at a
 * restart. Thread-safe.
 */
public final class IdGenerator {
  private static final int FIRST_RANGE = 1000;

  /** At 20,000 files a second, a range of this size lasts three seconds. */
  private static final int GREATEST_RANGE = 64_000;

  private final MetadataStore store;
  private final Key key;
  private final long first;
  private final ReentrantLock lock = new ReentrantLock();
  private int range = FIRST_RANGE;
  private long next;
  private long end;
  // Ids below this one are reserved in the store, by this process or an earlier one.
  private long reservedBelow;

  /**
   * @param name the durable name of the sequence
   * @param first the first id of a new store
   */
  IdGenerator(MetadataStore store, String name, long first) {
    this.store = store;
    this.key = Tables.named(name);
    this.first = first;
  }

  /** Ids of inodes and stripes. The root directory has 16385, as in HDFS. */
  public static IdGenerator inodes(MetadataStore store) {
    return new IdGenerator(store, "nextInodeId", 16386);
  }

  public static IdGenerator blocks(MetadataStore store) {
    return new IdGenerator(store, "nextBlockId", (1L << 30) + 1);
  }

  public static IdGenerator generationStamps(MetadataStore store) {
    return new IdGenerator(store, "nextGenerationStamp", 1001);
  }

  public static IdGenerator transitions(MetadataStore store) {
    return new IdGenerator(store, "nextTransitionId", 1);
  }

  public static IdGenerator storages(MetadataStore store) {
    return new IdGenerator(store, "nextStorageNumber", 1);
  }

  /** The next id. Must not be called from within a transaction. */
  public long next() throws IOException {
    return nextRun(1);
  }

  /**
   * Reserves consecutive ids and returns the first. Must not be called from within a transaction.
   *
   * @param count at most 1000
   */
  public long nextRun(int count) throws IOException {
    if (count < 1 || count > FIRST_RANGE) {
      throw new IllegalArgumentException(count + " consecutive ids asked for: 1 to " + FIRST_RANGE);
    }
    enter();
    try {
      if (end - next < count) {
        end = reserve();
        next = end - range;
        range = Math.min(2 * range, GREATEST_RANGE);
      }
      long first = next;
      next += count;
      return first;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The next id above another one that was given out, perhaps from the range of another process.
   * Must not be called from within a transaction.
   */
  public long nextAbove(long given) throws IOException {
    enter();
    try {
      if (next <= given) {
        next = end; // a new range is above all ids that were given out
      }
      return nextRun(1);
    } finally {
      lock.unlock();
    }
  }

  /** Whoever holds the lock may wait for the disk. */
  private void enter() {
    if (!NonBlocking.isActive()) {
      lock.lock();
    } else if (!lock.tryLock()) {
      throw WouldBlockException.INSTANCE;
    }
  }

  /**
   * Makes sure that the sequence never gives out this id, because somebody uses the id already: the
   * store is older than the id. Must not be called from within a transaction.
   *
   * @param margin ids that are left out behind it, because more of them may be in use
   * @return whether the sequence was not past the id
   */
  public boolean skipPast(long usedId, long margin) throws IOException {
    enter();
    try {
      return skipPastLocked(usedId, margin);
    } finally {
      lock.unlock();
    }
  }

  private boolean skipPastLocked(long usedId, long margin) throws IOException {
    if (usedId < Math.max(end, reservedBelow)) {
      return false;
    }
    reservedBelow =
        store.transact(
            key.partition(),
            Durability.SYNCED,
            transaction -> {
              transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key)));
              long start =
                  transaction.get(Tables.COUNTER, key).map(CounterRow::getValue).orElse(first);
              if (usedId < start) {
                return start;
              }
              long behind = usedId + 1 + margin;
              transaction.put(
                  Tables.COUNTER, key, CounterRow.newBuilder().setValue(behind).build());
              return behind;
            });
    boolean skipped = reservedBelow == usedId + 1 + margin;
    if (skipped) {
      next = end;
    }
    return skipped;
  }

  /** Leaves out a number of ids. Must not be called from within a transaction. */
  public void skip(long count) throws IOException {
    enter();
    try {
      skipPastLocked(reserve() + count, 0);
    } finally {
      lock.unlock();
    }
  }

  /** The range is on the disk before the first of its ids is used, by whatever thread. */
  private long reserve() throws IOException {
    if (NonBlocking.isActive()) {
      throw WouldBlockException.INSTANCE;
    }
    return PendingSync.outside(() -> store.transact(key.partition(), this::takeRange));
  }

  private long takeRange(Transaction transaction) throws IOException {
    transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key)));
    long start = transaction.get(Tables.COUNTER, key).map(CounterRow::getValue).orElse(first);
    transaction.put(Tables.COUNTER, key, CounterRow.newBuilder().setValue(start + range).build());
    return start + range;
  }
}
