package io.ebbfs.namespace.simulation;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Table;
import io.ebbfs.namespace.store.Transaction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * A store whose process dies at a chosen transaction, before or after it commits. The rows survive.
 * A listener hears of every commit.
 */
final class CrashingStore implements MetadataStore {
  /** The process is dead: nothing may catch this. */
  static final class Crash extends Error {
    private static final long serialVersionUID = 1L;

    Crash() {
      super("simulated crash of the namenode", null, false, false);
    }
  }

  /** A row as a transaction wrote it; null if it deleted the row. */
  record Write(Table<?> table, Key key, MessageLite value) {}

  /** Hears of what a transaction wrote, right after its commit. */
  interface Listener {
    void committed(List<Write> writes);
  }

  private final MetadataStore store;
  private final Listener listener;
  private int transactionsLeft = -1;
  private boolean afterCommit;
  private boolean dead;
  private long transactions;

  CrashingStore(MetadataStore store, Listener listener) {
    this.store = store;
    this.listener = listener;
  }

  /** Dies in the given number of transactions, 0 for the next one. */
  void crashAfter(int transactions, boolean afterThatCommit) {
    transactionsLeft = transactions;
    afterCommit = afterThatCommit;
  }

  void revive() {
    dead = false;
    transactionsLeft = -1;
  }

  /** How many transactions there were. */
  long transactions() {
    return transactions;
  }

  boolean isDead() {
    return dead;
  }

  @Override
  public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    if (dead) {
      throw new Crash();
    }
    transactions++;
    boolean dies = transactionsLeft == 0;
    transactionsLeft = Math.max(-1, transactionsLeft - 1);
    List<Write> writes = new ArrayList<>();
    R result =
        store.transact(
            partitionHint,
            durability,
            transaction -> {
              writes.clear();
              R value = body.run(new Recorded(transaction, writes));
              if (dies && !afterCommit) {
                dead = true;
                throw new Crash();
              }
              return value;
            });
    if (!writes.isEmpty()) {
      listener.committed(writes);
    }
    if (dies) {
      dead = true;
      throw new Crash();
    }
    return result;
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException {
    if (dead) {
      throw new Crash();
    }
    return store.scanAll(table, after, limit);
  }

  @Override
  public void close() {}

  private record Recorded(Transaction transaction, List<Write> writes) implements Transaction {
    @Override
    public void lock(List<RowLock> rows) throws IOException {
      transaction.lock(rows);
    }

    @Override
    public <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
      return transaction.get(table, key);
    }

    @Override
    public <V extends MessageLite> List<Optional<V>> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      return transaction.getAll(table, keys);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, int limit) throws IOException {
      return transaction.scan(table, partition, after, limit);
    }

    @Override
    public <V extends MessageLite> void put(Table<V> table, Key key, V value) {
      transaction.put(table, key, value);
      writes.add(new Write(table, key, value));
    }

    @Override
    public void delete(Table<?> table, Key key) {
      transaction.delete(table, key);
      writes.add(new Write(table, key, null));
    }
  }
}
