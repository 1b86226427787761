package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.EmptyDirectory;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PendingDeletions;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.snapshots.SnapshotGuard;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.hdfs.DFSUtil;

/**
 * Renames files and directories, in both forms of HDFS. A rename changes a handful of rows, however
 * large the tree is. A directory that moves between trees with quotas is counted first.
 * Thread-safe.
 *
 * <p>Two renames at once could make a directory its own ancestor: example, /a to /b/a and /b to
 * /a/b. So renames that give a directory another parent take turns: each locks one common row and
 * checks the ancestors under that lock.
 */
public final class RenameService {
  private static final RowLock DIRECTORY_MOVES =
      RowLock.exclusive(Tables.SETTING, Tables.named("directoryMoves"));

  private static final int OLD_PARENT = 0;
  private static final int NEW_PARENT = 1;
  private static final int MOVED = 2;
  private static final int REPLACED = 3;

  private final MetadataStore store;
  private final Clock clock;
  private final NamespaceLimits limits;
  private final Runnable onPendingDeletion;
  private final TreeCounter counter;

  /**
   * @param counter counts directories that move between trees with quotas
   * @param onPendingDeletion called after a rename that leaves rows to the reaper; must not block
   */
  public RenameService(
      MetadataStore store,
      Clock clock,
      NamespaceLimits limits,
      TreeCounter counter,
      Runnable onPendingDeletion) {
    this.store = store;
    this.clock = clock;
    this.limits = limits;
    this.onPendingDeletion = onPendingDeletion;
    this.counter = counter;
  }

  /**
   * The old form of rename. If the destination is a directory, the source moves into it.
   *
   * @return false if the rename is not possible
   */
  public boolean rename(Caller caller, String src, String dst) throws IOException {
    refuseInvalid(dst);
    return counter.countingFirst(
        () ->
            OptimisticTransactions.transact(
                store, Inode.ROOT_ID, transaction -> rename(transaction, caller, src, dst)));
  }

  private boolean rename(Transaction transaction, Caller caller, String src, String dst)
      throws IOException {
    if (ClientCall.earlierRun(transaction).isPresent()) {
      return true;
    }
    ResolvedPath from = PathResolver.resolve(transaction, src);
    PermissionChecker.checkTraverse(caller, from);
    ResolvedPath named = PathResolver.resolve(transaction, dst, from);
    PermissionChecker.checkTraverseToCreate(caller, named);
    PermissionChecker.checkParentWrite(caller, from);
    ResolvedPath to = intoDirectory(transaction, from, named);
    PermissionChecker.checkAncestorWrite(caller, to);
    if (!from.exists() || from.path().isRoot()) {
      return false;
    }
    if (from.path().equals(to.path())) {
      return true;
    }
    boolean possible =
        !from.path().isAbove(to.path())
            && !to.exists()
            && to.parent().filter(Inode::isDirectory).isPresent();
    if (!possible) {
      return false;
    }
    limits.checkNames(to);
    return move(transaction, from, to, false) == Outcome.MOVED;
  }

  private static ResolvedPath intoDirectory(
      Transaction transaction, ResolvedPath from, ResolvedPath named) throws IOException {
    boolean into = named.last().filter(Inode::isDirectory).isPresent() && !from.path().isRoot();
    return into
        ? PathResolver.resolve(
            transaction, named.path().child(from.path().lastName()).toString(), named)
        : named;
  }

  /** The new form of rename: the destination is the new path itself. */
  public void rename2(Caller caller, String src, String dst, boolean overwrite) throws IOException {
    refuseInvalid(dst);
    Outcome outcome =
        EmptyDirectory.inRounds(
            () ->
                counter.countingFirst(
                    () ->
                        OptimisticTransactions.transact(
                            store,
                            Inode.ROOT_ID,
                            transaction -> rename2(transaction, caller, src, dst, overwrite))),
            Outcome.BEGUN::equals);
    if (outcome == Outcome.REPLACED) {
      onPendingDeletion.run();
    }
  }

  private Outcome rename2(
      Transaction transaction, Caller caller, String src, String dst, boolean overwrite)
      throws IOException {
    if (ClientCall.earlierRun(transaction).isPresent()) {
      return Outcome.MOVED;
    }
    ResolvedPath from = PathResolver.resolve(transaction, src);
    PermissionChecker.checkTraverse(caller, from);
    ResolvedPath to = PathResolver.resolve(transaction, dst, from);
    PermissionChecker.checkTraverseToCreate(caller, to);
    PermissionChecker.checkParentWrite(caller, from);
    PermissionChecker.checkAncestorWrite(caller, to);
    refuseImpossible(from, to);
    if (to.exists()) {
      refuseReplacing(transaction, from, to, overwrite);
    } else {
      limits.checkNames(to);
    }
    refuseBadParent(to);
    Outcome outcome = move(transaction, from, to, overwrite);
    if (outcome == Outcome.CYCLE) {
      throw underSource(from, to);
    }
    return outcome;
  }

  private static void refuseInvalid(String dst) throws IOException {
    if (!DFSUtil.isValidName(dst)) {
      throw new IOException("Invalid name: " + dst);
    }
  }

  private static void refuseImpossible(ResolvedPath from, ResolvedPath to) throws IOException {
    if (!from.exists()) {
      throw PathErrors.notFound("rename source " + from.path() + " is not found.");
    }
    if (from.path().isRoot()) {
      throw new IOException("rename source cannot be the root");
    }
    if (from.path().equals(to.path())) {
      throw PathErrors.alreadyExists(
          "The source " + from.path() + " and destination " + to.path() + " are the same");
    }
    if (from.path().isAbove(to.path())) {
      throw underSource(from, to);
    }
    if (to.path().isRoot()) {
      throw new IOException("rename destination cannot be the root");
    }
  }

  private static IOException underSource(ResolvedPath from, ResolvedPath to) {
    return new IOException(
        "Rename destination " + to.path() + " is a directory or file under source " + from.path());
  }

  private static void refuseReplacing(
      Transaction transaction, ResolvedPath from, ResolvedPath to, boolean overwrite)
      throws IOException {
    Inode replaced = to.lastFound();
    if (replaced.isDirectory() != from.lastFound().isDirectory()) {
      throw new IOException(
          "Source " + from.path() + " and destination " + to.path() + " must both be directories");
    }
    if (!overwrite) {
      throw PathErrors.alreadyExists("rename destination " + to.path() + " already exists");
    }
    refuseNonEmpty(transaction, replaced, to.path());
  }

  private static void refuseNonEmpty(Transaction transaction, Inode replaced, FsPath path)
      throws IOException {
    if (replaced.isDirectory() && !DirectoryRows.isEmpty(transaction, replaced)) {
      throw new IOException("rename destination directory is not empty: " + path);
    }
  }

  private static void refuseBadParent(ResolvedPath to) throws IOException {
    Optional<Inode> parent = to.parent();
    if (parent.isEmpty()) {
      throw PathErrors.notFound("rename destination parent " + to.path() + " not found.");
    }
    if (!parent.get().isDirectory()) {
      throw new ParentNotDirectoryException(
          "rename destination parent " + to.path() + " is a file.");
    }
  }

  private enum Outcome {
    /** A directory is replaced: see {@link EmptyDirectory}. */
    BEGUN,
    MOVED,
    /** Moved, and the reaper has to remove what was replaced. */
    REPLACED,
    CYCLE
  }

  private Outcome move(Transaction transaction, ResolvedPath from, ResolvedPath to, boolean replace)
      throws IOException {
    Inode moved = from.lastFound();
    Inode oldParent = from.parent().orElseThrow();
    Inode newParent = to.parent().orElseThrow();
    boolean toOtherParent = !oldParent.isSame(newParent);
    Optional<RowLock> guard = SnapshotGuard.lockFor(transaction, moved);
    List<RowLock> first = new ArrayList<>(guard.stream().toList());
    if (moved.isDirectory() && toOtherParent) {
      first.add(DIRECTORY_MOVES);
    }
    if (!first.isEmpty()) {
      transaction.lock(first);
    }
    if (guard.isPresent()) {
      protectSnapshots(transaction, from, to);
    }
    if (moved.isDirectory() && toOtherParent) {
      if (PathResolver.isWithin(transaction, newParent.id(), moved.id())) {
        return Outcome.CYCLE;
      }
    }
    Key target = Tables.inode(newParent.id(), to.path().nameBytes(to.path().depth()));
    List<Inode> locked = lock(transaction, moved, oldParent, newParent, to, target);
    SnapshotGuard.requireStillNeedless(transaction, moved, guard);
    Outcome outcome = Outcome.MOVED;
    if (to.exists() && replace) {
      Inode replaced = locked.get(REPLACED);
      refuseNonEmpty(transaction, replaced, to.path());
      if (replaced.isDirectory() && EmptyDirectory.mustBeginRemoval(transaction, replaced)) {
        return Outcome.BEGUN;
      }
      outcome = PendingDeletions.put(transaction, replaced) ? Outcome.REPLACED : Outcome.MOVED;
    }
    transaction.delete(Tables.INODE, moved.key());
    DirectoryRows.put(
        transaction,
        target,
        SnapshotTables.with(
            QuotaMarks.moved(transaction, locked.get(MOVED), locked.get(NEW_PARENT).row()),
            transaction.snapshots().of(oldParent.id())));
    long now = clock.millis();
    DirectoryRows.touch(transaction, locked.get(OLD_PARENT), now);
    if (toOtherParent) {
      DirectoryRows.touch(transaction, locked.get(NEW_PARENT), now);
    }
    ClientCall.takeEffect(transaction, 0, now);
    return outcome;
  }

  private static void protectSnapshots(Transaction transaction, ResolvedPath from, ResolvedPath to)
      throws IOException {
    SnapshotGuard.refuseNested(SnapshotGuard.refuseWithSnapshots(transaction, from), from, to);
    if (to.exists() && to.lastFound().isDirectory()) {
      SnapshotGuard.refuseWithSnapshots(transaction, to)
          .forEach(id -> transaction.delete(Tables.SNAPSHOT, SnapshotTables.snapshottable(id)));
    }
  }

  /** The inodes in the order of the constants above; the last one if something is replaced. */
  private static List<Inode> lock(
      Transaction transaction,
      Inode moved,
      Inode oldParent,
      Inode newParent,
      ResolvedPath to,
      Key target)
      throws IOException {
    List<Inode> inodes = new ArrayList<>(List.of(moved));
    to.last().ifPresent(inodes::add);
    return InodeLocks.lockEntries(
        transaction,
        List.of(oldParent, newParent),
        inodes,
        to.exists() ? List.of() : List.of(target));
  }
}
