package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** The rows in RocksDB: one column family per table, keys as {@link Key#encode}. Thread-safe. */
final class RocksRows implements AutoCloseable {
  private static final byte[] START = new byte[0];

  private final RocksDbFiles files;
  private final RocksDB database;
  private final WriteOptions mayStall = new WriteOptions();
  private final WriteOptions noStall = new WriteOptions().setNoSlowdown(true);
  private final ReadOptions anyTier = new ReadOptions();
  private final ReadOptions once = new ReadOptions().setFillCache(false);
  private final ReadOptions inMemory = new ReadOptions().setReadTier(ReadTier.BLOCK_CACHE_TIER);

  RocksRows(RocksDbFiles files) {
    this.files = files;
    this.database = files.database();
  }

  /** The row, or null. */
  <V extends MessageLite> V get(Table<V> table, Key key) throws IOException {
    try {
      byte[] found = database.get(files.family(table), readOptions(), key.encode());
      return found == null ? null : table.parse(key, found);
    } catch (RocksDBException e) {
      throw failed("read of table '" + table.name() + "'", e);
    }
  }

  /** The rows in the order of the keys, each of which may be null. Fills no cache. */
  <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys) throws IOException {
    if (keys.isEmpty()) {
      return List.of();
    }
    try {
      List<byte[]> found =
          database.multiGetAsList(
              once,
              Collections.nCopies(keys.size(), files.family(table)),
              keys.stream().map(Key::encode).toList());
      List<V> rows = new ArrayList<>(found.size());
      for (int i = 0; i < found.size(); i++) {
        rows.add(found.get(i) == null ? null : table.parse(keys.get(i), found.get(i)));
      }
      return rows;
    } catch (RocksDBException e) {
      throw failed("read of table '" + table.name() + "'", e);
    }
  }

  private ReadOptions readOptions() {
    return NonBlocking.isActive() ? inMemory : anyTier;
  }

  /** Rows of a partition between two keys, of which each may be null. */
  <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
    byte[] from = after == null ? Key.of(partition).encode() : successor(after);
    Key end = before == null ? Key.endOf(partition) : before;
    try (ReadOptions options = new ReadOptions(readOptions())) {
      return scan(table, from, end == null ? null : end.encode(), limit, options);
    }
  }

  /** Scans of partitions one after the other, to be closed. */
  SequentialScans sequential() {
    return new SequentialScans(table -> database.newIterator(files.family(table), anyTier));
  }

  /** Rows of a partition between two keys, by one of several scans. */
  <V extends MessageLite> List<Row<V>> scan(
      SequentialScans scans, Table<V> table, long partition, Key after, Key before, int limit)
      throws IOException {
    byte[] from = after == null ? Key.of(partition).encode() : successor(after);
    Key end = before == null ? Key.endOf(partition) : before;
    try {
      return scans.scan(table, from, end == null ? null : end.encode(), limit);
    } catch (RocksDBException e) {
      throw failed("scan of table '" + table.name() + "'", e);
    }
  }

  /** Rows of a table after a key (or null). The scan displaces no block from the block cache. */
  <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException {
    byte[] from = after == null ? START : successor(after);
    try (ReadOptions options = new ReadOptions().setFillCache(false)) {
      return scan(table, from, null, limit, options);
    }
  }

  /** Rows from a key (included) to another (excluded, or null for the end). */
  private <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, byte[] from, byte[] to, int limit, ReadOptions options) throws IOException {
    try (Slice bound = to == null ? null : new Slice(to)) {
      if (bound != null) {
        options.setIterateUpperBound(bound);
      }
      return read(table, from, limit, options);
    } catch (RocksDBException e) {
      throw failed("scan of table '" + table.name() + "'", e);
    }
  }

  private <V extends MessageLite> List<Row<V>> read(
      Table<V> table, byte[] from, int limit, ReadOptions options) throws RocksDBException {
    List<Row<V>> rows = new ArrayList<>();
    try (RocksIterator iterator = database.newIterator(files.family(table), options)) {
      for (iterator.seek(from); iterator.isValid() && rows.size() < limit; iterator.next()) {
        Key key = Key.decode(iterator.key());
        rows.add(new Row<>(key, table.parse(key, iterator.value())));
      }
      iterator.status();
    }
    return rows;
  }

  private static byte[] successor(Key key) {
    byte[] encoded = key.encode();
    return Arrays.copyOf(encoded, encoded.length + 1);
  }

  /**
   * Writes rows, all or none, to memory and to the buffer of the log; null deletes a row. They can
   * be read from then on.
   */
  void write(Map<RowKey, MessageLite> writes) throws IOException {
    try (WriteBatch batch = new WriteBatch(BatchBytes.of(writes, files::familyId))) {
      database.write(NonBlocking.isActive() ? noStall : mayStall, batch);
      NonBlocking.noteCommit();
    } catch (RocksDBException e) {
      throw failed("write", e);
    }
  }

  /** Hands the buffer of the log to the operating system, so that it survives this process. */
  void flush() throws IOException {
    flush(false);
  }

  /** Brings all that was written to the disk. */
  void sync() throws IOException {
    flush(true);
  }

  private void flush(boolean sync) throws IOException {
    try {
      database.flushWal(sync);
    } catch (RocksDBException e) {
      throw failed(sync ? "sync" : "write", e);
    }
  }

  /**
   * The failure of an operation.
   *
   * @throws WouldBlockException if the operation did not fail, but would have waited for the disk
   */
  private IOException failed(String what, RocksDBException e) {
    if (e.getStatus() != null && e.getStatus().getCode() == Status.Code.Incomplete) {
      throw WouldBlockException.INSTANCE;
    }
    return new IOException(
        "%s failed in the metadata store %s: %s; check the disk"
            .formatted(what, files.directory(), e.getMessage()),
        e);
  }

  @Override
  public void close() {
    mayStall.close();
    noStall.close();
    anyTier.close();
    once.close();
    inMemory.close();
  }
}
