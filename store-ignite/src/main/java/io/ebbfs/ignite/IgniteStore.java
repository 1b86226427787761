package io.ebbfs.ignite;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.LockTable;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.StoreOpenException;
import io.ebbfs.namenode.store.Table;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteException;
import org.apache.ignite.Ignition;

/**
 * The store on Apache Ignite, which many processes share. This process is a client of the nodes
 * that hold the rows ({@link StoreNode}). Documented in {@code docs/metadata-store.md}.
 *
 * <p>A commit is on two nodes when it returns, whatever its durability.
 */
public final class IgniteStore implements MetadataStore {
  private static final long POLL_NANOS = 20_000_000;

  private final Ignite ignite;
  private final IgniteRows rows;
  private final LockTable locks;
  private final long patienceMillis;
  private volatile boolean closed;

  private IgniteStore(Ignite ignite, StoreClientConfig config) {
    this.ignite = ignite;
    this.rows = new IgniteRows(ignite, config.patienceMillis());
    this.locks = new LockTable(config.lockTimeoutMillis());
    this.patienceMillis = config.patienceMillis();
  }

  /**
   * Joins the store.
   *
   * @throws StoreOpenException if the store is not there, or not complete, within the time to join
   */
  public static IgniteStore open(StoreClientConfig config) throws IOException {
    Ignite ignite;
    try {
      ignite = Ignition.start(IgniteSettings.client(config));
    } catch (IgniteException e) {
      throw new StoreOpenException(
          "no node of the metadata store answers at %s within %d ms: %s; start its nodes"
              .formatted(config.peers(), config.joinMillis(), e.getMessage()),
          e);
    }
    boolean opened = false;
    try {
      awaitActive(ignite, config);
      IgniteStore store = new IgniteStore(ignite, config);
      opened = true;
      return store;
    } finally {
      if (!opened) {
        ignite.close();
      }
    }
  }

  private static void awaitActive(Ignite ignite, StoreClientConfig config)
      throws StoreOpenException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.joinMillis());
    while (!ignite.cluster().state().active() || ignite.cache(IgniteSettings.CACHE) == null) {
      if (System.nanoTime() > deadline) {
        throw new StoreOpenException(
            "the metadata store at %s is not complete after %d ms: %d nodes run; start the missing ones"
                .formatted(
                    config.peers(),
                    config.joinMillis(),
                    ignite.cluster().forServers().nodes().size()),
            null);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  @Override
  public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    NonBlocking.beforeTransaction();
    Repetition repetition = null;
    while (true) {
      checkOpen();
      try {
        return attempt(body);
      } catch (ConflictException e) {
        repetition = repetition == null ? new Repetition(patienceMillis) : repetition;
        repetition.pause(e);
      }
    }
  }

  private <R> R attempt(TransactionBody<R> body) throws IOException {
    try (LockTable.Holder held = locks.holder();
        IgniteTransaction transaction =
            new IgniteTransaction(rows, ignite.transactions(), patienceMillis, held)) {
      R result;
      try {
        result = body.run(transaction);
      } catch (StaleReadException | ConflictException e) {
        throw e;
      } catch (IOException | RuntimeException e) {
        transaction.check(); // perhaps the body failed because rows changed while it read them
        throw e;
      }
      transaction.commit();
      return result;
    }
  }

  /** Every commit is on two nodes when it returns. */
  @Override
  public void sync() {
    NonBlocking.beforeTransaction();
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException {
    checkOpen();
    return rows.scanAll(table, after, limit);
  }

  /** Removes all rows. For tests. */
  void clear() {
    rows.cache().removeAll();
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("the metadata store is closed: the namenode is shutting down");
    }
  }

  /** Leaves the store. Transactions that are under way fail; those that commit may succeed. */
  @Override
  public void close() {
    closed = true;
    ignite.close();
  }
}
