package io.ebbfs.namespace.store;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * The only truth about files, blocks and stripes: rows in tables, read and written in transactions.
 *
 * <p>Implementations are thread-safe and pass the same contract tests. All rows of one partition
 * (of one parent directory, one file, one stripe) are kept together, so that a transaction with a
 * good hint touches one place.
 */
public interface MetadataStore extends AutoCloseable {
  /** How much a commit has to survive. */
  enum Durability {
    /** The commit is on disk before {@link #transact} returns; concurrent commits share a sync. */
    SYNCED,
    /**
     * The commit survives the death of this process, but perhaps not of the machine. For rows that
     * block reports bring back.
     */
    RELAXED
  }

  /**
   * Runs the body and commits what it wrote, all or nothing. If the body throws, nothing is
   * written. The body may run more than once (an implementation on many machines repeats it after a
   * conflict): it must have no effects besides those on the transaction.
   *
   * @param partitionHint the partition that most rows of the transaction belong to
   * @throws IOException if the store failed, a lock was not obtained in time, or from the body
   */
  <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException;

  /** Short for a synced transaction. */
  default <R> R transact(long partitionHint, TransactionBody<R> body) throws IOException {
    return transact(partitionHint, Durability.SYNCED, body);
  }

  /**
   * A page of all rows of a table in key order, outside of any transaction: each row is one that
   * was committed, the page as a whole is no snapshot. For background scans.
   *
   * @param after the last key of the previous page, or null for the first page
   */
  <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException;

  @Override
  void close() throws IOException;

  /** What happens in a transaction. */
  @FunctionalInterface
  interface TransactionBody<R> {
    R run(Transaction transaction) throws IOException;
  }
}
