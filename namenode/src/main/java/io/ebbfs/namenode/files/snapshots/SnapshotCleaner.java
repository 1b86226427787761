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
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Removes what no snapshot shows any more, in small transactions. What is left to do is in the
 * store, so a cleaner goes on where another one ended. Only one cleaner works at a time. Inodes
 * that nothing shows become pending deletions.
 */
public final class SnapshotCleaner {
  private static final int PAGE = 64;

  private final MetadataStore store;
  private final BooleanSupplier goesOn;

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

  /** Removes what is left of deleted snapshots. */
  public void cleanAll() throws IOException {
    while (goesOn.getAsBoolean()) {
      List<Row<SnapshotRow>> deleted =
          step(
              SnapshotTables.DELETED,
              transaction -> transaction.scan(Tables.SNAPSHOT, SnapshotTables.DELETED, null, 1));
      if (deleted.isEmpty()) {
        return;
      }
      Key key = deleted.get(0).key();
      long directoryId = key.firstLong();
      long snapshotId = ByteBuffer.wrap(key.rest()).getLong(Long.BYTES);
      removeVersions(directoryId, snapshotId);
      pruneKept(directoryId);
      if (goesOn.getAsBoolean()) {
        step(
            SnapshotTables.DELETED,
            transaction -> {
              transaction.delete(Tables.SNAPSHOT, key);
              return null;
            });
      }
    }
  }

  // ---- old rows ---------------------------------------------------------------------------------

  private void removeVersions(long directoryId, long snapshotId) throws IOException {
    boolean more = true;
    while (more && goesOn.getAsBoolean()) {
      List<Row<VersionRow>> page =
          step(
              directoryId,
              transaction ->
                  transaction.scan(Tables.VERSION, SnapshotTables.index(snapshotId), null, PAGE));
      for (Row<VersionRow> indexed : page) {
        Key entry = SnapshotTables.entryOf(indexed.key());
        step(
            directoryId,
            transaction -> {
              removeVersion(transaction, directoryId, snapshotId, entry);
              return null;
            });
      }
      more = !page.isEmpty();
    }
  }

  /** Keeps the old row for an earlier snapshot that it holds for, or removes it. */
  private static void removeVersion(
      Transaction transaction, long directoryId, long snapshotId, Key entry) throws IOException {
    transaction.lock(List.of(RowLock.shared(Tables.SETTING, SnapshotTables.LOCK)));
    Optional<VersionRow> version =
        transaction.get(
            Tables.VERSION, SnapshotTables.version(entry.partition(), entry.rest(), snapshotId));
    if (version.isEmpty()) {
      SnapshotTables.deleteVersion(transaction, entry, snapshotId);
      return;
    }
    Optional<Long> earlier =
        SnapshotTables.newest(transaction, directoryId, version.get().getAfter(), snapshotId - 1);
    if (earlier.isPresent()) {
      SnapshotTables.deleteVersion(transaction, entry, snapshotId);
      SnapshotTables.putVersion(transaction, entry, earlier.get(), version.get());
      return;
    }
    release(transaction, version.get().getInode().getId());
    SnapshotTables.deleteVersion(transaction, entry, snapshotId);
  }

  /** Lets an inode have one old row less. */
  private static void release(Transaction transaction, long inodeId) throws IOException {
    Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, Tables.inodeName(inodeId));
    if (name.isEmpty()) {
      return; // an empty file, of which no row is kept
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
    Inode inode = InodeLocks.lockToRemove(transaction, found.get());
    InodeRow row =
        inode.row().toBuilder().setVersions(Math.max(0, inode.row().getVersions() - 1)).build();
    if (row.getVersions() == 0 && key.partition() == Tables.KEPT_BY_SNAPSHOTS) {
      PendingDeletions.put(transaction, inode.with(row));
    } else {
      transaction.put(Tables.INODE, key, row);
    }
  }

  // ---- trees that were deleted ------------------------------------------------------------------

  private void pruneKept(long directoryId) throws IOException {
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
                .anyMatch(span -> span.getDirectoryId() == directoryId);
        Inode inode = new Inode(row.key(), row.value());
        if (concerned && inode.isDirectory()) {
          prune(inode);
        }
      }
    } while (page.size() == PAGE && goesOn.getAsBoolean());
  }

  private record Below(Inode directory, List<SnapshotSpanProto> spans) {}

  /**
   * Makes pending deletions of the entries below a deleted directory that no snapshot shows at
   * their places.
   */
  public void prune(Inode top) throws IOException {
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
      } while (page.size() == PAGE && goesOn.getAsBoolean());
    }
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
    if (deleted.isDirectory()) {
      prune(deleted);
    }
    step(
        deleted.id(),
        transaction -> {
          PendingDeletions.keep(transaction, InodeLocks.lockToRemove(transaction, deleted));
          return null;
        });
  }
}
