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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the modification times of directories that changed more often than once per second; see
 * {@link DirectoryTimes}. A time never goes back by this, and a time that a client has set after a
 * change stays, whichever namenodes the change and the client used. Used by one thread.
 */
public final class DirectoryTimeWriter {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryTimeWriter.class);

  private final MetadataStore store;
  private final DirectoryTimes times;

  private DirectoryTimeWriter(MetadataStore store, DirectoryTimes times) {
    this.store = store;
    this.times = times;
  }

  /**
   * A writer of the times that this process has to write.
   *
   * @param store that other processes share
   */
  public static DirectoryTimeWriter on(MetadataStore store) throws IOException {
    return new DirectoryTimeWriter(
        store,
        store.transact(
            0, Durability.RELAXED, transaction -> transaction.hints().orElseThrow().times()));
  }

  /** Writes the times that are due. To be called some times per second. */
  public void tick() {
    write(times.due());
  }

  /** Writes all times, before this process ends. */
  public void writeAll() {
    write(times.all());
  }

  private void write(Map<Long, Pending> some) {
    int failed = 0;
    Exception last = null;
    for (Map.Entry<Long, Pending> entry : some.entrySet()) {
      long id = entry.getKey();
      Pending time = entry.getValue();
      try {
        OptimisticTransactions.transact(store, id, transaction -> write(transaction, id, time));
        times.settle(id, time);
      } catch (IOException | RuntimeException e) {
        failed++;
        last = e;
      }
    }
    if (failed > 0) { // once, however many directories wait for a store that is away
      LOG.warn("The times of {} directories are not written yet: {}", failed, last.toString());
    }
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
