package io.ebbfs.namespace.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * The store without a disk, for simulations and unit tests. It keeps rows encoded, as the others
 * do. It survives {@link #close}, so that a test can stop and start what works on it.
 */
public final class InMemoryStore implements MetadataStore {
  private final Map<Table<?>, ConcurrentNavigableMap<Key, byte[]>> tables =
      new ConcurrentHashMap<>();
  private final LockTable locks;

  public InMemoryStore() {
    this(10_000);
  }

  public InMemoryStore(long lockTimeoutMillis) {
    locks = new LockTable(lockTimeoutMillis);
    Tables.ALL.forEach(table -> tables.put(table, new ConcurrentSkipListMap<>()));
  }

  @Override
  public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    try (LockTable.Holder held = locks.holder()) {
      BufferedTransaction transaction = new BufferedTransaction(new CommittedRows(), held);
      R result = body.run(transaction);
      commit(transaction.writes());
      return result;
    }
  }

  private synchronized void commit(Map<Table<?>, NavigableMap<Key, Optional<MessageLite>>> writes) {
    writes.forEach(
        (table, rows) ->
            rows.forEach(
                (key, value) -> {
                  if (value.isPresent()) {
                    tables.get(table).put(key, value.get().toByteArray());
                  } else {
                    tables.get(table).remove(key);
                  }
                }));
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
    ConcurrentNavigableMap<Key, byte[]> rows = tables.get(table);
    List<Row<V>> result = new ArrayList<>();
    for (Map.Entry<Key, byte[]> row :
        (after == null ? rows : rows.tailMap(after, false)).entrySet()) {
      if (result.size() >= limit) {
        break;
      }
      result.add(new Row<>(row.getKey(), table.parse(row.getKey(), row.getValue())));
    }
    return result;
  }

  @Override
  public void close() {}

  private final class CommittedRows implements BufferedTransaction.Committed {
    @Override
    public byte[] get(Table<?> table, Key key) {
      return tables.get(table).get(key);
    }

    @Override
    public List<byte[]> getAll(Table<?> table, List<Key> keys) {
      List<byte[]> rows = new ArrayList<>(keys.size());
      keys.forEach(key -> rows.add(tables.get(table).get(key)));
      return rows;
    }

    @Override
    public List<Map.Entry<Key, byte[]>> scan(Table<?> table, long partition, Key after, int limit) {
      NavigableMap<Key, byte[]> rows = tables.get(table);
      rows = after == null ? rows.tailMap(Key.of(partition), true) : rows.tailMap(after, false);
      List<Map.Entry<Key, byte[]>> result = new ArrayList<>();
      for (Map.Entry<Key, byte[]> row : headOf(rows, partition).entrySet()) {
        if (result.size() >= limit) {
          break;
        }
        result.add(row);
      }
      return result;
    }

    private NavigableMap<Key, byte[]> headOf(NavigableMap<Key, byte[]> rows, long partition) {
      return partition == -1L ? rows : rows.headMap(Key.of(partition + 1), false);
    }
  }
}
