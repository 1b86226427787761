package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.permission.FsAction;

/** Deletes files and directories as clients see it; their rows go later. Thread-safe. */
public final class Deletions {
  private static final int PAGE = 1000;

  private final MetadataStore store;
  private final Clock clock;
  private final Runnable onTrash;

  /**
   * @param onTrash called after something was put into the trash; must not block
   */
  public Deletions(MetadataStore store, Clock clock, Runnable onTrash) {
    this.store = store;
    this.clock = clock;
    this.onTrash = onTrash;
  }

  /**
   * Deletes what is at a path, at once for all clients.
   *
   * @return false if nothing was there, or it is the root
   * @throws PathIsNotEmptyDirectoryException if it is not empty and recursive is not set
   */
  public boolean delete(Caller caller, String src, boolean recursive) throws IOException {
    boolean deleted =
        Retrying.transact(
            store, Inode.ROOT_ID, transaction -> delete(transaction, caller, src, recursive));
    if (deleted) {
      onTrash.run();
    }
    return deleted;
  }

  private boolean delete(Transaction transaction, Caller caller, String src, boolean recursive)
      throws IOException {
    ResolvedPath resolved = Namespace.resolve(transaction, src);
    Permissions.checkTraverse(caller, resolved);
    Permissions.checkParentWrite(caller, resolved);
    if (!resolved.exists()) {
      return false;
    }
    checkMayDeleteAllBelow(transaction, caller, resolved);
    refuseNonEmpty(transaction, resolved.lastFound(), resolved.path(), recursive);
    if (resolved.path().isRoot()) {
      return false;
    }
    List<Inode> locked =
        InodeLocks.lock(
            transaction, List.of(resolved.parent().orElseThrow(), resolved.lastFound()));
    refuseNonEmpty(transaction, locked.get(1), resolved.path(), recursive);
    Directories.touch(transaction, locked.get(0), clock.millis());
    Trash.put(transaction, locked.get(1));
    return true;
  }

  private static void refuseNonEmpty(
      Transaction transaction, Inode inode, FsPath path, boolean recursive) throws IOException {
    if (!recursive && inode.isDirectory() && !Directories.isEmpty(transaction, inode)) {
      throw new PathIsNotEmptyDirectoryException(path + " is non empty");
    }
  }

  /** Whoever is not a superuser needs all rights on every directory below that is not empty. */
  private static void checkMayDeleteAllBelow(
      Transaction transaction, Caller caller, ResolvedPath top) throws IOException {
    if (caller.isSuperuser() || top.lastFound().isFile()) {
      return;
    }
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
          Permissions.check(caller, directory.inode(), directory.path(), FsAction.ALL);
          after = page.get(page.size() - 1).key();
        }
        for (Row<InodeRow> row : page) {
          Inode child = new Inode(row.key(), row.value());
          if (child.isDirectory()) {
            left.push(new Below(child, directory.path().child(Names.text(child.name()))));
          }
        }
      } while (page.size() == PAGE);
    }
  }
}
