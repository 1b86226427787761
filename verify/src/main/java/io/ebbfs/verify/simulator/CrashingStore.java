package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.SnapshotNotes;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * A store whose namenode dies at a chosen transaction, before or after the commit. The rows
 * survive. A listener hears of every commit.
 */
final class CrashingStore implements MetadataStore {
  /** The death of the process. Only the schedule catches it. */
  static final class Crash extends Error {
    private static final long serialVersionUID = 1L;

    Crash() {
      super("simulated crash of the namenode", null, false, false);
    }
  }

  /** A row as a transaction wrote it; null if it deleted the row. */
  record Write(Table<?> table, Key key, MessageLite value) {}

  /** Hears the writes of each transaction, right after its commit. */
  interface Listener {
    void committed(List<Write> writes);

    /** Hears the writes that turn the rows into those of a backup. */
    void restored(List<Write> writes);
  }

  /** A copy of all rows. */
  static final class Backup {
    private final Map<Table<?>, Map<Key, MessageLite>> rows = new HashMap<>();

    private Backup(Map<Table<?>, Map<Key, MessageLite>> all) {
      all.forEach((table, rowsOfTable) -> rows.put(table, new HashMap<>(rowsOfTable)));
    }
  }

  private final MetadataStore store;
  private final Listener listener;
  private final PlantedBug bug;
  private int transactionsLeft = -1;
  private boolean afterCommit;
  private boolean dead;
  private long transactions;
  // All rows, and for each commit since the last sync the rows that it has replaced.
  private final Map<Table<?>, Map<Key, MessageLite>> rows = new HashMap<>();
  private final Deque<List<Write>> unsynced = new ArrayDeque<>();

  CrashingStore(MetadataStore store, Listener listener, PlantedBug bug) {
    this.store = store;
    this.bug = bug;
    this.listener = listener;
  }

  /** Lets the process die after the given number of transactions: in the next one if 0. */
  void crashAfter(int transactions, boolean afterThatCommit) {
    transactionsLeft = transactions;
    afterCommit = afterThatCommit;
  }

  void revive() {
    dead = false;
    transactionsLeft = -1;
  }

  /** The number of transactions so far. */
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
    R result;
    try {
      result =
          store.transact(
              partitionHint,
              durability,
              transaction -> {
                writes.clear();
                R value = body.run(new Recorded(transaction, writes, bug));
                if (dies && !afterCommit) {
                  dead = true;
                  throw new Crash();
                }
                return value;
              });
    } catch (Crash e) {
      if (bug == PlantedBug.TEARS_TRANSACTIONS) {
        applyAll(writes.subList(0, writes.size() / 2));
      }
      throw e;
    }
    if (!writes.isEmpty()) {
      unsynced.addLast(replace(writes));
      listener.committed(writes);
      if (durability == Durability.SYNCED) {
        unsynced.clear();
      }
    }
    if (dies) {
      dead = true;
      throw new Crash();
    }
    return result;
  }

  private void applyAll(List<Write> writes) throws IOException {
    put(writes);
    listener.committed(writes);
  }

  private void put(List<Write> writes) throws IOException {
    store.transact(
        0,
        transaction -> {
          writes.forEach(write -> apply(transaction, write));
          return null;
        });
    replace(writes);
  }

  /** Counts replicas again that were marked for deletion. */
  void forgetExcessMarks() throws IOException {
    List<Write> writes = new ArrayList<>();
    rows.getOrDefault(Tables.REPLICA, Map.of())
        .forEach(
            (key, value) -> {
              if (value instanceof ReplicaRow row && row.getState() == ReplicaStateProto.EXCESS) {
                ReplicaRow counted = row.toBuilder().setState(ReplicaStateProto.FINALIZED).build();
                writes.add(new Write(Tables.REPLICA, key, counted));
              }
            });
    applyAll(writes);
  }

  /** Copies all rows. */
  Backup backup() {
    return new Backup(rows);
  }

  /**
   * Replaces all rows by those of a backup. The store below adds what the restore changes to the
   * sums that it keeps, so the row of the sums is not replaced.
   */
  void restore(Backup backup) throws IOException {
    List<Write> writes = new ArrayList<>();
    for (Table<?> table : Tables.ALL) {
      if (table == Tables.USAGE) {
        continue;
      }
      Map<Key, MessageLite> now = rows.getOrDefault(table, Map.of());
      Map<Key, MessageLite> then = backup.rows.getOrDefault(table, Map.of());
      now.keySet().stream()
          .filter(key -> !then.containsKey(key))
          .sorted()
          .forEach(key -> writes.add(new Write(table, key, null)));
      then.keySet().stream()
          .filter(key -> !then.get(key).equals(now.get(key)))
          .sorted()
          .forEach(key -> writes.add(new Write(table, key, then.get(key))));
    }
    put(writes);
    unsynced.clear();
    listener.restored(writes);
  }

  @SuppressWarnings("unchecked") // a row of a table was written as that table's type
  static void apply(Transaction transaction, Write write) {
    if (write.value() == null) {
      transaction.delete(write.table(), write.key());
    } else {
      transaction.put((Table<MessageLite>) write.table(), write.key(), write.value());
    }
  }

  /** Notes the rows of a commit. Returns the rows that were there before, the last one first. */
  private List<Write> replace(List<Write> writes) {
    List<Write> before = new ArrayList<>();
    for (Write write : writes) {
      Map<Key, MessageLite> table = rows.computeIfAbsent(write.table(), t -> new HashMap<>());
      before.add(
          0,
          new Write(
              write.table(),
              write.key(),
              write.value() == null
                  ? table.remove(write.key())
                  : table.put(write.key(), write.value())));
    }
    return before;
  }

  /** The last commits that were not synced. */
  int unsyncedCommits() {
    return unsynced.size();
  }

  /** The machine of the namenode crashes: some of the last commits are lost. */
  void losePower(int commits) throws IOException {
    for (int i = 0; i < commits; i++) {
      applyAll(unsynced.removeLast());
    }
    unsynced.clear();
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
  public ChangeLog changes() {
    return store.changes();
  }

  @Override
  public void close() {}

  private record Recorded(Transaction transaction, List<Write> writes, PlantedBug bug)
      implements Transaction {
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
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      return transaction.scan(table, partition, after, before, limit);
    }

    @Override
    public <V extends MessageLite> void put(Table<V> table, Key key, V value) {
      if (bug == PlantedBug.TRUSTS_UNVERIFIED
          && value instanceof ReplicaRow row
          && row.getState() == ReplicaStateProto.CORRUPT) {
        record(Tables.REPLICA, key, row.toBuilder().setState(ReplicaStateProto.FINALIZED).build());
      } else {
        record(table, key, value);
      }
    }

    private <V extends MessageLite> void record(Table<V> table, Key key, V value) {
      transaction.put(table, key, value);
      writes.add(new Write(table, key, value));
    }

    @Override
    public SnapshotNotes snapshots() {
      return transaction.snapshots();
    }

    @Override
    public Optional<DirectoryHints> hints() {
      return transaction.hints();
    }

    @Override
    public void afterCommit(AfterCommit effect) {
      transaction.afterCommit(effect);
    }

    @Override
    public void delete(Table<?> table, Key key) {
      if (bug == PlantedBug.FORGETS_DELETIONS && table == Tables.BLOCK_OWNER) {
        return;
      }
      transaction.delete(table, key);
      writes.add(new Write(table, key, null));
    }
  }
}
