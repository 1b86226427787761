package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.EmptyDirectory;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PendingDeletions;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.snapshots.SnapshotGuard;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.permission.FsAction;

/**
 * Deletes files and directories: a delete takes effect for clients at once, and {@link
 * PendingDeletionReaper} frees the space later. Thread-safe.
 */
public final class DeleteService {
  private static final int PAGE = 1000;

  private final MetadataStore store;
  private final Clock clock;
  private final Runnable onPendingDeletion;

  /**
   * @param onPendingDeletion called after a delete that leaves rows to the reaper; must not block
   */
  public DeleteService(MetadataStore store, Clock clock, Runnable onPendingDeletion) {
    this.store = store;
    this.clock = clock;
    this.onPendingDeletion = onPendingDeletion;
  }

  /**
   * Deletes the file or directory at a path.
   *
   * @return false if the path does not exist or is the root
   * @throws PathIsNotEmptyDirectoryException if the directory is not empty and recursive is false
   */
  public boolean delete(Caller caller, String src, boolean recursive) throws IOException {
    Outcome outcome =
        EmptyDirectory.inRounds(
            () ->
                OptimisticTransactions.transact(
                    store,
                    Inode.ROOT_ID,
                    transaction -> delete(transaction, caller, src, recursive)),
            Outcome.BEGUN::equals);
    if (outcome == Outcome.PENDING) {
      onPendingDeletion.run();
    }
    return outcome != Outcome.REFUSED;
  }

  private enum Outcome {
    /** See {@link EmptyDirectory}. */
    BEGUN,
    REFUSED,
    REMOVED,
    PENDING
  }

  private Outcome delete(Transaction transaction, Caller caller, String src, boolean recursive)
      throws IOException {
    if (ClientCall.earlierRun(transaction).isPresent()) {
      return Outcome.REMOVED;
    }
    ResolvedPath resolved = PathResolver.resolve(transaction, src);
    PermissionChecker.checkTraverse(caller, resolved);
    PermissionChecker.checkParentWrite(caller, resolved);
    if (!resolved.exists()) {
      return Outcome.REFUSED;
    }
    checkMayDeleteAllBelow(transaction, caller, resolved);
    refuseNonEmpty(transaction, resolved.lastFound(), resolved.path(), recursive);
    if (resolved.path().isRoot()) {
      return Outcome.REFUSED;
    }
    List<Long> snapshottable = List.of();
    Optional<RowLock> guard = SnapshotGuard.lockFor(transaction, resolved.lastFound());
    if (guard.isPresent()) {
      transaction.lock(List.of(guard.get()));
      resolveAgain(transaction, src, resolved);
      snapshottable = SnapshotGuard.refuseWithSnapshots(transaction, resolved);
    }
    List<Inode> locked =
        InodeLocks.lockEntries(
            transaction,
            List.of(resolved.parent().orElseThrow()),
            List.of(resolved.lastFound()),
            List.of());
    Inode removed = locked.get(1);
    SnapshotGuard.requireStillNeedless(transaction, removed, guard);
    refuseNonEmpty(transaction, removed, resolved.path(), recursive);
    if (!recursive
        && removed.isDirectory()
        && EmptyDirectory.mustBeginRemoval(transaction, removed)) {
      return Outcome.BEGUN;
    }
    long now = clock.millis();
    DirectoryRows.touch(transaction, locked.get(0), now);
    snapshottable.forEach(
        id -> transaction.delete(Tables.SNAPSHOT, SnapshotTables.snapshottable(id)));
    boolean pending = PendingDeletions.put(transaction, removed);
    ClientCall.takeEffect(transaction, 0, now);
    return pending ? Outcome.PENDING : Outcome.REMOVED;
  }

  /**
   * Notes the snapshots that may see the path now: the walk below it may have taken minutes, and
   * would begin anew for each snapshot that was created meanwhile.
   */
  private static void resolveAgain(Transaction transaction, String src, ResolvedPath seen)
      throws IOException {
    transaction.snapshots().forget();
    ResolvedPath now = PathResolver.resolve(transaction, src);
    if (!now.exists() || !now.lastFound().isSame(seen.lastFound())) {
      throw new StaleReadException(seen.path() + " was renamed or deleted meanwhile");
    }
  }

  private static void refuseNonEmpty(
      Transaction transaction, Inode inode, FsPath path, boolean recursive) throws IOException {
    if (!recursive && inode.isDirectory() && !DirectoryRows.isEmpty(transaction, inode)) {
      throw new PathIsNotEmptyDirectoryException(path + " is non empty");
    }
  }

  /**
   * A caller needs all rights on every directory below that is not empty, and must own what lies in
   * a directory of another user with the sticky bit, as in HDFS.
   */
  private static void checkMayDeleteAllBelow(
      Transaction transaction, Caller caller, ResolvedPath top) throws IOException {
    if (caller.isSuperuser() || top.lastFound().isFile()) {
      return;
    }
    NonBlocking.beforeWait(); // the tree may be large
    record Below(Inode inode, FsPath path) {}
    Deque<Below> left = new ArrayDeque<>();
    left.push(new Below(top.lastFound(), top.path()));
    while (!left.isEmpty()) {
      Below directory = left.pop();
      Key after = null;
      List<Row<InodeRow>> page;
      do {
        page = transaction.scan(Tables.INODE, directory.inode().id(), after, PAGE);
        if (!page.isEmpty()) {
          PermissionChecker.check(caller, directory.inode(), directory.path(), FsAction.ALL);
          after = page.get(page.size() - 1).key();
        }
        for (Row<InodeRow> row : page) {
          Inode child = new Inode(row.key(), row.value());
          PermissionChecker.checkSticky(
              caller, directory.inode(), directory.path(), child, child.nameText());
          if (child.isDirectory()) {
            left.push(new Below(child, directory.path().child(child.nameText())));
          }
        }
      } while (page.size() == PAGE);
    }
  }
}
