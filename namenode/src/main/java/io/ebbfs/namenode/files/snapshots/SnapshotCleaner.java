package io.ebbfs.namenode.files.snapshots;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PendingDeletions;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Removes rows and blocks that no snapshot shows any more, in small transactions. The rows that are
 * still to be removed are in the store, so a cleaner goes on where another one ended. Only one
 * cleaner works at a time. Inodes that nothing shows become pending deletions.
 */
public final class SnapshotCleaner {
  private static final int PAGE = 64;

  /** So many deleted snapshots share one walk over the trees that were deleted. */
  private static final int SNAPSHOTS = 100;

  private static final long TURN_NANOS = 1_000_000_000;

  private final MetadataStore store;
  private final BooleanSupplier goesOn;
  private long nextTurn;

  /** Other work, which must not wait until a large snapshot is removed. */
  @FunctionalInterface
  public interface Between {
    void run() throws IOException;
  }

  /**
   * @param goesOn whether to do the next step
   */
  public SnapshotCleaner(MetadataStore store, BooleanSupplier goesOn) {
    this.store = store;
    this.goesOn = goesOn;
  }

  private interface Step<R> {
    R run(Transaction transaction) throws IOException;
  }

  private <R> R step(long partition, Step<R> step) throws IOException {
    return OptimisticTransactions.repeat(
        () -> store.transact(partition, Durability.RELAXED, step::run));
  }

  /**
   * Removes what is left of deleted snapshots.
   *
   * @param between run about once a second, and at the end
   */
  public void cleanAll(Between between) throws IOException {
    nextTurn = System.nanoTime();
    while (goesOn.getAsBoolean()) {
      List<Key> deleted =
          step(
                  SnapshotTables.DELETED,
                  transaction ->
                      transaction.scan(Tables.SNAPSHOT, SnapshotTables.DELETED, null, SNAPSHOTS))
              .stream()
              .map(Row::key)
              .toList();
      if (deleted.isEmpty()) {
        return;
      }
      for (Key key : deleted) {
        removeVersions(key.firstLong(), ByteBuffer.wrap(key.rest()).getLong(Long.BYTES), between);
      }
      pruneKept(deleted.stream().map(Key::firstLong).collect(Collectors.toSet()), between);
      between.run();
      if (goesOn.getAsBoolean()) {
        step(
            SnapshotTables.DELETED,
            transaction -> {
              deleted.forEach(key -> transaction.delete(Tables.SNAPSHOT, key));
              return null;
            });
      }
    }
  }

  /** Lets other work have a turn, if it is time; that work gets a fifth of the time at most. */
  private void turn(Between between) throws IOException {
    long begin = System.nanoTime();
    if (begin - nextTurn >= 0) {
      between.run();
      long end = System.nanoTime();
      nextTurn = end + Math.max(TURN_NANOS, 4 * (end - begin));
    }
  }

  // ---- old rows ---------------------------------------------------------------------------------

  /**
   * Removes all rows, page by page. A page begins behind the last one: from the start, the store
   * would step over every row that was removed before. The last pass finds nothing.
   */
  private void removeVersions(long directoryId, long snapshotId, Between between)
      throws IOException {
    Key after = null;
    boolean more = true;
    while (more && goesOn.getAsBoolean()) {
      Key from = after;
      List<Row<VersionRow>> page =
          step(
              directoryId,
              transaction ->
                  transaction.scan(Tables.VERSION, SnapshotTables.index(snapshotId), from, PAGE));
      for (Row<VersionRow> indexed : page) {
        Key entry = SnapshotTables.entryOf(indexed.key());
        step(
            directoryId,
            transaction -> {
              removeVersion(transaction, directoryId, snapshotId, entry);
              return null;
            });
      }
      more = after != null || !page.isEmpty();
      after = page.isEmpty() ? null : page.get(page.size() - 1).key();
      turn(between);
    }
  }

  /**
   * Keeps the old row for an earlier snapshot that it holds for, or removes it. Two namenodes may
   * do so at once, while the lead changes. So the commit looks at the old row again, under its
   * lock.
   */
  private static void removeVersion(
      Transaction transaction, long directoryId, long snapshotId, Key entry) throws IOException {
    transaction.lock(List.of(RowLock.shared(Tables.SETTING, SnapshotTables.LOCK)));
    Key key = SnapshotTables.version(entry.partition(), entry.rest(), snapshotId);
    Optional<VersionRow> version = transaction.get(Tables.VERSION, key);
    Optional<Long> earlier =
        version.isEmpty()
            ? Optional.empty()
            : SnapshotTables.newest(
                transaction, directoryId, version.get().getAfter(), snapshotId - 1);
    boolean goes = version.isPresent() && earlier.isEmpty();
    Optional<Inode> inode =
        goes ? locked(transaction, version.get().getInode().getId()) : Optional.empty();
    transaction.snapshots().noteVersion(key, version);
    SnapshotTables.deleteVersion(transaction, entry, snapshotId);
    if (earlier.isPresent()) {
      SnapshotTables.putVersion(transaction, entry, earlier.get(), version.get());
    }
    inode.ifPresent(found -> release(transaction, found));
  }

  /** The inode of an old row, locked; nothing for an empty file, of which no row is kept. */
  private static Optional<Inode> locked(Transaction transaction, long inodeId) throws IOException {
    Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, Tables.inodeName(inodeId));
    if (name.isEmpty()) {
      return Optional.empty();
    }
    Key key = Tables.inode(name.get().getParentId(), name.get().getName().toByteArray());
    Optional<Inode> found =
        transaction
            .get(Tables.INODE, key)
            .map(row -> new Inode(key, row))
            .filter(inode -> inode.id() == inodeId);
    if (found.isEmpty()) {
      throw new StaleReadException("inode " + inodeId + " moved");
    }
    return Optional.of(InodeLocks.lockToRemove(transaction, found.get()));
  }

  /** Lets an inode have one old row less. */
  private static void release(Transaction transaction, Inode inode) {
    InodeRow row =
        inode.row().toBuilder().setVersions(Math.max(0, inode.row().getVersions() - 1)).build();
    if (row.getVersions() == 0 && inode.key().partition() == Tables.KEPT_BY_SNAPSHOTS) {
      PendingDeletions.put(transaction, inode.with(row));
    } else {
      transaction.put(Tables.INODE, inode.key(), row);
    }
  }

  // ---- trees that were deleted ------------------------------------------------------------------

  /** Prunes the trees that snapshots of some directories may see. */
  private void pruneKept(Set<Long> directoryIds, Between between) throws IOException {
    Key after = null;
    List<Row<InodeRow>> page;
    do {
      Key from = after;
      page =
          step(
              Tables.KEPT_BY_SNAPSHOTS,
              transaction -> transaction.scan(Tables.INODE, Tables.KEPT_BY_SNAPSHOTS, from, PAGE));
      for (Row<InodeRow> row : page) {
        after = row.key();
        boolean concerned =
            row.value().getSnapshotSpansList().stream()
                .anyMatch(span -> directoryIds.contains(span.getDirectoryId()));
        Inode inode = new Inode(row.key(), row.value());
        if (concerned && inode.isDirectory()) {
          prune(inode);
          turn(between);
        }
      }
      turn(between);
    } while (page.size() == PAGE && goesOn.getAsBoolean());
  }

  private record Below(Inode directory, List<SnapshotSpanProto> spans) {}

  /**
   * Makes pending deletions of the entries below a deleted directory that no snapshot shows at
   * their places.
   *
   * @return whether all entries were looked at
   */
  private boolean prune(Inode top) throws IOException {
    Deque<Below> left = new ArrayDeque<>();
    left.push(new Below(top, top.row().getSnapshotSpansList()));
    while (!left.isEmpty() && goesOn.getAsBoolean()) {
      Below below = left.pop();
      Key after = null;
      List<Row<InodeRow>> page;
      do {
        Key from = after;
        long id = below.directory().id();
        page = step(id, transaction -> transaction.scan(Tables.INODE, id, from, PAGE));
        for (Row<InodeRow> row : page) {
          after = row.key();
          Inode entry = new Inode(row.key(), row.value());
          boolean isShown = step(id, transaction -> isShown(transaction, entry, below.spans()));
          if (isShown && entry.isDirectory()) {
            left.push(
                new Below(
                    entry,
                    SnapshotTables.merged(below.spans(), entry.row().getSnapshotSpansList())));
          }
        }
        if (!goesOn.getAsBoolean()) {
          return false;
        }
      } while (page.size() == PAGE);
    }
    return left.isEmpty();
  }

  /** Whether a snapshot shows an entry at its place; if not, it becomes a pending deletion. */
  private static boolean isShown(
      Transaction transaction, Inode entry, List<SnapshotSpanProto> spans) throws IOException {
    if (SnapshotTables.isSeen(transaction, entry.row(), spans)) {
      return true;
    }
    Inode locked = InodeLocks.lockToRemove(transaction, entry);
    PendingDeletions.put(transaction, locked.with(SnapshotTables.with(locked.row(), spans)));
    return false;
  }

  /** Moves a pending deletion that snapshots show to a place where nothing removes it. */
  public void keep(Inode deleted) throws IOException {
    if (deleted.isDirectory() && !prune(deleted)) {
      return; // nobody would look at the rest: the next reaper begins anew
    }
    step(
        deleted.id(),
        transaction -> {
          Inode locked = InodeLocks.lockToRemove(transaction, deleted);
          if (locked.row().getVersions() > 0) {
            PendingDeletions.keep(transaction, locked);
          }
          return null;
        });
  }
}
