package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.EmptyDirectory;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PendingDeletions;
import io.ebbfs.namenode.files.snapshots.SnapshotCleaner;
import io.ebbfs.namenode.replicas.BlockRemover;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.replicas.StripeService;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees what deletes have moved to the pending deletions: removes the rows of inodes and blocks, in
 * small transactions, and has the replicas deleted. Before it removes what is in a directory, it
 * moves the directory itself to the pending deletions. Then a rename that found its path before the
 * delete, and is late, finds the directory at its place no more. All its work is found in the
 * store, so the reaper goes on after a restart. Its transactions need no sync, because a lost
 * transaction is done again.
 */
public final class PendingDeletionReaper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PendingDeletionReaper.class);
  private static final int PAGE = 64;
  private static final long RETRY_MILLIS = 5_000;

  /** A pass waits this long for more deletions: one transaction removes the rows of many files. */
  private static final long GATHER_MILLIS = 50;

  private final MetadataStore store;
  private final BlockService blocks;
  private final BlockRemover remover;
  private final SnapshotCleaner snapshots;
  private final Semaphore wake = new Semaphore(1);
  private final Thread thread = new Thread(this::run, "reaper");
  private final CountDownLatch gather = new CountDownLatch(1); // open once the reaper is closed
  private volatile boolean closed;

  public PendingDeletionReaper(MetadataStore store, BlockService blocks, StripeService stripes) {
    this.store = store;
    this.blocks = blocks;
    this.remover = new BlockRemover(blocks, stripes);
    this.snapshots = new SnapshotCleaner(store, () -> !closed);
  }

  public void start() {
    thread.setDaemon(true);
    thread.start();
  }

  /** Wakes the reaper, because there is a new pending deletion. */
  public void wake() {
    wake.drainPermits();
    wake.release();
  }

  @Override
  public void close() {
    closed = true;
    gather.countDown();
    wake();
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!closed) {
      try {
        boolean failed = !reapQuietly();
        wake.tryAcquire(failed ? RETRY_MILLIS : Long.MAX_VALUE, TimeUnit.MILLISECONDS);
        gather.await(GATHER_MILLIS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private boolean reapQuietly() {
    try {
      reapAll();
      return true;
    } catch (IOException | RuntimeException e) {
      LOG.warn("The rows of deleted files could not be removed; the reaper tries again soon", e);
      return false;
    }
  }

  /** Removes the rows of all present pending deletions. */
  public void reapAll() throws IOException {
    // Whatever becomes of old rows, the room of deleted files is freed.
    reapBelow(Inode.PENDING_DELETION_ID);
    snapshots.cleanAll(() -> reapBelow(Inode.PENDING_DELETION_ID));
  }

  private void reapBelow(long directoryId) throws IOException {
    while (!closed && reapOnce(directoryId)) {
      // Something may have been added before the place that the pass had reached.
    }
  }

  /**
   * Reaps the entries of a directory, page by page. A page begins behind the last one: from the
   * start of the directory, the store would step over every row that was deleted before.
   *
   * @return whether there was an entry
   */
  private boolean reapOnce(long directoryId) throws IOException {
    List<Inode> page = page(directoryId, null);
    boolean found = !page.isEmpty();
    while (!page.isEmpty() && !closed) {
      for (Inode shown : page.stream().filter(PendingDeletionReaper::isShown).toList()) {
        snapshots.keep(shown);
      }
      List<Inode> removed = page.stream().filter(inode -> !isShown(inode)).toList();
      reapFiles(removed.stream().filter(Inode::isFile).toList());
      for (Inode directory : removed.stream().filter(Inode::isDirectory).toList()) {
        if (directoryId == Inode.PENDING_DELETION_ID) {
          reapBelow(directory.id());
          reapDirectory(directory);
        } else {
          detach(directory);
        }
      }
      page = page(directoryId, page.get(page.size() - 1).key());
    }
    return found;
  }

  /**
   * Entries of a directory in the order of their names. They are read past the cache of rows:
   * nobody reads them again.
   */
  private List<Inode> page(long directoryId, Key after) throws IOException {
    return store
        .transactInBackground(
            directoryId, transaction -> transaction.scan(Tables.INODE, directoryId, after, PAGE))
        .stream()
        .map(row -> new Inode(row.key(), row.value()))
        .toList();
  }

  /** Whether a snapshot shows an old row of an inode, so that the inode must not be removed. */
  private static boolean isShown(Inode inode) {
    return inode.row().getVersions() > 0;
  }

  private static void requireNotShown(Inode locked) throws StaleReadException {
    if (isShown(locked)) {
      throw new StaleReadException("inode " + locked.id() + " was kept for a snapshot meanwhile");
    }
  }

  /** Moves a directory to the pending deletions, where a later page of them finds it. */
  private void detach(Inode directory) throws IOException {
    try {
      store.transact(
          directory.id(),
          Durability.RELAXED,
          transaction ->
              PendingDeletions.put(transaction, InodeLocks.lockToRemove(transaction, directory)));
    } catch (StaleReadException e) {
      LOG.debug("directory {} has left the tree that is deleted", directory.id(), e);
    }
  }

  private void reapDirectory(Inode directory) throws IOException {
    EmptyDirectory.inRounds(
        () ->
            OptimisticTransactions.repeat(
                () ->
                    store.transact(
                        directory.id(),
                        Durability.RELAXED,
                        transaction -> reapDirectory(transaction, directory))),
        begun -> begun);
  }

  /** Removes a directory unless something is in it; true to be called again. */
  private static boolean reapDirectory(Transaction transaction, Inode directory)
      throws IOException {
    Inode locked = InodeLocks.lockToRemove(transaction, directory);
    if (!DirectoryRows.isEmpty(transaction, locked)) {
      return false;
    }
    if (EmptyDirectory.mustBeginRemoval(transaction, locked)) {
      return true;
    }
    requireNotShown(locked);
    PendingDeletions.remove(transaction, locked);
    return false;
  }

  private void reapFiles(List<Inode> files) throws IOException {
    List<Inode> left = files;
    while (!left.isEmpty() && !closed) {
      List<Inode> batch = left;
      Reaped reaped =
          OptimisticTransactions.repeat(
              () ->
                  store.transactInBackground(
                      batch.get(0).id(), transaction -> reap(transaction, batch)));
      blocks.invalidate(reaped.invalidations());
      left = left.subList(reaped.files(), left.size());
    }
  }

  /**
   * @param files the number of files whose rows are all removed, counted from the first
   */
  private record Reaped(int files, List<Invalidation> invalidations) {}

  private Reaped reap(Transaction transaction, List<Inode> files) throws IOException {
    List<Inode> locked = InodeLocks.lock(transaction, files);
    List<Row<BlockRow>> owned = new ArrayList<>();
    int whole = 0;
    for (Inode file : locked) {
      requireNotShown(file);
      if (file.row().getBlocks() == 0) {
        whole++;
        continue;
      }
      int room = BlockRemover.room(owned);
      List<Row<BlockRow>> rows = transaction.scan(Tables.BLOCK, file.id(), null, room + 1);
      if (room > 0 && rows.stream().map(Row::value).anyMatch(GroupRows::isGroup)) {
        room = Math.max(1, room / BlockGroupLayout.IDS_OF_GROUP);
      }
      rows.stream().limit(room).forEach(owned::add);
      if (rows.size() > room) {
        break;
      }
      if (transaction.isShared() && !hasNewest(rows, file)) {
        // The newest row is part of a commit of which only the file is seen.
        throw new StaleReadException(
            "the last block row of file %d is missing: the metadata store is damaged"
                .formatted(file.id()));
      }
      whole++;
    }
    remover.lockStripes(transaction, owned);
    List<Invalidation> invalidations = remover.remove(transaction, owned);
    locked.subList(0, whole).forEach(file -> PendingDeletions.remove(transaction, file));
    return new Reaped(whole, invalidations);
  }

  /** Whether the rows end with that of the last block. Rows are removed from the first one on. */
  private static boolean hasNewest(List<Row<BlockRow>> rows, Inode file) {
    return !rows.isEmpty()
        && rows.get(rows.size() - 1).key().firstLong() == file.row().getBlocks() - 1;
  }
}
