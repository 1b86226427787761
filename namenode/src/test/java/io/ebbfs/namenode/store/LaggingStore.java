package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * A shared store in memory that shows parts of commits, as the store on Ignite does: a row may be
 * read as it was before a commit whose other rows can be read already. A transaction that has
 * locked such a row is refused at its commit, and its body runs again. Counts the reads of each
 * table. Used by one thread.
 */
public final class LaggingStore implements MetadataStore {
  private final InMemoryStore rows = new InMemoryStore();
  private final ChangeLog changes = new ChangeLog(this);
  private final LockTable locks = new LockTable(2_000);
  private final DirectoryHints hints;
  // Rows as they were before a commit; null for a row that did not exist.
  private final Map<RowKey, MessageLite> lagging = new HashMap<>();
  // Of these, the rows that are read as they are after the next scan of their table.
  private final Set<RowKey> untilScan = new HashSet<>();
  // Of these, the rows that are read as they are after a wait for the commits on their partition.
  private final Set<RowKey> untilAwaited = new HashSet<>();
  private final Map<Table<?>, Integer> reads = new HashMap<>();
  private int conflicts;
  private boolean refuses;

  /**
   * @param hints of the process that uses the store
   */
  public LaggingStore(DirectoryHints hints) {
    this.hints = hints;
    rows.changes().setCopying(true); // the changes are those of this store
  }

  /** Lets readers see an older row, until a commit finds that it has changed. */
  public void lag(Table<?> table, Key key, MessageLite before) {
    lagging.put(new RowKey(table, key), before);
  }

  /** Lets the next scan of a table see an older row, and no read after it. */
  public void lagInScan(Table<?> table, Key key, MessageLite before) {
    lag(table, key, before);
    untilScan.add(new RowKey(table, key));
  }

  /** Lets readers see an older row, until a transaction waits for the commits on its partition. */
  public void lagUntilAwaited(Table<?> table, Key key, MessageLite before) {
    lag(table, key, before);
    untilAwaited.add(new RowKey(table, key));
  }

  /** All rows can be read as they are. */
  public void catchUp() {
    lagging.clear();
  }

  /** Commits that write something are refused once more, after their bodies, with an error. */
  public void refuseNext() {
    refuses = true;
  }

  /** How often a transaction ran again. */
  public int conflicts() {
    return conflicts;
  }

  /** How often rows of a table were asked for, under locks or without. */
  public int reads(Table<?> table) {
    return reads.getOrDefault(table, 0);
  }

  private static final class Conflict extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @Override
  public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    while (true) {
      try (LockTable.Holder held = locks.holder()) {
        return attempt(body, new Attempt(held));
      } catch (Conflict e) {
        conflicts++;
        lagging.clear();
      } catch (StaleReadException e) {
        conflicts++;
        lagging.clear(); // the rows are there when the body runs again
        throw e;
      }
    }
  }

  private <R> R attempt(TransactionBody<R> body, Attempt attempt) throws IOException {
    R result = body.run(attempt);
    Optional<ChangeLog.Change> change = Optional.empty();
    if (!attempt.buffered.writes().isEmpty()) {
      change = changes.addTo(attempt.buffered, attempt);
    }
    if (attempt.locked.stream().anyMatch(lagging::containsKey)) {
      throw new Conflict();
    }
    if (refuses && !attempt.buffered.writes().isEmpty()) {
      refuses = false;
      throw new IOException("the store refuses this commit");
    }
    rows.transact(0, transaction -> copy(attempt.buffered.writes(), transaction));
    change.ifPresent(changes::noteCommitted);
    attempt.buffered.applyEffects(true);
    return result;
  }

  @SuppressWarnings("unchecked") // a row of a table was written as that table's type
  private static Object copy(Map<RowKey, MessageLite> writes, Transaction transaction) {
    writes.forEach(
        (row, value) -> {
          if (value == null) {
            transaction.delete(row.table(), row.key());
          } else {
            transaction.put((Table<MessageLite>) row.table(), row.key(), value);
          }
        });
    return null;
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
    return rows.scanAll(table, after, limit);
  }

  @Override
  public ChangeLog changes() {
    return changes;
  }

  @Override
  public void close() {}

  private final class Attempt implements Transaction {
    private final LockTable.Holder held;
    private final BufferedTransaction buffered;
    private final Set<RowKey> locked = new HashSet<>();

    Attempt(LockTable.Holder held) {
      this.held = held;
      this.buffered = new BufferedTransaction(new Rows(), held, Optional.of(hints));
    }

    @Override
    public void lock(List<RowLock> wanted) throws IOException {
      held.lock(wanted);
      wanted.forEach(lock -> reads.merge(lock.table(), 1, Integer::sum));
      wanted.forEach(lock -> locked.add(new RowKey(lock.table(), lock.key())));
    }

    @Override
    public <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
      return buffered.get(table, key);
    }

    @Override
    public <V extends MessageLite> List<Optional<V>> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      return buffered.getAll(table, keys);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      return buffered.scan(table, partition, after, before, limit);
    }

    @Override
    public boolean awaitCommits(long partition, long writtenMillis) {
      return lagging
          .keySet()
          .removeIf(row -> row.key().partition() == partition && untilAwaited.remove(row));
    }

    @Override
    public <V extends MessageLite> void put(Table<V> table, Key key, V value) {
      buffered.put(table, key, value);
    }

    @Override
    public void delete(Table<?> table, Key key) {
      buffered.delete(table, key);
    }

    @Override
    public SnapshotNotes snapshots() {
      return buffered.snapshots();
    }

    @Override
    public Optional<DirectoryHints> hints() {
      return Optional.of(hints);
    }

    @Override
    public void afterCommit(AfterCommit effect) {
      buffered.afterCommit(effect);
    }
  }

  private final class Rows implements BufferedTransaction.Committed {
    @SuppressWarnings("unchecked") // a lagging row is one of its table
    @Override
    public <V extends MessageLite> V get(Table<V> table, Key key) throws IOException {
      reads.merge(table, 1, Integer::sum);
      RowKey row = new RowKey(table, key);
      return lagging.containsKey(row)
          ? (V) lagging.get(row)
          : rows.transact(0, transaction -> transaction.get(table, key)).orElse(null);
    }

    @Override
    public <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      List<V> found = new ArrayList<>(keys.size());
      for (Key key : keys) {
        found.add(get(table, key));
      }
      return found;
    }

    @SuppressWarnings("unchecked") // a lagging row is one of its table
    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      reads.merge(table, 1, Integer::sum);
      TreeMap<Key, V> found = new TreeMap<>();
      rows.transact(0, t -> t.scan(table, partition, after, before, limit))
          .forEach(row -> found.put(row.key(), row.value()));
      for (Map.Entry<RowKey, MessageLite> row : lagging.entrySet()) {
        Key key = row.getKey().key();
        boolean isInRange =
            row.getKey().table().equals(table)
                && key.partition() == partition
                && (after == null || key.compareTo(after) > 0)
                && (before == null || key.compareTo(before) < 0);
        if (isInRange && row.getValue() == null) {
          found.remove(key);
        } else if (isInRange) {
          found.put(key, (V) row.getValue());
        }
      }
      lagging.keySet().removeIf(row -> row.table().equals(table) && untilScan.remove(row));
      return found.entrySet().stream()
          .limit(limit)
          .map(row -> new Row<>(row.getKey(), row.getValue()))
          .toList();
    }
  }
}
