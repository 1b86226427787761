package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * One transaction. Used by one thread; valid until its body returns.
 *
 * <p>A body works in this order: read without locks to find the rows, {@link #lock} all of them in
 * one call, read them again, decide, write. A read sees the transaction's own writes, else the
 * newest committed row. Some rows belong to another row, such as the blocks of a file to its inode;
 * the lock of that other row protects them, and they are not locked themselves.
 */
public interface Transaction {
  /**
   * Locks rows, existing or not, until the end of the transaction. All transactions take locks in
   * one total order (tables by their order in {@link Tables}, then keys), so no two transactions
   * wait for each other. A later call may only add rows that come after all locked rows.
   *
   * @throws IllegalStateException if a later call breaks the order
   * @throws IOException if the time limit of the store ends before the lock is free; names the row
   */
  void lock(List<RowLock> locks) throws IOException;

  <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException;

  /** The rows in the order of the keys, in one round trip. */
  <V extends MessageLite> List<Optional<V>> getAll(Table<V> table, List<Key> keys)
      throws IOException;

  /** Rows of any tables, in one round trip. */
  default RowSet read(List<RowKey> rows) throws IOException {
    Map<RowKey, Optional<? extends MessageLite>> found = new HashMap<>();
    for (RowKey row : rows) {
      found.put(row, get(row.table(), row.key()));
    }
    return new RowSet(found);
  }

  /** Locks rows as {@link #lock} does and reads them under the locks, in one round trip. */
  default RowSet lockAndRead(List<RowLock> locks) throws IOException {
    lock(locks);
    return read(locks.stream().map(lock -> new RowKey(lock.table(), lock.key())).toList());
  }

  /**
   * Rows of one partition in key order, of which neither bound is part.
   *
   * @param after the last key of the previous page, or null for the first page
   * @param before the key behind the last row, or null for the end of the partition
   */
  <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, long partition, Key after, Key before, int limit) throws IOException;

  /**
   * Waits until the commits on rows of a partition that have begun have ended. A store of many
   * processes may show one row of a commit before another. Who has seen the one sees the other
   * after the wait.
   *
   * @param writtenMillis when the row was written that was seen. The commit of a row that was
   *     written more than a minute ago has ended
   * @return false if there was no need to wait, or if a commit does not end soon
   */
  default boolean awaitCommits(long partition, long writtenMillis) {
    return false;
  }

  <V extends MessageLite> void put(Table<V> table, Key key, V value);

  /** Whether other processes, too, write rows of this store. */
  default boolean isShared() {
    return hints().isPresent();
  }

  /** What this process remembers of the tree; empty if no other process writes to this store. */
  Optional<DirectoryHints> hints();

  void delete(Table<?> table, Key key);

  /** Which directories of this transaction snapshots may see; see {@link SnapshotLedger}. */
  SnapshotNotes snapshots();

  /** What a process remembers of a transaction: see {@link #afterCommit}. */
  @FunctionalInterface
  interface AfterCommit {
    /**
     * Runs once, while the locks of the transaction are still held.
     *
     * @param known whether it is known that the transaction has taken effect
     */
    void apply(boolean known);
  }

  /**
   * Has something noted in the memory of this process once the transaction has committed, or
   * perhaps has. Nothing is noted if the transaction is refused, fails or runs again.
   */
  void afterCommit(AfterCommit effect);

  /** Rows of one partition in key order, after a key (or null). */
  default <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, long partition, Key after, int limit) throws IOException {
    return scan(table, partition, after, null, limit);
  }

  /** All rows of a partition. For small partitions. */
  default <V extends MessageLite> List<Row<V>> scan(Table<V> table, long partition)
      throws IOException {
    return scan(table, partition, null, null, Integer.MAX_VALUE);
  }
}
