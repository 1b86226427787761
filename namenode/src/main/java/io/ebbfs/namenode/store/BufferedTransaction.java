package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * A transaction that keeps its writes in memory until the commit. Its reads see its own writes
 * first, and then the committed rows of a store.
 */
final class BufferedTransaction implements Transaction {
  /** The committed rows of a store. */
  interface Committed {
    /** The row, or null. */
    <V extends MessageLite> V get(Table<V> table, Key key) throws IOException;

    /** As {@link #get}, for many keys in one round trip. */
    <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys) throws IOException;

    /** Rows of a partition in key order, after the given key, at most limit. */
    <V extends MessageLite> List<Row<V>> scan(Table<V> table, long partition, Key after, int limit)
        throws IOException;
  }

  private final Committed committed;
  private final LockTable.Holder locks;
  // An empty Optional is a deletion.
  private final Map<Table<?>, NavigableMap<Key, Optional<MessageLite>>> writes =
      new TreeMap<>((a, b) -> Integer.compare(a.order(), b.order()));

  BufferedTransaction(Committed committed, LockTable.Holder locks) {
    this.committed = committed;
    this.locks = locks;
  }

  /** The writes to commit, by table and key; an empty Optional deletes the row. */
  public Map<Table<?>, NavigableMap<Key, Optional<MessageLite>>> writes() {
    return writes;
  }

  @Override
  public void lock(List<RowLock> rows) throws IOException {
    locks.lock(rows);
  }

  @Override
  public <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
    Optional<MessageLite> written = written(table).get(key);
    if (written != null) {
      return cast(written);
    }
    return Optional.ofNullable(committed.get(table, key));
  }

  @Override
  public <V extends MessageLite> List<Optional<V>> getAll(Table<V> table, List<Key> keys)
      throws IOException {
    if (keys.isEmpty()) {
      return List.of(); // RocksDB refuses an empty list of keys
    }
    List<V> rows = committed.getAll(table, keys);
    NavigableMap<Key, Optional<MessageLite>> own = written(table);
    List<Optional<V>> result = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      Optional<MessageLite> written = own.get(keys.get(i));
      result.add(written != null ? cast(written) : Optional.ofNullable(rows.get(i)));
    }
    return result;
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, long partition, Key after, int limit) throws IOException {
    NavigableMap<Key, Optional<MessageLite>> own = ownOf(table, partition, after);
    // Own deletions hide committed rows, so ask for that many rows more.
    int hidden = (int) own.values().stream().filter(Optional::isEmpty).count();
    int wanted = limit > Integer.MAX_VALUE - hidden ? Integer.MAX_VALUE : limit + hidden;
    List<Row<V>> below = committed.scan(table, partition, after, wanted);
    return own.isEmpty() ? below : merge(own, below, limit);
  }

  private static <V extends MessageLite> List<Row<V>> merge(
      NavigableMap<Key, Optional<MessageLite>> own, List<Row<V>> below, int limit) {
    TreeMap<Key, Optional<MessageLite>> rows = new TreeMap<>();
    below.forEach(row -> rows.put(row.key(), Optional.of(row.value())));
    rows.putAll(own);
    List<Row<V>> result = new ArrayList<>();
    Iterator<Map.Entry<Key, Optional<MessageLite>>> all = rows.entrySet().iterator();
    while (all.hasNext() && result.size() < limit) {
      Map.Entry<Key, Optional<MessageLite>> row = all.next();
      Optional<V> value = cast(row.getValue());
      value.ifPresent(v -> result.add(new Row<>(row.getKey(), v)));
    }
    return result;
  }

  private NavigableMap<Key, Optional<MessageLite>> ownOf(
      Table<?> table, long partition, Key after) {
    NavigableMap<Key, Optional<MessageLite>> own = written(table);
    own = after == null ? own.tailMap(Key.of(partition), true) : own.tailMap(after, false);
    return partition == -1L ? own : own.headMap(Key.of(partition + 1), false);
  }

  @Override
  public <V extends MessageLite> void put(Table<V> table, Key key, V value) {
    writes.computeIfAbsent(table, ignored -> new TreeMap<>()).put(key, Optional.of(value));
  }

  @Override
  public void delete(Table<?> table, Key key) {
    writes.computeIfAbsent(table, ignored -> new TreeMap<>()).put(key, Optional.empty());
  }

  private NavigableMap<Key, Optional<MessageLite>> written(Table<?> table) {
    NavigableMap<Key, Optional<MessageLite>> own = writes.get(table);
    return own == null ? Collections.emptyNavigableMap() : own;
  }

  @SuppressWarnings("unchecked") // a row of a table was written as that table's type
  private static <V extends MessageLite> Optional<V> cast(Optional<MessageLite> value) {
    return (Optional<V>) value;
  }
}
