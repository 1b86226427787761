package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * A store in memory, for simulations and unit tests. Its rows survive {@link #close}, so that a
 * test can restart a namenode on the same store.
 */
public final class InMemoryStore implements MetadataStore {
  private final Map<Table<?>, ConcurrentNavigableMap<Key, MessageLite>> tables;
  private final ChangeLog changes = new ChangeLog(this);
  private final LockTable locks;
  private final Optional<DirectoryHints> hints;

  public InMemoryStore() {
    this(10_000);
  }

  public InMemoryStore(long lockTimeoutMillis) {
    this(lockTimeoutMillis, Optional.empty());
  }

  private InMemoryStore(long lockTimeoutMillis, Optional<DirectoryHints> hints) {
    this(new ConcurrentHashMap<>(), new LockTable(lockTimeoutMillis), hints);
    Tables.ALL.forEach(table -> tables.put(table, new ConcurrentSkipListMap<>()));
  }

  private InMemoryStore(
      Map<Table<?>, ConcurrentNavigableMap<Key, MessageLite>> tables,
      LockTable locks,
      Optional<DirectoryHints> hints) {
    this.tables = tables;
    this.locks = locks;
    this.hints = hints;
  }

  /** A store that stands for one that several namenodes share. */
  public static InMemoryStore shared() {
    return new InMemoryStore(10_000, Optional.of(new DirectoryHints()));
  }

  /** As {@link #shared()}, with a clock for the times of directories. */
  public static InMemoryStore shared(LongSupplier nanoClock) {
    return new InMemoryStore(10_000, Optional.of(new DirectoryHints(nanoClock)));
  }

  /** The same rows, as another namenode sees them. */
  public InMemoryStore besides(LongSupplier nanoClock) {
    return new InMemoryStore(tables, locks, Optional.of(new DirectoryHints(nanoClock)));
  }

  @Override
  public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    try (LockTable.Holder held = locks.holder()) {
      BufferedTransaction transaction = new BufferedTransaction(new CommittedRows(), held, hints);
      R result = body.run(transaction);
      Optional<ChangeLog.Change> change = changes.addTo(transaction, transaction);
      commit(transaction.writes());
      change.ifPresent(changes::noteCommitted);
      transaction.applyEffects(true);
      return result;
    }
  }

  private void commit(Map<RowKey, MessageLite> writes) {
    synchronized (tables) {
      writes.forEach(
          (row, value) -> {
            Map<Key, MessageLite> table = tables.get(row.table());
            if (value == null) {
              table.remove(row.key());
            } else {
              table.put(row.key(), value);
            }
          });
    }
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
    ConcurrentNavigableMap<Key, MessageLite> rows = tables.get(table);
    return page(after == null ? rows : rows.tailMap(after, false), limit);
  }

  private static <V extends MessageLite> List<Row<V>> page(Map<Key, MessageLite> rows, int limit) {
    List<Row<V>> result = new ArrayList<>();
    for (Map.Entry<Key, MessageLite> row : rows.entrySet()) {
      if (result.size() >= limit) {
        break;
      }
      result.add(new Row<>(row.getKey(), cast(row.getValue())));
    }
    return result;
  }

  @SuppressWarnings("unchecked") // a row of a table was written as that table's type
  private static <V extends MessageLite> V cast(MessageLite value) {
    return (V) value;
  }

  @Override
  public ChangeLog changes() {
    return changes;
  }

  @Override
  public void close() {}

  private final class CommittedRows implements BufferedTransaction.Committed {
    @Override
    public <V extends MessageLite> V get(Table<V> table, Key key) {
      return cast(tables.get(table).get(key));
    }

    @Override
    public <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys) {
      List<V> rows = new ArrayList<>(keys.size());
      keys.forEach(key -> rows.add(get(table, key)));
      return rows;
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) {
      NavigableMap<Key, MessageLite> rows = tables.get(table);
      rows = after == null ? rows.tailMap(Key.of(partition), true) : rows.tailMap(after, false);
      Key end = before == null ? Key.endOf(partition) : before;
      boolean empty = after != null && end != null && after.compareTo(end) >= 0;
      return page(empty ? Map.of() : end == null ? rows : rows.headMap(end, false), limit);
    }
  }
}
