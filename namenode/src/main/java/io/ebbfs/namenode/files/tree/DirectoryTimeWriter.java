package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.store.DirectoryTimes;
import io.ebbfs.namenode.store.DirectoryTimes.Pending;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the modification times of directories that changed more often than once per second; see
 * {@link DirectoryTimes}. A time never goes back by this, and a time that a client has set after a
 * change stays, whichever namenodes the change and the client used. Used by one thread.
 */
public final class DirectoryTimeWriter {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryTimeWriter.class);

  private static final int MOST_NAMED = 10;
  private static final long PAUSE_MILLIS = 500;

  private final MetadataStore store;
  private final DirectoryTimes times;

  private DirectoryTimeWriter(MetadataStore store, DirectoryTimes times) {
    this.store = store;
    this.times = times;
  }

  /**
   * A writer of the times that this process has to write. A process that has just joined a store
   * may be left out of it for some seconds, if the machine is busy with its start.
   *
   * @param store that other processes share
   * @param patience how long it may take until the store answers
   */
  public static DirectoryTimeWriter on(MetadataStore store, Duration patience) throws IOException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      try {
        return on(store);
      } catch (IOException e) {
        if (System.nanoTime() > deadline) {
          throw e;
        }
        LOG.warn("The start waits for the metadata store: {}", e.getMessage());
        pause();
      }
    }
  }

  private static void pause() throws InterruptedIOException {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for the metadata store");
    }
  }

  private static DirectoryTimeWriter on(MetadataStore store) throws IOException {
    return new DirectoryTimeWriter(
        store,
        store.transact(
            0, Durability.RELAXED, transaction -> transaction.hints().orElseThrow().times()));
  }

  /**
   * Writes the times that are due. To be called some times per second.
   *
   * @param goesOn whether to write another one
   */
  public void tick(BooleanSupplier goesOn) {
    write(times.due(), goesOn);
  }

  /**
   * Writes all times, before this process ends.
   *
   * @param goesOn whether there is time for another one; one time takes as long as the store does
   * @return how many times are not written; the log names directories
   */
  public int writeAll(BooleanSupplier goesOn) {
    List<Long> unwritten = write(times.all(), goesOn);
    if (!unwritten.isEmpty()) {
      LOG.warn(
          "This namenode ends without writing the modification times of {} directories: they show"
              + " the time of an earlier change. Their inode ids: {}{}",
          unwritten.size(),
          unwritten.subList(0, Math.min(MOST_NAMED, unwritten.size())),
          unwritten.size() > MOST_NAMED ? " and more" : "");
    }
    return unwritten.size();
  }

  /** Returns the directories whose times are not written. */
  private List<Long> write(Map<Long, Pending> some, BooleanSupplier goesOn) {
    List<Long> unwritten = new ArrayList<>();
    Exception last = null;
    for (Map.Entry<Long, Pending> entry : some.entrySet()) {
      long id = entry.getKey();
      if (!goesOn.getAsBoolean()) {
        unwritten.add(id);
        continue;
      }
      Pending time = entry.getValue();
      try {
        OptimisticTransactions.transact(store, id, transaction -> write(transaction, id, time));
        times.settle(id, time);
      } catch (IOException | RuntimeException e) {
        unwritten.add(id);
        last = e;
      }
    }
    if (last != null) { // once, however many directories wait for a store that is away
      LOG.warn(
          "The times of {} directories are not written yet: {}", unwritten.size(), last.toString());
    }
    return unwritten;
  }

  private Void write(Transaction transaction, long id, Pending time) throws IOException {
    Optional<Key> key = PathResolver.attachedKey(transaction, id);
    if (key.isEmpty()) {
      return null; // the directory was deleted
    }
    transaction.lock(List.of(RowLock.exclusive(Tables.INODE, key.get())));
    Optional<InodeRow> row =
        transaction.get(Tables.INODE, key.get()).filter(found -> found.getId() == id);
    if (row.isPresent() && isNewer(time, row.get())) {
      transaction.put(
          Tables.INODE, key.get(), row.get().toBuilder().setModifiedMillis(time.millis()).build());
    }
    return null;
  }

  /** Not if a client has set the time after the change. */
  private static boolean isNewer(Pending time, InodeRow row) {
    return time.timesSet() == row.getTimesSet() && time.millis() > row.getModifiedMillis();
  }
}
