package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.LockTable;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowKey;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.SnapshotNotes;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.verify.simulator.CrashingStore.Write;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * One store of several namenodes, which behaves as the store on Ignite does: a commit is refused if
 * a row that its transaction has locked was written since, and the body runs again. A commit may
 * also be refused by chance, or end without an answer: then it has taken effect, or never does, or
 * takes effect later. Used by one thread.
 */
final class SharedStore {
  private static final int MOST_ATTEMPTS = 50;
  private static final int CONFLICT_ONE_IN = 40;
  private static final int UNKNOWN_ONE_IN = 80;

  /** Nobody knows whether a commit has taken effect. */
  static final class OutcomeUnknownException extends IOException {
    private static final long serialVersionUID = 1L;

    OutcomeUnknownException() {
      super("the answer to a commit was lost");
    }
  }

  /** The commit is refused, and the body runs again. */
  private static final class Conflict extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Conflict() {
      super("a row has changed", null, false, false);
    }
  }

  /** What happens to a namenode in the middle of its work. */
  @FunctionalInterface
  interface Strike {
    /** Returns when the namenode goes on; throws {@link CrashingStore.Crash} if it dies. */
    void happen();
  }

  /** Where in a transaction something happens. */
  enum Moment {
    BEFORE,
    BEFORE_COMMIT,
    AFTER_COMMIT
  }

  private enum Outcome {
    KNOWN,
    TAKES_EFFECT,
    IS_LOST,
    TAKES_EFFECT_LATER
  }

  /** A commit that the nodes of the store have not decided yet. */
  private record Undecided(List<Write> writes, Map<RowKey, Long> read, Set<RowKey> locked) {}

  private final CrashingStore rows;
  private final Clock clock;
  private final Random random;
  private final EventCounts events;
  private final PlantedBug bug;
  private final Map<RowKey, Long> versions = new HashMap<>();
  private final List<Undecided> undecided = new ArrayList<>();
  private boolean faulty;

  SharedStore(CrashingStore rows, Clock clock, Random random, EventCounts events, PlantedBug bug) {
    this.rows = rows;
    this.clock = clock;
    this.random = random;
    this.events = events;
    this.bug = bug;
  }

  /** Whether commits are refused by chance and answers are lost from now on. */
  void setFaulty(boolean faulty) {
    this.faulty = faulty;
  }

  /** The nodes of the store decide all commits that nobody waits for any more. */
  void decideAll() throws IOException {
    while (!undecided.isEmpty()) {
      decide(undecided.remove(0));
    }
  }

  /** The nodes of the store decide one of these commits. */
  void decideOne() throws IOException {
    if (!undecided.isEmpty()) {
      decide(undecided.remove(random.nextInt(undecided.size())));
    }
  }

  private void decide(Undecided commit) throws IOException {
    if (!isUnchanged(commit.read())) {
      return;
    }
    events.add("fault commit takes effect late");
    rows.transact(
        0,
        transaction -> {
          commit.writes().forEach(write -> CrashingStore.apply(transaction, write));
          return null;
        });
    noteCommit(commit.writes(), commit.locked());
  }

  private boolean isUnchanged(Map<RowKey, Long> read) {
    for (Map.Entry<RowKey, Long> row : read.entrySet()) {
      if (versions.getOrDefault(row.getKey(), 0L).longValue() != row.getValue()) {
        return bug == PlantedBug.IGNORES_CONFLICTS;
      }
    }
    return true;
  }

  /** A commit writes all rows that it has locked exclusively, so that these versions grow, too. */
  private void noteCommit(List<Write> writes, Set<RowKey> locked) {
    Set<RowKey> written = new HashSet<>(locked);
    writes.forEach(write -> written.add(new RowKey(write.table(), write.key())));
    written.forEach(row -> versions.merge(row, 1L, Long::sum));
  }

  private Outcome drawOutcome() {
    return !faulty || random.nextInt(UNKNOWN_ONE_IN) > 0
        ? Outcome.KNOWN
        : Outcome.values()[1 + random.nextInt(3)];
  }

  /** The store as one process of a namenode reaches it. */
  final class Client implements MetadataStore {
    private final DirectoryHints hints = new DirectoryHints(() -> clock.millis() * 1_000_000);
    private final LockTable locks = new LockTable(10_000);
    private int transactionsLeft = -1;
    private Moment moment;
    private Strike strike;
    private boolean cut;
    private boolean dead;

    /** The process has ended: it does nothing any more. */
    void die() {
      dead = true;
    }

    /** Something happens in a transaction, after the given number of other ones. */
    void strikeAfter(int transactions, Moment when, Strike what) {
      transactionsLeft = transactions;
      moment = when;
      strike = what;
    }

    /** Nothing happens any more. */
    void disarm() {
      transactionsLeft = -1;
    }

    /** Whether the process cannot reach the store. */
    void setCut(boolean cut) {
      this.cut = cut;
    }

    boolean isCut() {
      return cut;
    }

    private void reach() throws IOException {
      if (dead) {
        throw new CrashingStore.Crash();
      }
      if (cut) {
        throw new IOException("no answer from the nodes of the metadata store");
      }
    }

    @Override
    public ChangeLog changes() {
      return rows.changes();
    }

    @Override
    public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
        throws IOException {
      reach();
      Moment now = transactionsLeft == 0 ? moment : null;
      transactionsLeft = Math.max(-1, transactionsLeft - 1);
      happen(now, Moment.BEFORE);
      for (int i = 0; i < MOST_ATTEMPTS; i++) {
        try {
          R result = attempt(partitionHint, body, i == 0 ? now : null);
          happen(now, Moment.AFTER_COMMIT);
          reach();
          return result;
        } catch (Conflict e) {
          events.add("fault commit refused");
        }
      }
      throw new IOException("gave up, because other namenodes change the same rows; try again");
    }

    private void happen(Moment now, Moment at) throws IOException {
      if (now == at) {
        strike.happen();
        reach();
      }
    }

    private <R> R attempt(long partitionHint, TransactionBody<R> body, Moment now)
        throws IOException {
      Outcome outcome = drawOutcome();
      boolean[] wrote = {false};
      List<Transaction.AfterCommit> effects = new ArrayList<>();
      R result;
      try (LockTable.Holder held = locks.holder()) {
        result =
            rows.transact(
                partitionHint,
                inner -> {
                  effects.clear();
                  Attempt attempt = new Attempt(inner, hints, held, effects);
                  R value = run(body, attempt);
                  happen(now, Moment.BEFORE_COMMIT);
                  wrote[0] = attempt.commit(outcome);
                  return value;
                });
        if (wrote[0] && outcome == Outcome.TAKES_EFFECT) {
          events.add("fault answer of a commit lost");
          throw new OutcomeUnknownException();
        }
      } catch (OutcomeUnknownException e) {
        effects.forEach(effect -> effect.apply(false));
        throw e;
      }
      effects.forEach(effect -> effect.apply(true));
      return result;
    }

    private <R> R run(TransactionBody<R> body, Attempt attempt) throws IOException {
      try {
        return body.run(attempt);
      } catch (StaleReadException | Conflict e) {
        throw e;
      } catch (IOException | RuntimeException e) {
        attempt.check(); // perhaps the body failed because rows changed while it read them
        throw e;
      }
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
        throws IOException {
      reach();
      return rows.scanAll(table, after, limit);
    }

    /** Every commit is on all nodes when it returns. */
    @Override
    public void sync() throws IOException {
      reach();
    }

    @Override
    public void close() {}
  }

  /** One run of the body of a transaction. */
  private final class Attempt implements Transaction {
    private final Transaction inner;
    private final DirectoryHints hints;
    private final LockTable.Holder held;
    private final Map<RowKey, Long> read = new HashMap<>();
    private final Set<RowKey> exclusive = new HashSet<>();
    private final List<Write> writes = new ArrayList<>();
    private final List<AfterCommit> effects;

    Attempt(
        Transaction inner, DirectoryHints hints, LockTable.Holder held, List<AfterCommit> effects) {
      this.inner = inner;
      this.hints = hints;
      this.held = held;
      this.effects = effects;
    }

    @Override
    public void afterCommit(AfterCommit effect) {
      effects.add(effect);
    }

    private void check() {
      if (!isUnchanged(read)) {
        throw new Conflict();
      }
    }

    /** Returns whether the transaction writes anything. */
    private boolean commit(Outcome outcome) throws IOException {
      check();
      if (writes.isEmpty()) {
        return false;
      }
      if (faulty && random.nextInt(CONFLICT_ONE_IN) == 0) {
        throw new Conflict();
      }
      if (outcome == Outcome.IS_LOST || outcome == Outcome.TAKES_EFFECT_LATER) {
        if (outcome == Outcome.TAKES_EFFECT_LATER) {
          undecided.add(new Undecided(writes, read, exclusive));
        }
        events.add("fault answer of a commit lost");
        throw new OutcomeUnknownException();
      }
      noteCommit(writes, exclusive);
      return true;
    }

    @Override
    public void lock(List<RowLock> wanted) throws IOException {
      held.lock(wanted);
      for (RowLock lock : wanted) {
        RowKey row = new RowKey(lock.table(), lock.key());
        read.putIfAbsent(row, versions.getOrDefault(row, 0L));
        if (lock.mode() == RowLock.Mode.EXCLUSIVE) {
          exclusive.add(row);
        }
      }
    }

    @Override
    public <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
      return inner.get(table, key);
    }

    @Override
    public <V extends MessageLite> List<Optional<V>> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      return inner.getAll(table, keys);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      return inner.scan(table, partition, after, before, limit);
    }

    @Override
    public <V extends MessageLite> void put(Table<V> table, Key key, V value) {
      inner.put(table, key, value);
      writes.add(new Write(table, key, value));
    }

    @Override
    public void delete(Table<?> table, Key key) {
      inner.delete(table, key);
      writes.add(new Write(table, key, null));
    }

    @Override
    public SnapshotNotes snapshots() {
      return inner.snapshots();
    }

    @Override
    public Optional<DirectoryHints> hints() {
      return Optional.of(hints);
    }
  }
}
