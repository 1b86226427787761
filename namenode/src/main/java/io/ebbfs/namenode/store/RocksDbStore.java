package io.ebbfs.namenode.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.rocksdb.Checkpoint;
import org.rocksdb.RocksDBException;

/**
 * The embedded store: rows in RocksDB, behind a cache of parsed rows. Documented in {@code
 * docs/metadata-store.md}.
 *
 * <p>A transaction writes its batch while it holds its locks and releases them before it waits for
 * the sync, which it shares with others. A later transaction that saw its rows comes later in the
 * log, so its own sync covers both. A commit is thus visible slightly before it is on the disk, as
 * in HDFS.
 */
public final class RocksDbStore implements MetadataStore {
  private final RocksDbFiles files;
  private final RocksRows rows;
  private final RowCache cache;
  private final LockTable locks;
  private final WalSync walSync;
  private final UseGate gate = new UseGate();
  // Commits between the moment when their rows can be read and that of their position in the log.
  private final AtomicInteger beingWritten = new AtomicInteger();
  private final ChangeLog changes = new ChangeLog(this);
  private final BufferedTransaction.Committed committed = new CommittedRows();
  private final BufferedTransaction.Committed uncached = new UncachedRows();

  private RocksDbStore(
      RocksDbFiles files, StoreMemory memory, long lockTimeoutMillis, SyncHook hook) {
    this.files = files;
    this.rows = new RocksRows(files);
    this.cache = new RowCache(rows, memory.rowBytes());
    this.locks = new LockTable(lockTimeoutMillis);
    this.walSync = new WalSync(() -> hook.around(rows::sync), hook::failed);
  }

  /** Opens the store in a directory, with memory for a small machine. Makes a missing directory. */
  public static RocksDbStore open(Path directory) throws IOException {
    return open(directory, 10_000, 64L << 20);
  }

  /**
   * Opens the store in a directory.
   *
   * @param lockTimeoutMillis how long a transaction waits for a row lock
   * @param cacheBytes memory of the store; {@link StoreMemory} tells how it is divided
   * @throws StoreOpenException if the directory is in use, foreign, damaged or not writable
   */
  public static RocksDbStore open(Path directory, long lockTimeoutMillis, long cacheBytes)
      throws IOException {
    return openWith(SyncHook.NONE, directory, lockTimeoutMillis, cacheBytes);
  }

  /**
   * Opens the store in a directory.
   *
   * @param onFailedSync hears that the disk could not be written; the store writes nothing more
   * @throws StoreOpenException as above
   */
  public static RocksDbStore open(
      Path directory, long lockTimeoutMillis, long cacheBytes, Consumer<IOException> onFailedSync)
      throws IOException {
    return openWith(SyncHook.onFailure(onFailedSync), directory, lockTimeoutMillis, cacheBytes);
  }

  static RocksDbStore openWith(
      SyncHook hook, Path directory, long lockTimeoutMillis, long cacheBytes) throws IOException {
    StoreMemory memory = StoreMemory.of(cacheBytes);
    return new RocksDbStore(RocksDbFiles.open(directory, memory), memory, lockTimeoutMillis, hook);
  }

  @Override
  public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    return transact(committed, durability, body);
  }

  @Override
  public <R> R transactInBackground(long partitionHint, TransactionBody<R> body)
      throws IOException {
    return transact(uncached, Durability.RELAXED, body);
  }

  @Override
  public <R> R listInBackground(long partitionHint, TransactionBody<R> body) throws IOException {
    gate.enter(); // first: the iterators are closed before the database
    try (SequentialScans scans = rows.sequential()) {
      return transact(new SequentialRows(scans), Durability.RELAXED, body);
    } finally {
      gate.leave();
    }
  }

  private <R> R transact(
      BufferedTransaction.Committed read, Durability durability, TransactionBody<R> body)
      throws IOException {
    gate.enter();
    try {
      R result;
      long position = 0;
      boolean wrote;
      try (LockTable.Holder held = locks.holder()) {
        BufferedTransaction transaction = new BufferedTransaction(read, held, Optional.empty());
        result = body.run(transaction);
        wrote = !transaction.writes().isEmpty();
        if (wrote) {
          Optional<ChangeLog.Change> change = changes.addTo(transaction, transaction);
          position = commit(transaction);
          change.ifPresent(changes::noteCommitted);
        } else if (durability == Durability.SYNCED) {
          position = positionOfReads();
        }
        transaction.applyEffects(true);
      }
      if (durability == Durability.SYNCED) {
        PendingSync.awaitOrDefer(walSync, position);
      } else if (wrote) {
        rows.flush();
      }
      return result;
    } finally {
      gate.leave();
    }
  }

  /** Returns the position in the log of all that the transaction wrote and may have read. */
  private long commit(BufferedTransaction transaction) throws IOException {
    walSync.throwIfFailed();
    beingWritten.incrementAndGet();
    try {
      cache.write(transaction.writes());
      return walSync.written();
    } finally {
      beingWritten.decrementAndGet();
    }
  }

  /**
   * The position of all rows that could be read up to now. A commit can be read shortly before it
   * has its position; while there is such a commit, a new position stands for it. The count of such
   * commits is read first: a commit that is counted no more has its position.
   */
  private long positionOfReads() {
    return beingWritten.get() > 0 ? walSync.written() : walSync.position();
  }

  @Override
  public void sync() throws IOException {
    if (NonBlocking.isActive()) {
      throw WouldBlockException.INSTANCE;
    }
    gate.enter();
    try {
      walSync.await(positionOfReads());
    } finally {
      gate.leave();
    }
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException {
    gate.enter();
    try {
      List<Row<V>> page = rows.scanAll(table, after, limit);
      ScannedRows.add(page.size());
      return page;
    } finally {
      gate.leave();
    }
  }

  /**
   * Writes a copy of all committed rows into a new directory, while transactions go on. Files that
   * the store never changes again are hard links if the directory is in the same file system.
   *
   * @throws IOException if the directory exists or cannot be written
   */
  @Override
  public void checkpoint(Path target) throws IOException {
    gate.enter();
    try (Checkpoint checkpoint = Checkpoint.create(files.database())) {
      checkpoint.createCheckpoint(target.toAbsolutePath().toString());
    } catch (RocksDBException e) {
      throw new IOException(
          "no copy of the metadata store %s could be written to %s: %s; give a directory with room"
              .formatted(files.directory(), target, e.getMessage()),
          e);
    } finally {
      gate.leave();
    }
  }

  /** For filling this store, which is new, with very many rows. The caller closes it first. */
  public SortedRows sortedRows() throws IOException {
    return new SortedRows(files, changes);
  }

  @Override
  public ChangeLog changes() {
    return changes;
  }

  /** The bytes of rows in the cache, as it counts them. */
  long cachedBytes() {
    return cache.weight();
  }

  @Override
  public void close() throws IOException {
    if (gate.close()) {
      try (files;
          rows) {
        walSync.close();
      }
    }
  }

  /**
   * Rows past the cache. They are as new as the cached ones: a commit writes to the database first.
   */
  private class UncachedRows implements BufferedTransaction.Committed {
    @Override
    public <V extends MessageLite> V get(Table<V> table, Key key) throws IOException {
      return rows.get(table, key);
    }

    @Override
    public <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      return rows.getAll(table, keys);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      return rows.scan(table, partition, after, before, limit);
    }
  }

  /** Uncached rows, whose scans share iterators. */
  private final class SequentialRows extends UncachedRows {
    private final SequentialScans scans;

    SequentialRows(SequentialScans scans) {
      this.scans = scans;
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      return rows.scan(scans, table, partition, after, before, limit);
    }
  }

  private final class CommittedRows implements BufferedTransaction.Committed {
    @Override
    public <V extends MessageLite> V get(Table<V> table, Key key) throws IOException {
      return cache.get(table, key);
    }

    @Override
    public <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      List<V> found = new ArrayList<>(keys.size());
      for (Key key : keys) {
        found.add(cache.get(table, key));
      }
      return found;
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      return cache.scan(table, partition, after, before, limit);
    }
  }
}
