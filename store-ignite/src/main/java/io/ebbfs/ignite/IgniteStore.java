package io.ebbfs.ignite;

import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.LockTable;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.StoreOpenException;
import io.ebbfs.namenode.store.Table;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * The store on Apache Ignite, which many processes share. This process is a client of the nodes
 * that hold the rows ({@link StoreNode}). Documented in {@code docs/metadata-store.md}.
 *
 * <p>A commit is on all running nodes with copies of its rows when it returns, whatever its
 * durability.
 */
public final class IgniteStore implements MetadataStore {
  private final StoreConnection connection;
  private final StoreCalls calls;
  private final DirectoryHints hints = new DirectoryHints();
  private final ChangeLog changes = new ChangeLog(this);
  private final LockTable locks;
  private final long patienceMillis;

  private IgniteStore(StoreConnection connection, StoreClientConfig config, StoreCalls calls) {
    this.connection = connection;
    this.calls = calls;
    this.locks = new LockTable(config.lockTimeoutMillis());
    this.patienceMillis = config.patienceMillis();
  }

  /**
   * Joins the store.
   *
   * @throws StoreOpenException if the store is not there, or not complete, within the time to join
   */
  public static IgniteStore open(StoreClientConfig config) throws IOException {
    StoreCalls calls = new StoreCalls();
    return new IgniteStore(new StoreConnection(config, calls), config, calls);
  }

  @Override
  public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    NonBlocking.beforeTransaction();
    Repetition repetition = null;
    while (true) {
      try {
        return attempt(body);
      } catch (ConflictException e) {
        calls.conflicts.increment();
        repetition = repetition == null ? new Repetition(patienceMillis) : repetition;
        repetition.pause(e);
      }
    }
  }

  private <R> R attempt(TransactionBody<R> body) throws IOException {
    StoreConnection.Joined joined = connection.joined();
    IgniteTransaction transaction = null;
    try (LockTable.Holder held = locks.holder();
        IgniteTransaction opened =
            new IgniteTransaction(joined, hints, changes, patienceMillis, held)) {
      transaction = opened;
      return run(body, opened);
    } finally {
      if (transaction != null && transaction.isAbandoned()) {
        connection.renew(joined);
      }
    }
  }

  private static <R> R run(TransactionBody<R> body, IgniteTransaction transaction)
      throws IOException {
    R result;
    try {
      result = body.run(transaction);
      transaction.prepare();
    } catch (StaleReadException | ConflictException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      transaction.check(); // perhaps it failed because rows changed while it read them
      throw e;
    }
    transaction.commit();
    return result;
  }

  /** Every commit is on all running nodes with copies when it returns. */
  @Override
  public void sync() {
    NonBlocking.beforeTransaction();
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException {
    return connection.joined().rows().scanAll(table, after, limit);
  }

  @Override
  public ChangeLog changes() {
    return changes;
  }

  @Override
  public Map<String, Long> calls() {
    return calls.sums();
  }

  /**
   * Writes all rows as they are at one moment into a new embedded store, while transactions go on.
   * The nodes of the store need room on their disks for another copy of the rows.
   *
   * @throws IOException if a node is lost meanwhile, or the directory cannot be written
   */
  @Override
  public void checkpoint(Path target) throws IOException {
    new StoreSnapshot(connection.joined()).copyTo(target);
  }

  /** Removes all rows. For tests. */
  void clear() throws IOException {
    connection.joined().rows().cache().removeAll();
  }

  @Override
  public void close() {
    connection.close();
  }
}
