package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.ChangeRow;
import io.ebbfs.protocol.proto.StoreProtos.UsageRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exact {@link Usage} of a store, without a row that every transaction locks. A transaction
 * that changes the sums writes a row of its own with the difference, in the same commit ({@link
 * Tables#CHANGE}). {@link #fold} adds such rows to the one row of {@link Tables#USAGE} and deletes
 * them, in one transaction, so each counts once whoever folds it. Thread-safe.
 */
public final class ChangeLog {
  private static final Logger LOG = LoggerFactory.getLogger(ChangeLog.class);
  private static final int PAGE = 2_000;
  private static final int MOST_KEPT = 200_000;
  private static final Key USAGE = Tables.named("usage");

  /** What a transaction adds to the sums, and the key of its row. */
  public record Change(Key key, Usage usage) {}

  private final MetadataStore store;
  private final ReentrantLock folding = new ReentrantLock();
  private final long process = ThreadLocalRandom.current().nextLong();
  private final AtomicLong number = new AtomicLong();
  // Of this process, committed and perhaps not folded yet.
  private final ArrayDeque<Change> unfolded = new ArrayDeque<>();
  private Usage ofUnfolded = Usage.NONE;
  private Usage folded = Usage.NONE;
  private volatile boolean copying;
  // The store has rows of this process that the queue had no room for.
  private boolean overflown;

  public ChangeLog(MetadataStore store) {
    this.store = store;
  }

  // ---- for stores -------------------------------------------------------------------------------

  /**
   * Adds the row of a change to a transaction that is about to commit; empty if its writes leave
   * all sums as they are.
   */
  public Optional<Change> addTo(BufferedTransaction transaction) throws IOException {
    if (copying) {
      return Optional.empty();
    }
    Usage difference = Usage.NONE;
    for (Table<?> table : Usage.TABLES) {
      difference = difference.plus(difference(transaction, table));
    }
    if (difference.equals(Usage.NONE)) {
      return Optional.empty();
    }
    long partition = transaction.writes().keySet().iterator().next().key().partition();
    Change change = new Change(newKey(partition), difference);
    transaction.put(
        Tables.CHANGE, change.key(), ChangeRow.newBuilder().setUsage(difference.message()).build());
    return Optional.of(change);
  }

  private static <V extends MessageLite> Usage difference(
      BufferedTransaction transaction, Table<V> table) throws IOException {
    Usage difference = Usage.NONE;
    List<Key> keys = List.of();
    for (Map.Entry<RowKey, MessageLite> write : transaction.writes().entrySet()) {
      RowKey row = write.getKey();
      if (row.table() == table) {
        keys = keys.isEmpty() ? new ArrayList<>() : keys;
        keys.add(row.key());
        difference = difference.plus(Usage.of(table, row.key(), write.getValue()));
      }
    }
    List<V> before = keys.isEmpty() ? List.of() : transaction.committed(table, keys);
    for (int i = 0; i < before.size(); i++) {
      difference = difference.minus(Usage.of(table, keys.get(i), before.get(i)));
    }
    return difference;
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
    if (unfolded.size() < MOST_KEPT) {
      unfolded.add(change);
    } else {
      overflown = true;
    }
  }

  // ---- for copies of stores ---------------------------------------------------------------------

  /** Whether this process writes copies of all rows: the rows with the sums are among them. */
  public void setCopying(boolean copying) {
    this.copying = copying;
  }

  // ---- for namenodes ----------------------------------------------------------------------------

  /** The sums of all commits of this process, and of all commits of others that were folded. */
  public synchronized Usage usage() {
    return folded.plus(ofUnfolded);
  }

  /**
   * Folds what earlier processes have left. A store of a version that did not keep the sums is read
   * as a whole once. To be called before this process serves clients.
   */
  public void open() throws IOException {
    folding.lock();
    try {
      if (foldKeys(List.of()).isEmpty()) {
        sumAll();
      }
      foldEverything();
    } finally {
      folding.unlock();
    }
  }

  private void sumAll() throws IOException {
    LOG.info("All files, replicas and stripes are counted once");
    deleteAllChanges();
    Usage sum = scan(store);
    store.transact(
        USAGE.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.USAGE, USAGE)));
          transaction.put(Tables.USAGE, USAGE, UsageRow.newBuilder().setSum(sum.message()).build());
          return null;
        });
  }

  private void deleteAllChanges() throws IOException {
    List<Row<ChangeRow>> page;
    do {
      page = store.scanAll(Tables.CHANGE, null, PAGE);
      List<Row<ChangeRow>> rows = page;
      store.transact(
          USAGE.partition(),
          Durability.RELAXED,
          transaction -> {
            rows.forEach(row -> transaction.delete(Tables.CHANGE, row.key()));
            return null;
          });
    } while (page.size() == PAGE);
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
        Optional<Usage> sum = foldKeys(batch.stream().map(Change::key).toList());
        sum.ifPresent(found -> settle(batch.size(), found));
        more = sum.isPresent() && batch.size() == PAGE;
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

  private synchronized void settle(int changes, Usage sum) {
    for (int i = 0; i < changes; i++) {
      ofUnfolded = ofUnfolded.minus(unfolded.remove().usage());
    }
    folded = sum;
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
        foldKeys(page.stream().map(Row::key).toList());
      }
    } while (page.size() == PAGE);
  }

  /** Empty if the sums of the store are not known yet: then nothing was folded. */
  private Optional<Usage> foldKeys(List<Key> keys) throws IOException {
    return store.transact(
        USAGE.partition(), Durability.RELAXED, transaction -> foldKeys(transaction, keys));
  }

  private static Optional<Usage> foldKeys(Transaction transaction, List<Key> keys)
      throws IOException {
    if (!keys.isEmpty()) {
      transaction.lock(List.of(RowLock.exclusive(Tables.USAGE, USAGE)));
    }
    Optional<UsageRow> before = transaction.get(Tables.USAGE, USAGE);
    if (before.isEmpty()) {
      return Optional.empty();
    }
    Usage known = Usage.of(before.get().getSum());
    Usage sum = known;
    List<Optional<ChangeRow>> rows = transaction.getAll(Tables.CHANGE, keys);
    for (int i = 0; i < rows.size(); i++) {
      if (rows.get(i).isPresent()) { // else another process has folded it, or it never committed
        sum = sum.plus(Usage.of(rows.get(i).get().getUsage()));
        transaction.delete(Tables.CHANGE, keys.get(i));
      }
    }
    if (!sum.equals(known)) {
      transaction.put(Tables.USAGE, USAGE, UsageRow.newBuilder().setSum(sum.message()).build());
    }
    return Optional.of(sum);
  }
}
