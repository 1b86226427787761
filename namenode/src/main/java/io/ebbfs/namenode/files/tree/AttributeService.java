package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;

/**
 * Sets attributes of files and directories: permission, owner, group, times. It behaves and fails
 * as in HDFS. Thread-safe.
 */
public final class AttributeService {
  private final MetadataStore store;

  public AttributeService(MetadataStore store) {
    this.store = store;
  }

  public void setPermission(Caller caller, String src, FsPermission permission) throws IOException {
    int mode = permission.toShort();
    change(
        caller,
        src,
        path -> PermissionChecker.checkOwner(caller, path),
        (transaction, inode) -> inode.row().toBuilder().setPermission(mode).build());
  }

  /** Sets the owner and the group; null keeps the present owner or group. */
  public void setOwner(Caller caller, String src, String owner, String group) throws IOException {
    change(
        caller,
        src,
        path -> {
          PermissionChecker.checkOwner(caller, path);
          checkMayGive(caller, owner, group);
        },
        (transaction, inode) -> {
          InodeRow.Builder changed = inode.row().toBuilder();
          if (owner != null) {
            changed.setOwner(owner);
          }
          if (group != null) {
            changed.setGroup(group);
          }
          return changed.build();
        });
  }

  private static void checkMayGive(Caller caller, String owner, String group)
      throws AccessControlException {
    if (caller.isSuperuser()) {
      return;
    }
    if (owner != null && !owner.equals(caller.user())) {
      throw new AccessControlException(
          "User " + caller.user() + " is not a super user (non-super user cannot change owner).");
    }
    if (group != null && !caller.isIn(group)) {
      throw new AccessControlException("User " + caller.user() + " does not belong to " + group);
    }
  }

  /** Sets times in milliseconds; a negative value keeps the present time. */
  public void setTimes(Caller caller, String src, long modifiedMillis, long accessedMillis)
      throws IOException {
    change(
        caller,
        src,
        path -> PermissionChecker.checkAccess(caller, path, FsAction.WRITE),
        (transaction, inode) -> {
          InodeRow.Builder changed = inode.row().toBuilder();
          if (modifiedMillis >= 0) {
            changed.setModifiedMillis(modifiedMillis);
            if (transaction.isShared() && inode.isDirectory()) {
              // A time that some namenode is yet to write is that of an earlier change.
              changed.setTimesSet(inode.row().getTimesSet() + 1);
            }
          }
          if (accessedMillis >= 0) {
            changed.setAccessedMillis(accessedMillis);
          }
          return changed.build();
        });
  }

  @FunctionalInterface
  private interface Check {
    void run(ResolvedPath path) throws IOException;
  }

  @FunctionalInterface
  private interface Change {
    InodeRow of(Transaction transaction, Inode locked);
  }

  private void change(Caller caller, String src, Check check, Change change) throws IOException {
    OptimisticTransactions.transact(
        store,
        Inode.ROOT_ID,
        transaction -> {
          ResolvedPath resolved = PathResolver.resolve(transaction, src);
          PermissionChecker.checkTraverse(caller, resolved);
          check.run(resolved);
          if (!resolved.exists()) {
            throw PathErrors.notFound("File/Directory " + resolved.path() + " does not exist.");
          }
          Inode locked = InodeLocks.lock(transaction, List.of(resolved.lastFound())).get(0);
          transaction.put(Tables.INODE, locked.key(), change.of(transaction, locked));
          return null;
        });
  }
}
