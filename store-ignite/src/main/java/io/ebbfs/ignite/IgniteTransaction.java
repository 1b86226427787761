package io.ebbfs.ignite;

import io.ebbfs.namenode.store.BufferedTransaction;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.LockTable;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowKey;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.RowSet;
import io.ebbfs.namenode.store.SnapshotNotes;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.apache.ignite.Ignite;
import org.apache.ignite.lang.IgniteFuture;
import org.apache.ignite.lang.IgniteFutureTimeoutException;
import org.apache.ignite.transactions.TransactionConcurrency;
import org.apache.ignite.transactions.TransactionIsolation;

/**
 * A transaction of one process among many. Within the process, rows are locked; towards other
 * processes, Ignite checks at the commit that no locked row has changed since it was read. So no
 * lock outlives a process that dies or is frozen.
 *
 * <p>Two transactions that lock the same row exclusively must conflict even if neither writes it.
 * So a commit that writes anything writes all rows that it has locked exclusively, as they are:
 * that changes their versions. A locked row that does not exist becomes a guard.
 */
final class IgniteTransaction implements Transaction, AutoCloseable {
  /** A commit ends sooner; the rest is for clocks of machines that differ. */
  private static final long LONGEST_COMMIT_MILLIS = 60_000;

  private final IgniteRows rows;
  private final Ignite ignite;
  private final long timeoutMillis;
  private final LockTable.Holder locks;
  private final BufferedTransaction buffered;
  // The rows as they were under the locks; without an entry if they did not exist.
  private final Map<RowId, byte[]> locked = new HashMap<>();
  private final Set<RowId> shared = new HashSet<>();
  private final Set<RowId> exclusive = new TreeSet<>();
  private final ChangeLog changes;
  private Optional<ChangeLog.Change> change = Optional.empty();
  private org.apache.ignite.transactions.Transaction open;
  // Whether some work of Ignite has not ended in time, and may never end.
  private boolean abandoned;

  IgniteTransaction(
      StoreConnection.Joined joined,
      DirectoryHints hints,
      ChangeLog changes,
      long timeoutMillis,
      LockTable.Holder locks) {
    this.rows = joined.rows();
    this.ignite = joined.ignite();
    this.timeoutMillis = timeoutMillis;
    this.locks = locks;
    this.changes = changes;
    this.buffered = new BufferedTransaction(new LockedOrCommitted(), locks, Optional.of(hints));
  }

  /** Whether the store has not answered in time, and may never answer. */
  boolean isAbandoned() {
    return abandoned;
  }

  @Override
  public void lock(List<RowLock> wanted) throws IOException {
    locks.lock(wanted);
    Set<RowId> unread = new TreeSet<>();
    for (RowLock lock : wanted) {
      RowId id = RowId.of(lock.table(), lock.key());
      if (!isLocked(id)) {
        unread.add(id);
      }
      (lock.mode() == RowLock.Mode.EXCLUSIVE ? exclusive : shared).add(id);
    }
    if (!unread.isEmpty()) {
      begin();
      rows.calls().lockingReads.increment();
      locked.putAll(during(() -> await(rows.cache().getAllAsync(unread))));
    }
  }

  private boolean isLocked(RowId id) {
    return exclusive.contains(id) || shared.contains(id);
  }

  private void begin() throws IOException {
    if (open == null) {
      open =
          during(
              () ->
                  ignite
                      .transactions()
                      .txStart(
                          TransactionConcurrency.OPTIMISTIC,
                          TransactionIsolation.SERIALIZABLE,
                          timeoutMillis,
                          0));
    }
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
  public RowSet read(List<RowKey> wanted) throws IOException {
    Map<RowKey, MessageLite> writes = buffered.writes();
    Set<RowId> ids = new TreeSet<>();
    wanted.stream()
        .filter(row -> !writes.containsKey(row))
        .forEach(row -> ids.add(RowId.of(row.table(), row.key())));
    Map<RowId, byte[]> found = lockedOrCommitted(ids);
    Map<RowKey, Optional<? extends MessageLite>> result = new HashMap<>();
    for (RowKey row : wanted) {
      result.put(
          row,
          Optional.ofNullable(
              writes.containsKey(row) ? writes.get(row) : parse(row.table(), row.key(), found)));
    }
    return new RowSet(result);
  }

  private static <V extends MessageLite> V parse(
      Table<V> table, Key key, Map<RowId, byte[]> found) {
    return RowBytes.parse(table, key, found.get(RowId.of(table, key)));
  }

  private Map<RowId, byte[]> lockedOrCommitted(Set<RowId> ids) throws IOException {
    Set<RowId> unlocked = new TreeSet<>(ids);
    unlocked.removeIf(this::isLocked);
    Map<RowId, byte[]> found = new HashMap<>(rows.read(unlocked));
    for (RowId id : ids) {
      if (isLocked(id)) {
        found.put(id, locked.get(id));
      }
    }
    return found;
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
    return buffered.scan(table, partition, after, before, limit);
  }

  @Override
  public boolean awaitCommits(long partition, long writtenMillis) {
    return System.currentTimeMillis() - writtenMillis <= LONGEST_COMMIT_MILLIS
        && rows.awaitCommits(partition);
  }

  @Override
  public <V extends MessageLite> void put(Table<V> table, Key key, V value) {
    buffered.put(table, key, value);
  }

  @Override
  public Optional<DirectoryHints> hints() {
    return buffered.hints();
  }

  @Override
  public SnapshotNotes snapshots() {
    return buffered.snapshots();
  }

  @Override
  public void delete(Table<?> table, Key key) {
    buffered.delete(table, key);
  }

  @Override
  public void afterCommit(AfterCommit effect) {
    buffered.afterCommit(effect);
  }

  /**
   * Adds to the writes what follows from them: the row of the change, and the sums of quotas. The
   * commit follows.
   */
  void prepare() throws IOException {
    if (!buffered.writes().isEmpty()) {
      change = changes.addTo(buffered, this);
    }
  }

  /**
   * Writes everything, if no locked row has changed.
   *
   * @throws ConflictException if a locked row has changed; nothing is written
   * @throws CommitOutcomeUnknownException if a node was lost on the way
   */
  void commit() throws IOException {
    if (buffered.writes().isEmpty()) {
      check();
      buffered.applyEffects(true);
      return;
    }
    begin();
    during(
        () -> {
          writeAll();
          return null;
        });
    rows.calls().commits.increment();
    try {
      await((IgniteFuture<?>) open.commitAsync());
    } catch (RuntimeException e) {
      IOException failure = failedCommit(e);
      if (failure instanceof CommitOutcomeUnknownException) {
        noteCommitted(false);
      }
      throw failure;
    }
    noteCommitted(true);
  }

  private void noteCommitted(boolean known) {
    change.ifPresent(changes::noteCommitted);
    buffered.applyEffects(known);
  }

  /** A store that hangs must not hold the threads of its namenodes for ever. */
  private <R> R await(IgniteFuture<R> work) {
    try {
      return work.get(timeoutMillis);
    } catch (IgniteFutureTimeoutException e) {
      abandoned = true;
      throw e;
    }
  }

  /**
   * Ends a transaction that writes nothing.
   *
   * @throws ConflictException if a locked row has changed, so that what the body saw or decided may
   *     be wrong
   */
  void check() throws IOException {
    if (open != null) {
      rows.calls().commits.increment();
      during(
          () -> {
            await((IgniteFuture<?>) open.commitAsync()); // its result is not what it declares
            return null;
          });
    }
  }

  private void writeAll() {
    TreeMap<RowId, byte[]> puts = new TreeMap<>();
    TreeSet<RowId> removals = new TreeSet<>();
    for (RowId id : exclusive) {
      byte[] unchanged = locked.get(id);
      puts.put(id, unchanged == null ? RowBytes.GUARD : unchanged);
    }
    buffered
        .writes()
        .forEach(
            (row, value) -> {
              RowId id = RowId.of(row.table(), row.key());
              if (value == null) {
                puts.remove(id);
                removals.add(id);
              } else {
                puts.put(id, value.toByteArray());
              }
            });
    rows.cache().putAll(puts);
    rows.cache().removeAll(removals);
  }

  private static IOException failedCommit(RuntimeException failure) {
    if (Failures.isRolledBack(failure)) {
      throw new ConflictException(failure);
    }
    return Failures.isOfMissingNodes(failure)
        ? Failures.ofMissingNodes(failure)
        : new CommitOutcomeUnknownException(failure);
  }

  /** Runs work after whose failure nothing is written. */
  private <R> R during(Work<R> work) throws IOException {
    try {
      return work.run();
    } catch (RuntimeException e) {
      if (Failures.isRolledBack(e) || Failures.isOfTopology(e)) {
        throw new ConflictException(e);
      }
      throw Failures.isOfMissingNodes(e)
          ? Failures.ofMissingNodes(e)
          : Failures.of("transaction", e);
    }
  }

  /**
   * Rolls back a transaction that has not committed. If the store does not answer, the store ends
   * the transaction when this process leaves.
   */
  @Override
  public void close() {
    if (open != null && !abandoned) {
      open.close();
    }
  }

  @FunctionalInterface
  private interface Work<R> {
    R run();
  }

  private final class LockedOrCommitted implements BufferedTransaction.Committed {
    @Override
    public <V extends MessageLite> V get(Table<V> table, Key key) throws IOException {
      RowId id = RowId.of(table, key);
      return isLocked(id) ? RowBytes.parse(table, key, locked.get(id)) : rows.get(table, key);
    }

    @Override
    public <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      Set<RowId> ids = new TreeSet<>();
      keys.forEach(key -> ids.add(RowId.of(table, key)));
      Map<RowId, byte[]> found = lockedOrCommitted(ids);
      return keys.stream().map(key -> parse(table, key, found)).toList();
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      return rows.scan(table, partition, after, before, limit);
    }
  }
}
