package io.ebbfs.namenode.files.acls;

import io.ebbfs.namenode.files.inodes.AclRows;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.hdfs.protocol.AclException;

/**
 * Sets and reads access control lists. It behaves and fails as in HDFS. A list is a part of the row
 * of its inode, so who checks a permission reads no other row. A call that arrives twice has the
 * same effect as one. Thread-safe.
 */
public final class AclService {
  private final MetadataStore store;

  public AclService(MetadataStore store) {
    this.store = store;
  }

  /**
   * Replaces the access list, the default list, or both, by what the entries are of; no entries
   * remove both.
   *
   * @throws AclException if the entries make no list
   */
  public void set(Caller caller, String src, List<AclEntry> entries) throws IOException {
    if (entries.isEmpty()) {
      remove(caller, src);
      return;
    }
    change(
        caller, src, inode -> with(inode, AclChanges.replace(all(inode), AclSpec.toSet(entries))));
  }

  /** Adds entries, or sets what entries of the same scope, type and name allow. */
  public void modify(Caller caller, String src, List<AclEntry> entries) throws IOException {
    change(
        caller, src, inode -> with(inode, AclChanges.modify(all(inode), AclSpec.toSet(entries))));
  }

  /** Removes entries, named by scope, type and name. */
  public void removeEntries(Caller caller, String src, List<AclEntry> entries) throws IOException {
    change(
        caller,
        src,
        inode -> with(inode, AclChanges.remove(all(inode), AclSpec.toRemove(entries))));
  }

  public void removeDefault(Caller caller, String src) throws IOException {
    change(caller, src, inode -> with(inode, AclChanges.withoutDefault(all(inode))));
  }

  /** Removes both lists. The group may do again what its entry allowed. */
  public void remove(Caller caller, String src) throws IOException {
    change(caller, src, inode -> AclRows.without(inode.row()));
  }

  /**
   * The list of an inode.
   *
   * @throws FileNotFoundException if there is none
   */
  public AclStatus status(Caller caller, String src) throws IOException {
    return store.transact(
        Inode.ROOT_ID,
        Durability.RELAXED,
        transaction -> {
          ResolvedPath path = PathResolver.resolveToRead(transaction, src);
          PermissionChecker.checkTraverse(caller, path);
          return status(
              path.last().orElseThrow(() -> PathErrors.notFound("cannot find " + path.path())));
        });
  }

  private static AclStatus status(Inode inode) {
    return new AclStatus.Builder()
        .owner(inode.row().getOwner())
        .group(inode.row().getGroup())
        .stickyBit(inode.permission().getStickyBit())
        .setPermission(inode.permission())
        .addEntries(AclRows.beyondPermission(inode.row()))
        .build();
  }

  @FunctionalInterface
  private interface Change {
    InodeRow of(Inode locked) throws AclException;
  }

  private void change(Caller caller, String src, Change change) throws IOException {
    while (!OptimisticTransactions.transact(
        store, Inode.ROOT_ID, transaction -> changed(transaction, caller, src, change))) {
      StoreFormat.raiseToAcls(store);
    }
  }

  /** Whether the list was changed. If not, the format of the store has to be raised first. */
  private static boolean changed(Transaction transaction, Caller caller, String src, Change change)
      throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, src);
    PermissionChecker.checkTraverse(caller, path);
    PermissionChecker.checkOwner(caller, path);
    Inode inode = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
    InodeRow changed = of(change, inode, path);
    if (inode.with(changed).hasAcl() && !StoreFormat.hasAcls(transaction)) {
      return false;
    }
    if (!changed.equals(inode.row())) {
      transaction.put(Tables.INODE, inode.key(), changed);
    }
    return true;
  }

  private static InodeRow of(Change change, Inode inode, ResolvedPath path) throws AclException {
    try {
      return change.of(inode);
    } catch (AclException e) {
      throw new AclException(e.getMessage() + " Path: " + path.path(), e);
    }
  }

  private static List<AclEntry> all(Inode inode) {
    return AclRows.all(inode.row());
  }

  private static InodeRow with(Inode inode, List<AclEntry> entries) throws AclException {
    InodeRow changed = AclRows.with(inode.row(), entries);
    if (changed.getDefaultAclCount() > 0 && !inode.isDirectory()) {
      throw new AclException("Invalid ACL: only directories may have a default ACL.");
    }
    return changed;
  }
}
