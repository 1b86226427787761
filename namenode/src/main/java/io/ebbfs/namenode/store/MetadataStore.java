package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Stores all metadata: files, blocks, stripes and transitions are rows in tables, which
 * transactions read and write.
 *
 * <p>Implementations are thread-safe and pass the same contract tests. The rows of one partition
 * (one parent directory, one file, one stripe) are stored together, so that most transactions touch
 * one place.
 */
public interface MetadataStore extends AutoCloseable {
  /** The failures that a commit survives. */
  enum Durability {
    /** The commit is on disk before {@link #transact} returns; concurrent commits share a sync. */
    SYNCED,
    /**
     * The commit survives the death of this process, but perhaps not a crash of the machine. For
     * rows that block reports bring back.
     */
    RELAXED
  }

  /**
   * Runs the body and commits all of its writes at once. If the body throws, nothing is written.
   * The body may run more than once, because a store on many machines repeats it after a conflict.
   * So the body must have no effect outside of the transaction.
   *
   * @param partitionHint the partition that most rows of the transaction belong to
   * @throws IOException if the store failed, a lock was not obtained in time, or from the body
   */
  <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException;

  /** Runs a synced transaction. */
  default <R> R transact(long partitionHint, TransactionBody<R> body) throws IOException {
    return transact(partitionHint, Durability.SYNCED, body);
  }

  /**
   * Runs a {@link Durability#RELAXED} transaction of background work. Its reads displace nothing
   * from caches, because nobody reads the same rows again soon.
   */
  default <R> R transactInBackground(long partitionHint, TransactionBody<R> body)
      throws IOException {
    return transact(partitionHint, Durability.RELAXED, body);
  }

  /**
   * Runs a transaction of background work that neither locks nor writes. Its scans may see a table
   * as it was at any moment since the begin of the transaction. Scans of partitions in their order
   * are cheap.
   */
  default <R> R listInBackground(long partitionHint, TransactionBody<R> body) throws IOException {
    return transactInBackground(partitionHint, body);
  }

  /**
   * A page of all rows of a table, outside of any transaction. Each row is committed, but the page
   * is no snapshot. The rows of a partition follow each other in key order; the order of partitions
   * is up to the store, and always the same. For background scans.
   *
   * @param after the last key of the previous page, or null for the first page
   */
  <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException;

  /**
   * Visits all rows of a table, page by page, as {@link #scanAll} reads them. The visit may write
   * rows, and the first failure ends the scan.
   */
  default <V extends MessageLite> void eachRow(Table<V> table, RowVisitor<V> visitor)
      throws IOException {
    Key after = null;
    List<Row<V>> page;
    do {
      page = scanAll(table, after, table.rowsOfAPage());
      for (Row<V> row : page) {
        visitor.visit(row.key(), row.value());
        after = row.key();
      }
    } while (page.size() == table.rowsOfAPage());
  }

  /**
   * Returns once all commits up to now are on disk, {@link Durability#RELAXED} ones too. To be
   * called before something is done that cannot be undone and that only these commits explain. Must
   * not be called from within a transaction.
   */
  default void sync() throws IOException {
    Key key = Tables.named("sync");
    transact(
        key.partition(),
        Durability.SYNCED,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, key)));
          transaction.put(Tables.SETTING, key, SettingRow.newBuilder().setValue("").build());
          return null;
        });
  }

  /**
   * Writes all rows as they are at one moment into a new directory, as an embedded store, while
   * transactions go on.
   *
   * @throws IOException if the directory exists or cannot be written
   */
  default void checkpoint(Path target) throws IOException {
    throw new IOException("a store in memory has no backups");
  }

  /** The sums of what is stored. Every commit of {@link #transact} keeps them. */
  ChangeLog changes();

  /** How often this process has asked something of other machines, by kind; empty if never. */
  default Map<String, Long> calls() {
    return Map.of();
  }

  @Override
  void close() throws IOException;

  /** What is done with each row of a table. */
  @FunctionalInterface
  interface RowVisitor<V extends MessageLite> {
    void visit(Key key, V value) throws IOException;
  }

  /** The work in a transaction. */
  @FunctionalInterface
  interface TransactionBody<R> {
    R run(Transaction transaction) throws IOException;
  }
}
