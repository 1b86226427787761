package io.ebbfs.namespace.store;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * One transaction. Used by one thread, valid until its body returns.
 *
 * <p>The order of work: read without locks to learn which rows matter, {@link #lock} them all in
 * one call, read them again, decide, write. A read sees the transaction's own writes, else the
 * newest committed row. Rows that hang on another row (the blocks and replicas of a file, the
 * parities of a stripe) are protected by the lock of that row and are not locked themselves.
 */
public interface Transaction {
  /**
   * Locks rows, present or not, until the end of the transaction. Locks are taken in one total
   * order, so that no two transactions wait for each other; a later call may only add rows that
   * come after all rows locked before (tables by their order in {@link Tables}, then keys).
   *
   * @throws IllegalStateException if a later call breaks the order
   * @throws IOException if a lock is not obtained within the store's time limit; names the row
   */
  void lock(List<RowLock> locks) throws IOException;

  <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException;

  /** The rows in the order of the keys, in one round trip. */
  <V extends MessageLite> List<Optional<V>> getAll(Table<V> table, List<Key> keys)
      throws IOException;

  /**
   * Rows of one partition in key order.
   *
   * @param after the last key of the previous page, or null for the first page
   */
  <V extends MessageLite> List<Row<V>> scan(Table<V> table, long partition, Key after, int limit)
      throws IOException;

  <V extends MessageLite> void put(Table<V> table, Key key, V value);

  void delete(Table<?> table, Key key);

  /** All rows of a partition, for partitions that are known to be small. */
  default <V extends MessageLite> List<Row<V>> scan(Table<V> table, long partition)
      throws IOException {
    return scan(table, partition, null, Integer.MAX_VALUE);
  }
}
