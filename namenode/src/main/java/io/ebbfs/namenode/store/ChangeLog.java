package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.ChangeRow;
import io.ebbfs.protocol.proto.StoreProtos.UsageRow;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exact {@link Usage} of a store, without a row that every transaction locks, and the change
 * stream. A transaction that changes files, directories or stripes writes a row of its own with
 * their ids and the difference of the sums, in the same commit ({@link Tables#CHANGE}). {@link
 * #fold} publishes the ids of such rows. Then it adds the rows to the one row of {@link
 * Tables#USAGE} and deletes them, in one transaction, so each counts once whoever folds it. Ids are
 * published after their commit, and perhaps more than once. If they cannot be published, the rows
 * are folded nevertheless, and the row of {@link Tables#USAGE} counts that. Thread-safe.
 */
public final class ChangeLog {
  private static final Logger LOG = LoggerFactory.getLogger(ChangeLog.class);
  private static final int PAGE = 2_000;
  private static final int MOST_KEPT = 200_000;
  private static final int MOST_KEPT_IDS = 400_000;

  private static final long MARK_WAIT_SECONDS = 5;

  private static final Key USAGE = Tables.named("usage");

  /** What a transaction adds to the sums, the ids that it changes, and the key of its row. */
  public record Change(Key key, Usage usage, ChangedIds ids) {}

  private final MetadataStore store;
  private final ReentrantLock folding = new ReentrantLock();
  private final long process = ThreadLocalRandom.current().nextLong();
  private final AtomicLong number = new AtomicLong();
  // Of this process, committed and perhaps not folded yet.
  private final ArrayDeque<Change> unfolded = new ArrayDeque<>();
  private Usage ofUnfolded = Usage.NONE;
  private int unfoldedIds;
  private UsageRow folded = row(Usage.NONE, 0);
  private volatile ChangePublisher publisher = ChangePublisher.NONE;
  private volatile boolean copying;
  // The store has rows of this process that the queue had no room for.
  private boolean overflown;

  public ChangeLog(MetadataStore store) {
    this.store = store;
  }

  // ---- for stores -------------------------------------------------------------------------------

  /**
   * Adds the row of a change to a transaction that is about to commit; empty if its writes change
   * no file, directory or stripe. Keeps what snapshots show, and adds what the transaction changes
   * in counted directories to their sums.
   *
   * @param locking the transaction as its body sees it, for locks and reads
   * @throws StaleReadException if the transaction has to run again
   */
  public Optional<Change> addTo(BufferedTransaction transaction, Transaction locking)
      throws IOException {
    if (copying) {
      return Optional.empty();
    }
    SnapshotLedger snapshots = SnapshotLedger.keep(locking, transaction);
    TransactionChange made = TransactionChange.of(transaction);
    QuotaLedger.settle(locking, transaction, made.quotas());
    snapshots.confirm(locking);
    if (made.isNothing()) {
      return Optional.empty();
    }
    long partition = transaction.writes().keySet().iterator().next().key().partition();
    Change change = new Change(newKey(partition), made.usage(), made.ids());
    ChangeRow.Builder row = ChangeRow.newBuilder().setUsage(made.usage().message());
    made.ids().addTo(row);
    transaction.put(Tables.CHANGE, change.key(), row.build());
    return Optional.of(change);
  }

  private Key newKey(long partition) {
    byte[] rest =
        ByteBuffer.allocate(2 * Long.BYTES)
            .putLong(process)
            .putLong(number.incrementAndGet())
            .array();
    return Key.of(partition, rest);
  }

  /** Notes a change whose transaction has committed, or perhaps has. */
  public synchronized void noteCommitted(Change change) {
    ofUnfolded = ofUnfolded.plus(change.usage());
    if (unfolded.size() < MOST_KEPT && unfoldedIds < MOST_KEPT_IDS) {
      unfolded.add(change);
      unfoldedIds += change.ids().count();
    } else {
      overflown = true;
    }
  }

  /** Adds what rows count that came past transactions. Nobody is told of the rows. */
  void addSum(Usage usage) throws IOException {
    Change change = new Change(newKey(0), usage, ChangedIds.NONE);
    store.transact(
        0,
        Durability.RELAXED,
        transaction -> {
          transaction.put(
              Tables.CHANGE,
              change.key(),
              ChangeRow.newBuilder().setUsage(usage.message()).build());
          return null;
        });
    noteCommitted(change);
  }

  // ---- for copies of stores ---------------------------------------------------------------------

  /** Whether this process writes copies of all rows: the rows with the sums are among them. */
  public void setCopying(boolean copying) {
    this.copying = copying;
  }

  // ---- for namenodes ----------------------------------------------------------------------------

  /** Publishes changes from now on. */
  public void publishTo(ChangePublisher publisher) {
    this.publisher = publisher;
  }

  /** The sums of all commits of this process, and of all commits of others that were folded. */
  public synchronized Usage usage() {
    return Usage.of(folded.getSum()).plus(ofUnfolded);
  }

  /** How often changes were folded without being published, as of the last fold. */
  public synchronized long changesLost() {
    return folded.getChangesLost();
  }

  /**
   * Publishes all changes of all processes up to now, and then the mark. What cannot be published
   * is counted, and then perhaps the mark is not published either.
   */
  public void publishMark(String mark) throws IOException {
    try {
      // Many who ask while Kafka is slow must not hold all threads that answer calls.
      if (!folding.tryLock(MARK_WAIT_SECONDS, TimeUnit.SECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted before a mark was published");
    }
    try {
      foldEverything();
    } finally {
      folding.unlock();
    }
    publisher.publishMark(mark);
  }

  /** Notes that the rows are those of a backup, whatever was published since it was taken. */
  static void noteRestored(Transaction transaction) throws IOException {
    transaction.lock(List.of(RowLock.exclusive(Tables.USAGE, USAGE)));
    Optional<UsageRow> before = transaction.get(Tables.USAGE, USAGE);
    if (before.isPresent()) {
      // Another number at each restore of the same backup.
      long lost = Math.max(before.get().getChangesLost() + 1, System.currentTimeMillis());
      transaction.put(Tables.USAGE, USAGE, before.get().toBuilder().setChangesLost(lost).build());
    }
  }

  /**
   * Folds what earlier processes have left. A store of a version that did not keep the sums is read
   * as a whole once. To be called before this process serves clients.
   */
  public void open() throws IOException {
    folding.lock();
    try {
      if (foldKeys(List.of(), true).isEmpty()) {
        sumAll();
      }
      foldEverything();
    } finally {
      folding.unlock();
    }
  }

  private void sumAll() throws IOException {
    LOG.info("All files, replicas and stripes are counted once");
    long lost = deleteAllChanges();
    Usage sum = scan(store);
    store.transact(
        USAGE.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.USAGE, USAGE)));
          transaction.put(Tables.USAGE, USAGE, row(sum, lost));
          return null;
        });
  }

  /** Returns how often changes were lost. */
  private long deleteAllChanges() throws IOException {
    long lost = 0;
    List<Row<ChangeRow>> page;
    do {
      page = store.scanAll(Tables.CHANGE, null, PAGE);
      List<Row<ChangeRow>> rows = page;
      lost += publish(ChangedIds.ofRows(rows)) ? 0 : 1;
      store.transact(
          USAGE.partition(),
          Durability.RELAXED,
          transaction -> {
            rows.forEach(row -> transaction.delete(Tables.CHANGE, row.key()));
            return null;
          });
    } while (page.size() == PAGE);
    return lost;
  }

  /** What a power failure undoes must not have been published: nobody would tell of the undoing. */
  private boolean publish(ChangedIds ids) throws IOException {
    if (ids.isEmpty()) {
      return true;
    }
    if (publisher == ChangePublisher.NONE) {
      return false;
    }
    store.sync();
    return publisher.publish(ids);
  }

  /** The sums by a scan of all rows. They are exact only if nobody changes the rows meanwhile. */
  public static Usage scan(MetadataStore store) throws IOException {
    Usage[] sum = {Usage.NONE};
    for (Table<?> table : Usage.TABLES) {
      store.eachRow(table, (key, row) -> sum[0] = sum[0].plus(Usage.of(table, key, row)));
    }
    return sum[0];
  }

  /** The sums as the rows of the store tell them, folded or not; empty if they are not kept yet. */
  public static Optional<Usage> stored(MetadataStore store) throws IOException {
    List<Row<UsageRow>> folded = store.scanAll(Tables.USAGE, null, 1);
    if (folded.isEmpty()) {
      return Optional.empty();
    }
    Usage[] sum = {Usage.of(folded.get(0).value().getSum())};
    store.eachRow(Tables.CHANGE, (key, row) -> sum[0] = sum[0].plus(Usage.of(row.getUsage())));
    return Optional.of(sum[0]);
  }

  /** Folds the changes of this process. To be called about once a second. */
  public void fold() throws IOException {
    folding.lock();
    try {
      boolean more = true;
      while (more) {
        List<Change> batch = oldest();
        boolean published = publish(ChangedIds.union(batch.stream().map(Change::ids).toList()));
        Optional<UsageRow> now = foldKeys(batch.stream().map(Change::key).toList(), published);
        now.ifPresent(row -> settle(batch.size(), row));
        more = now.isPresent() && batch.size() == PAGE;
      }
      if (isOverflown()) {
        foldRows();
        forgetOverflow();
      }
    } finally {
      folding.unlock();
    }
  }

  private synchronized List<Change> oldest() {
    return unfolded.stream().limit(PAGE).toList();
  }

  private synchronized void settle(int changes, UsageRow now) {
    for (int i = 0; i < changes; i++) {
      Change change = unfolded.remove();
      ofUnfolded = ofUnfolded.minus(change.usage());
      unfoldedIds -= change.ids().count();
    }
    folded = now;
  }

  private synchronized boolean isOverflown() {
    return overflown;
  }

  private synchronized void forgetOverflow() {
    overflown = false;
    ofUnfolded = unfolded.stream().map(Change::usage).reduce(Usage.NONE, Usage::plus);
  }

  /**
   * Folds the changes of all processes, of those that have ended, too. To be called now and then by
   * one process of those that share a store.
   */
  public void foldEverything() throws IOException {
    folding.lock();
    try {
      foldRows();
      fold(); // finds that the rows of this process are gone
    } finally {
      folding.unlock();
    }
  }

  private void foldRows() throws IOException {
    Key after = null;
    List<Row<ChangeRow>> page;
    do {
      page = store.scanAll(Tables.CHANGE, after, PAGE);
      if (!page.isEmpty()) {
        after = page.get(page.size() - 1).key();
        foldKeys(page.stream().map(Row::key).toList(), publish(ChangedIds.ofRows(page)));
      }
    } while (page.size() == PAGE);
  }

  /**
   * Empty if the sums of the store are not known yet: then nothing was folded.
   *
   * @param published whether the ids of the rows, if they have any, were published
   */
  private Optional<UsageRow> foldKeys(List<Key> keys, boolean published) throws IOException {
    return store.transactInBackground(
        USAGE.partition(), transaction -> foldKeys(transaction, keys, published));
  }

  private static Optional<UsageRow> foldKeys(
      Transaction transaction, List<Key> keys, boolean published) throws IOException {
    if (!keys.isEmpty()) {
      transaction.lock(List.of(RowLock.exclusive(Tables.USAGE, USAGE)));
    }
    Optional<UsageRow> before = transaction.get(Tables.USAGE, USAGE);
    if (before.isEmpty()) {
      return Optional.empty();
    }
    Usage sum = Usage.of(before.get().getSum());
    boolean loses = false;
    List<Optional<ChangeRow>> rows = transaction.getAll(Tables.CHANGE, keys);
    for (int i = 0; i < rows.size(); i++) {
      if (rows.get(i).isPresent()) { // else another process has folded it, or it never committed
        sum = sum.plus(Usage.of(rows.get(i).get().getUsage()));
        loses |= !published && ChangedIds.areIn(rows.get(i).get());
        transaction.delete(Tables.CHANGE, keys.get(i));
      }
    }
    UsageRow now = row(sum, before.get().getChangesLost() + (loses ? 1 : 0));
    if (!now.equals(before.get())) {
      transaction.put(Tables.USAGE, USAGE, now);
    }
    return Optional.of(now);
  }

  private static UsageRow row(Usage sum, long changesLost) {
    UsageRow.Builder row = UsageRow.newBuilder().setSum(sum.message());
    if (changesLost > 0) {
      row.setChangesLost(changesLost);
    }
    return row.build();
  }
}
