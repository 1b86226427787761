package io.ebbfs.namespace.simulation;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Table;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * A store whose process dies at a chosen transaction, before or after it commits. The rows survive.
 */
final class CrashingStore implements MetadataStore {
  /** The process is dead: nothing may catch this. */
  static final class Crash extends Error {
    private static final long serialVersionUID = 1L;

    Crash() {
      super("simulated crash of the namenode", null, false, false);
    }
  }

  private final MetadataStore store;
  private int transactionsLeft = -1;
  private boolean afterCommit;
  private boolean dead;
  private long transactions;

  CrashingStore(MetadataStore store) {
    this.store = store;
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

  /** How many transactions there were; if it is the same as before, no row has changed. */
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
    R result =
        store.transact(
            partitionHint,
            durability,
            transaction -> {
              R value = body.run(transaction);
              if (dies && !afterCommit) {
                dead = true;
                throw new Crash();
              }
              return value;
            });
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
}
