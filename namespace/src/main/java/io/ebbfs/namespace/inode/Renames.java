package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.hdfs.DFSUtil;

/**
 * Both forms of rename. A rename changes a handful of rows, however large the tree. Thread-safe.
 *
 * <p>A directory that goes to another parent could become its own ancestor if two such renames ran
 * at once, so these take turns: they lock one row, and look at the ancestors under that lock.
 */
public final class Renames {
  private static final RowLock DIRECTORY_MOVES =
      RowLock.exclusive(Tables.SETTING, Tables.named("directoryMoves"));

  private final MetadataStore store;
  private final Clock clock;
  private final Limits limits;
  private final Runnable onTrash;

  /**
   * @param onTrash called after something was put into the trash; must not block
   */
  public Renames(MetadataStore store, Clock clock, Limits limits, Runnable onTrash) {
    this.store = store;
    this.clock = clock;
    this.limits = limits;
    this.onTrash = onTrash;
  }

  /**
   * The old form: into the destination if that is a directory; what cannot be done is answered with
   * false.
   */
  public boolean rename(Caller caller, String src, String dst) throws IOException {
    refuseInvalid(dst);
    return Retrying.transact(
        store, Inode.ROOT_ID, transaction -> rename(transaction, caller, src, dst));
  }

  private boolean rename(Transaction transaction, Caller caller, String src, String dst)
      throws IOException {
    ResolvedPath from = Namespace.resolve(transaction, src);
    Permissions.checkTraverse(caller, from);
    ResolvedPath named = Namespace.resolve(transaction, dst);
    Permissions.checkTraverseToCreate(caller, named);
    Permissions.checkParentWrite(caller, from);
    ResolvedPath to = intoDirectory(transaction, from, named);
    Permissions.checkAncestorWrite(caller, to);
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
    Directories.checkNames(to, limits);
    return move(transaction, from, to, false) == Outcome.MOVED;
  }

  private static ResolvedPath intoDirectory(
      Transaction transaction, ResolvedPath from, ResolvedPath named) throws IOException {
    boolean into = named.last().filter(Inode::isDirectory).isPresent() && !from.path().isRoot();
    return into
        ? PathResolver.resolve(transaction, named.path().child(from.path().lastName()))
        : named;
  }

  /**
   * The new form: the destination is the new path itself; an existing one is replaced if asked for.
   */
  public void rename2(Caller caller, String src, String dst, boolean overwrite) throws IOException {
    refuseInvalid(dst);
    Retrying.transact(
        store,
        Inode.ROOT_ID,
        transaction -> {
          rename2(transaction, caller, src, dst, overwrite);
          return null;
        });
    onTrash.run();
  }

  private void rename2(
      Transaction transaction, Caller caller, String src, String dst, boolean overwrite)
      throws IOException {
    ResolvedPath from = Namespace.resolve(transaction, src);
    Permissions.checkTraverse(caller, from);
    ResolvedPath to = Namespace.resolve(transaction, dst);
    Permissions.checkTraverseToCreate(caller, to);
    Permissions.checkParentWrite(caller, from);
    Permissions.checkAncestorWrite(caller, to);
    refuseImpossible(from, to);
    if (to.exists()) {
      refuseReplacing(transaction, from, to, overwrite);
    } else {
      Directories.checkNames(to, limits);
    }
    refuseBadParent(to);
    if (move(transaction, from, to, overwrite) == Outcome.CYCLE) {
      throw underSource(from, to);
    }
  }

  private static void refuseInvalid(String dst) throws IOException {
    if (!DFSUtil.isValidName(dst)) {
      throw new IOException("Invalid name: " + dst);
    }
  }

  private static void refuseImpossible(ResolvedPath from, ResolvedPath to) throws IOException {
    if (!from.exists()) {
      throw new FileNotFoundException("rename source " + from.path() + " is not found.");
    }
    if (from.path().isRoot()) {
      throw new IOException("rename source cannot be the root");
    }
    if (from.path().equals(to.path())) {
      throw new FileAlreadyExistsException(
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
      throw new FileAlreadyExistsException("rename destination " + to.path() + " already exists");
    }
    refuseNonEmpty(transaction, replaced, to.path());
  }

  private static void refuseNonEmpty(Transaction transaction, Inode replaced, FsPath path)
      throws IOException {
    if (replaced.isDirectory() && !Directories.isEmpty(transaction, replaced)) {
      throw new IOException("rename destination directory is not empty: " + path);
    }
  }

  private static void refuseBadParent(ResolvedPath to) throws IOException {
    Optional<Inode> parent = to.parent();
    if (parent.isEmpty()) {
      throw new FileNotFoundException("rename destination parent " + to.path() + " not found.");
    }
    if (!parent.get().isDirectory()) {
      throw new ParentNotDirectoryException(
          "rename destination parent " + to.path() + " is a file.");
    }
  }

  private enum Outcome {
    MOVED,
    CYCLE
  }

  private Outcome move(Transaction transaction, ResolvedPath from, ResolvedPath to, boolean replace)
      throws IOException {
    Inode moved = from.lastFound();
    Inode oldParent = from.parent().orElseThrow();
    Inode newParent = to.parent().orElseThrow();
    boolean toOtherParent = !oldParent.isSame(newParent);
    if (moved.isDirectory() && toOtherParent) {
      transaction.lock(List.of(DIRECTORY_MOVES));
      if (PathResolver.isWithin(transaction, newParent.id(), moved.id())) {
        return Outcome.CYCLE;
      }
    }
    Key target = Tables.inode(newParent.id(), to.path().nameBytes(to.path().depth()));
    List<Inode> locked = lock(transaction, moved, oldParent, newParent, to, target);
    if (to.exists() && replace) {
      Inode replaced = locked.get(3);
      refuseNonEmpty(transaction, replaced, to.path());
      Trash.put(transaction, replaced);
    }
    transaction.delete(Tables.INODE, moved.key());
    Directories.put(transaction, target, locked.get(0).row());
    long now = clock.millis();
    Directories.touch(transaction, locked.get(1), now);
    if (toOtherParent) {
      Directories.touch(transaction, locked.get(2), now);
    }
    return Outcome.MOVED;
  }

  private static List<Inode> lock(
      Transaction transaction,
      Inode moved,
      Inode oldParent,
      Inode newParent,
      ResolvedPath to,
      Key target)
      throws IOException {
    List<Inode> inodes = new ArrayList<>(List.of(moved, oldParent, newParent));
    to.last().ifPresent(inodes::add);
    return InodeLocks.lock(transaction, inodes, to.exists() ? List.of() : List.of(target));
  }
}
