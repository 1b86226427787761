package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * A transaction that keeps its writes in memory until the commit. Its reads see its own writes
 * first, and then the committed rows of a store.
 */
public final class BufferedTransaction implements Transaction {
  /** The committed rows of a store. */
  public interface Committed {
    /** The row, or null. */
    <V extends MessageLite> V get(Table<V> table, Key key) throws IOException;

    /** As {@link #get}, for many keys in one round trip. */
    <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys) throws IOException;

    /** Rows of a partition in key order, between two keys (or null), at most limit. */
    <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException;
  }

  private final Committed committed;
  private final LockTable.Holder locks;
  private final Optional<DirectoryHints> hints;
  // Null is a deletion. The map is made with the first write: most transactions only read.
  private Map<RowKey, MessageLite> writes = Map.of();
  private List<AfterCommit> effects = List.of();
  private final SnapshotNotes snapshots = new SnapshotNotes();

  /**
   * @param hints of a process that shares the store with others
   */
  public BufferedTransaction(
      Committed committed, LockTable.Holder locks, Optional<DirectoryHints> hints) {
    this.committed = committed;
    this.locks = locks;
    this.hints = hints;
  }

  @Override
  public Optional<DirectoryHints> hints() {
    return hints;
  }

  @Override
  public SnapshotNotes snapshots() {
    return snapshots;
  }

  /** The writes to commit, in the order of the first write of each row; null deletes the row. */
  public Map<RowKey, MessageLite> writes() {
    return writes;
  }

  /**
   * Rows as they are without the writes of this transaction; null for a row that does not exist.
   */
  <V extends MessageLite> List<V> committed(Table<V> table, List<Key> keys) throws IOException {
    return committed.getAll(table, keys);
  }

  /** Whether this transaction has locked a row of a table. */
  boolean locksAny(Table<?> table) {
    return locks.holdsAny(table);
  }

  /** The partitions of the rows of a table that this transaction has locked. */
  Set<Long> lockedPartitions(Table<?> table) {
    return locks.partitions(table);
  }

  @Override
  public void lock(List<RowLock> rows) throws IOException {
    locks.lock(rows);
  }

  @Override
  public <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
    if (!writes.isEmpty()) {
      RowKey row = new RowKey(table, key);
      if (writes.containsKey(row)) {
        return Optional.ofNullable(cast(writes.get(row)));
      }
    }
    return Optional.ofNullable(committed.get(table, key));
  }

  @Override
  public <V extends MessageLite> List<Optional<V>> getAll(Table<V> table, List<Key> keys)
      throws IOException {
    List<V> rows = committed.getAll(table, keys);
    List<Optional<V>> result = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      RowKey row = new RowKey(table, keys.get(i));
      V value = writes.containsKey(row) ? cast(writes.get(row)) : rows.get(i);
      result.add(Optional.ofNullable(value));
    }
    return result;
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
    if (writes.isEmpty()) {
      return committed.scan(table, partition, after, before, limit);
    }
    TreeMap<Key, V> own = ownOf(table, partition, after, before);
    // Own deletions hide committed rows, so ask for that many rows more.
    int hidden = (int) own.values().stream().filter(value -> value == null).count();
    int wanted = limit > Integer.MAX_VALUE - hidden ? Integer.MAX_VALUE : limit + hidden;
    for (Row<V> row : committed.scan(table, partition, after, before, wanted)) {
      if (!own.containsKey(row.key())) {
        own.put(row.key(), row.value());
      }
    }
    return own.entrySet().stream()
        .filter(row -> row.getValue() != null)
        .limit(limit)
        .map(row -> new Row<>(row.getKey(), row.getValue()))
        .toList();
  }

  private <V extends MessageLite> TreeMap<Key, V> ownOf(
      Table<V> table, long partition, Key after, Key before) {
    TreeMap<Key, V> own = new TreeMap<>();
    for (Map.Entry<RowKey, MessageLite> write : writes.entrySet()) {
      Key key = write.getKey().key();
      if (write.getKey().table() == table
          && key.partition() == partition
          && (after == null || key.compareTo(after) > 0)
          && (before == null || key.compareTo(before) < 0)) {
        own.put(key, cast(write.getValue()));
      }
    }
    return own;
  }

  @Override
  public <V extends MessageLite> void put(Table<V> table, Key key, V value) {
    write(table, key, value);
  }

  @Override
  public void delete(Table<?> table, Key key) {
    write(table, key, null);
  }

  @Override
  public void afterCommit(AfterCommit effect) {
    if (effects.isEmpty()) {
      effects = new ArrayList<>(4);
    }
    effects.add(effect);
  }

  /** To be called once the transaction has committed, or perhaps has. */
  public void applyEffects(boolean known) {
    effects.forEach(effect -> effect.apply(known));
  }

  private void write(Table<?> table, Key key, MessageLite value) {
    if (writes.isEmpty()) {
      writes = new LinkedHashMap<>();
    }
    writes.put(new RowKey(table, key), value);
  }

  @SuppressWarnings("unchecked") // a row of a table was written as that table's type
  private static <V extends MessageLite> V cast(MessageLite value) {
    return (V) value;
  }
}
