package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Rows in memory, in front of {@link RocksRows}: single rows, also that a row does not exist, and
 * small partitions as a whole, which scans read. Thread-safe.
 */
final class RowCache {
  /** A partition with more rows is scanned in the database each time. */
  private static final int MAX_PARTITION_ROWS = 1_024;

  /** A scan of fewer rows does not read a whole partition for the cache. */
  private static final int MIN_SCAN = 16;

  /**
   * Rows that only background work reads, or nobody but a new namenode; rows of calls, which are
   * read once, before they are written; and extended attributes, which are large and rarely read.
   */
  private static final boolean[] UNCACHED =
      marked(
          Tables.LEASE,
          Tables.STORAGE_REPLICA,
          Tables.INVALIDATION,
          Tables.LOST_DISK,
          Tables.CALL,
          Tables.CHANGE,
          Tables.XATTR,
          Tables.VERSION);

  /** Tables whose partitions calls of clients scan. */
  private static final boolean[] SCANNED = marked(Tables.INODE, Tables.BLOCK, Tables.REPLICA);

  private static final Object ABSENT = new Object();
  private static final List<Row<?>> TOO_LARGE = new ArrayList<>();

  private record Partition(Table<?> table, long partition) {
    @Override
    public int hashCode() {
      return Long.hashCode(partition * 31 + table.order());
    }
  }

  private final RocksRows rows;
  private final CoherentCache<RowKey, Object> single;
  private final CoherentCache<Partition, List<Row<?>>> partitions;

  /**
   * @param bytes memory of the cache, of which scans have a third
   */
  RowCache(RocksRows rows, long bytes) {
    this.rows = rows;
    this.single =
        new CoherentCache<>(
            bytes - bytes / 3,
            (key, row) ->
                row == ABSENT
                    ? RowWeight.ofAbsent(key.key())
                    : RowWeight.of(key.key(), (MessageLite) row));
    this.partitions = new CoherentCache<>(bytes / 3, (key, all) -> RowWeight.of(all));
  }

  private static boolean[] marked(Table<?>... tables) {
    boolean[] marks = new boolean[Tables.ALL.size()];
    for (Table<?> table : tables) {
      marks[table.order()] = true;
    }
    return marks;
  }

  private static boolean isCached(Table<?> table) {
    return !UNCACHED[table.order()];
  }

  private static boolean isScanned(Table<?> table) {
    return SCANNED[table.order()];
  }

  /** The newest committed row, or null. */
  <V extends MessageLite> V get(Table<V> table, Key key) throws IOException {
    if (!isCached(table)) {
      return rows.get(table, key);
    }
    Object row = single.get(new RowKey(table, key), () -> orAbsent(rows.get(table, key)));
    return row == ABSENT ? null : cast(row);
  }

  private static Object orAbsent(MessageLite row) {
    return row == null ? ABSENT : row;
  }

  @SuppressWarnings("unchecked") // a row was cached under the key of its table
  private static <V extends MessageLite> V cast(Object row) {
    return (V) row;
  }

  /** The committed rows of a partition between two keys; each bound may be null. */
  <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
    if (isScanned(table)) {
      Partition key = new Partition(table, partition);
      List<Row<?>> all =
          limit < MIN_SCAN
              ? partitions.getIfPresent(key)
              : partitions.get(key, () -> load(table, partition));
      if (all != null && all != TOO_LARGE) {
        return between(castAll(all), after, before, limit);
      }
    }
    return rows.scan(table, partition, after, before, limit);
  }

  private <V extends MessageLite> List<Row<?>> load(Table<V> table, long partition)
      throws IOException {
    List<Row<V>> all = rows.scan(table, partition, null, null, MAX_PARTITION_ROWS + 1);
    return all.size() > MAX_PARTITION_ROWS ? TOO_LARGE : List.copyOf(all);
  }

  @SuppressWarnings("unchecked") // the rows were cached under the key of their table
  private static <V extends MessageLite> List<Row<V>> castAll(List<Row<?>> all) {
    return (List<Row<V>>) (List<?>) all;
  }

  private static <V extends MessageLite> List<Row<V>> between(
      List<Row<V>> all, Key after, Key before, int limit) {
    int from = after == null ? 0 : firstFrom(all, after, true);
    int to = before == null ? all.size() : firstFrom(all, before, false);
    return all.subList(Math.min(from, to), Math.min(to, limit < to - from ? from + limit : to));
  }

  /** The index of the first row behind a key, or at it. */
  private static <V extends MessageLite> int firstFrom(List<Row<V>> all, Key key, boolean behind) {
    int low = 0;
    int high = all.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      int order = all.get(middle).key().compareTo(key);
      if (order < 0 || behind && order == 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Writes rows to the database; readers see each of them from then on. */
  void write(Map<RowKey, MessageLite> writes) throws IOException {
    writes.keySet().forEach(this::begin);
    boolean written = false;
    try {
      rows.write(writes);
      written = true;
    } finally {
      for (Map.Entry<RowKey, MessageLite> write : writes.entrySet()) {
        end(write.getKey(), written ? write.getValue() : null);
      }
    }
  }

  private void begin(RowKey key) {
    if (isCached(key.table())) {
      single.beginChange(key);
    }
    if (isScanned(key.table())) {
      partitions.beginChange(partitionOf(key));
    }
  }

  private void end(RowKey key, MessageLite now) {
    if (isCached(key.table())) {
      single.endChange(key, now);
    }
    if (isScanned(key.table())) {
      partitions.endChange(partitionOf(key), null);
    }
  }

  private static Partition partitionOf(RowKey key) {
    return new Partition(key.table(), key.key().partition());
  }

  /** The bytes that the cache counts. */
  long weight() {
    return single.weight() + partitions.weight();
  }
}
