package io.ebbfs.namenode.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.rocksdb.Checkpoint;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The embedded store: one column family per table, keys as {@link Key#encode}, one write batch per
 * transaction. Documented in {@code docs/metadata-store.md}.
 *
 * <p>A transaction writes its batch while it holds its locks and releases them before it waits for
 * the sync, which it shares with others. A later transaction that saw its rows comes later in the
 * log, so its own sync covers both. A commit is thus visible slightly before it is on the disk, as
 * in HDFS.
 */
public final class RocksDbStore implements MetadataStore {
  private final RocksDbFiles files;
  private final LockTable locks;
  private final WalSync walSync;
  private final WriteOptions unsynced = new WriteOptions();
  private final WriteOptions withoutStall = new WriteOptions().setNoSlowdown(true);
  private final ReadOptions anyTier = new ReadOptions();
  private final ReadOptions memoryTier = new ReadOptions().setReadTier(ReadTier.BLOCK_CACHE_TIER);
  // Every use of the native database holds this lock for reading, so that close() waits for it.
  private final ReadWriteLock open = new ReentrantReadWriteLock();
  private boolean closed;

  private RocksDbStore(RocksDbFiles files, long lockTimeoutMillis, SyncHook hook) {
    this.files = files;
    this.locks = new LockTable(lockTimeoutMillis);
    this.walSync = new WalSync(() -> hook.around(this::syncWal), hook::failed);
  }

  /** Opens the store in a directory, with memory for a small machine. Makes a missing directory. */
  public static RocksDbStore open(Path directory) throws IOException {
    return open(directory, 10_000, 64L << 20);
  }

  /**
   * Opens the store in a directory.
   *
   * @param lockTimeoutMillis how long a transaction waits for a row lock
   * @param cacheBytes memory of the block cache, and again of the write buffers
   * @throws StoreOpenException if the directory is in use, foreign, damaged or not writable
   */
  public static RocksDbStore open(Path directory, long lockTimeoutMillis, long cacheBytes)
      throws IOException {
    return open(directory, lockTimeoutMillis, cacheBytes, SyncHook.NONE);
  }

  static RocksDbStore open(Path directory, long lockTimeoutMillis, long cacheBytes, SyncHook hook)
      throws IOException {
    return new RocksDbStore(RocksDbFiles.open(directory, cacheBytes), lockTimeoutMillis, hook);
  }

  @Override
  public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    open.readLock().lock();
    try {
      throwIfClosed();
      R result;
      long position;
      try (LockTable.Holder held = locks.holder()) {
        BufferedTransaction transaction = new BufferedTransaction(new CommittedRows(), held);
        result = body.run(transaction);
        // A body that wrote nothing may have relied on rows that are not on the disk yet.
        position = write(transaction.writes()) ? walSync.written() : walSync.position();
      }
      if (durability == Durability.SYNCED) {
        PendingSync.awaitOrDefer(walSync, position);
      }
      return result;
    } finally {
      open.readLock().unlock();
    }
  }

  @Override
  public void sync() throws IOException {
    if (NonBlocking.isActive()) {
      throw WouldBlockException.INSTANCE;
    }
    open.readLock().lock();
    try {
      throwIfClosed();
      walSync.await(walSync.position());
    } finally {
      open.readLock().unlock();
    }
  }

  private boolean write(Map<Table<?>, NavigableMap<Key, Optional<MessageLite>>> writes)
      throws IOException {
    if (writes.isEmpty()) {
      return false;
    }
    walSync.throwIfFailed();
    try (WriteBatch batch = new WriteBatch()) {
      for (Map.Entry<Table<?>, NavigableMap<Key, Optional<MessageLite>>> table :
          writes.entrySet()) {
        ColumnFamilyHandle family = files.family(table.getKey());
        for (Map.Entry<Key, Optional<MessageLite>> row : table.getValue().entrySet()) {
          byte[] key = row.getKey().encode();
          if (row.getValue().isPresent()) {
            batch.put(family, key, row.getValue().get().toByteArray());
          } else {
            batch.delete(family, key);
          }
        }
      }
      files.database().write(NonBlocking.isActive() ? withoutStall : unsynced, batch);
      NonBlocking.noteCommit();
      return true;
    } catch (RocksDBException e) {
      throw failedOrBlocked("write", e);
    }
  }

  private void syncWal() throws IOException {
    try {
      files.database().syncWal();
    } catch (RocksDBException e) {
      throw failed("sync", e);
    }
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException {
    open.readLock().lock();
    try {
      throwIfClosed();
      byte[] from = after == null ? new byte[0] : successor(after.encode());
      return page(table, from, null, limit);
    } finally {
      open.readLock().unlock();
    }
  }

  /** Rows from a key (included) to another (excluded, or null for the end). */
  private <V extends MessageLite> List<Row<V>> page(
      Table<V> table, byte[] from, byte[] to, int limit) throws IOException {
    List<Row<V>> rows = new ArrayList<>();
    try (Slice bound = to == null ? null : new Slice(to);
        ReadOptions options = new ReadOptions(readOptions())) {
      if (bound != null) {
        options.setIterateUpperBound(bound);
      }
      try (RocksIterator iterator = files.database().newIterator(files.family(table), options)) {
        for (iterator.seek(from); iterator.isValid() && rows.size() < limit; iterator.next()) {
          Key key = Key.decode(iterator.key());
          rows.add(new Row<>(key, table.parse(key, iterator.value())));
        }
        iterator.status();
      }
      return rows;
    } catch (RocksDBException e) {
      throw failedOrBlocked("scan of table '" + table.name() + "'", e);
    }
  }

  /**
   * Writes a copy of all committed rows into a new directory, while transactions go on. Files that
   * the store never changes again are hard links if the directory is in the same file system.
   *
   * @throws IOException if the directory exists or cannot be written
   */
  public void checkpoint(Path target) throws IOException {
    open.readLock().lock();
    try (Checkpoint checkpoint = checkpoint()) {
      checkpoint.createCheckpoint(target.toAbsolutePath().toString());
    } catch (RocksDBException e) {
      throw new IOException(
          "no copy of the metadata store %s could be written to %s: %s; give a directory with room"
              .formatted(files.directory(), target, e.getMessage()),
          e);
    } finally {
      open.readLock().unlock();
    }
  }

  private Checkpoint checkpoint() throws IOException {
    throwIfClosed();
    return Checkpoint.create(files.database());
  }

  private static byte[] successor(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  @Override
  public void close() throws IOException {
    open.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        try (files;
            unsynced;
            withoutStall;
            anyTier;
            memoryTier) {
          walSync.close();
        }
      }
    } finally {
      open.writeLock().unlock();
    }
  }

  private void throwIfClosed() throws IOException {
    if (closed) {
      throw new IOException("the metadata store is closed: the namenode is shutting down");
    }
  }

  private ReadOptions readOptions() {
    return NonBlocking.isActive() ? memoryTier : anyTier;
  }

  /**
   * The failure of an operation.
   *
   * @throws WouldBlockException if the operation did not fail, but would have waited for the disk
   */
  private IOException failedOrBlocked(String what, RocksDBException e) {
    if (e.getStatus() != null && e.getStatus().getCode() == Status.Code.Incomplete) {
      throw WouldBlockException.INSTANCE;
    }
    return failed(what, e);
  }

  private IOException failed(String what, RocksDBException e) {
    return new IOException(
        "%s failed in the metadata store %s: %s; check the disk"
            .formatted(what, files.directory(), e.getMessage()),
        e);
  }

  private final class CommittedRows implements BufferedTransaction.Committed {
    @Override
    public <V extends MessageLite> V get(Table<V> table, Key key) throws IOException {
      try {
        return parse(
            table, key, files.database().get(files.family(table), readOptions(), key.encode()));
      } catch (RocksDBException e) {
        throw failedOrBlocked("read of table '" + table.name() + "'", e);
      }
    }

    @Override
    public <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      if (NonBlocking.isActive()) {
        return oneByOne(table, keys); // a read of many does not say which would block
      }
      List<ColumnFamilyHandle> families = new ArrayList<>(keys.size());
      List<byte[]> encoded = new ArrayList<>(keys.size());
      for (Key key : keys) {
        families.add(files.family(table));
        encoded.add(key.encode());
      }
      try {
        List<byte[]> found = files.database().multiGetAsList(families, encoded);
        List<V> rows = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
          rows.add(parse(table, keys.get(i), found.get(i)));
        }
        return rows;
      } catch (RocksDBException e) {
        throw failed("read of table '" + table.name() + "'", e);
      }
    }

    private <V extends MessageLite> List<V> oneByOne(Table<V> table, List<Key> keys)
        throws IOException {
      List<V> rows = new ArrayList<>(keys.size());
      for (Key key : keys) {
        rows.add(get(table, key));
      }
      return rows;
    }

    private <V extends MessageLite> V parse(Table<V> table, Key key, byte[] found) {
      return found == null ? null : table.parse(key, found);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, int limit) throws IOException {
      byte[] from = after == null ? Key.of(partition).encode() : successor(after.encode());
      byte[] to = partition == -1L ? null : Key.of(partition + 1).encode();
      return page(table, from, to, limit);
    }
  }
}
