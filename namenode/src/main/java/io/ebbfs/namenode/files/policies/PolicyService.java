package io.ebbfs.namenode.files.policies;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;

/**
 * Sets the storage policies of files and directories, and tells which one holds. It behaves and
 * fails as in HDFS. A policy says where new replicas go; those that are there stay until {@link
 * PolicySatisfier} or HDFS's mover moves them. Thread-safe.
 */
public final class PolicyService {
  private final MetadataStore store;
  private final TreeCounter counter;

  /**
   * @param counter counts a directory that gets a policy below a quota by type of storage
   */
  public PolicyService(MetadataStore store, TreeCounter counter) {
    this.store = store;
    this.counter = counter;
  }

  /**
   * Sets the policy of a file or directory. No quota refuses that. The bytes count by the new
   * policy from then on; a directory below a quota by type is counted first, which takes long once
   * for a large tree.
   *
   * @throws HadoopIllegalArgumentException if there is no policy of that name, or if a file cannot
   *     have it any more
   * @throws org.apache.hadoop.ipc.RetriableException if the tree must be counted first, is not
   *     small, and waits for other trees that this namenode counts. A stock client that knows
   *     several namenodes repeats its call, and one of a single namenode fails
   */
  public void set(Caller caller, String src, String name) throws IOException {
    BlockStoragePolicy policy = named(name);
    change(
        caller,
        src,
        inode -> {
          if (inode.isFile() && policy.isCopyOnCreateFile()) {
            throw new HadoopIllegalArgumentException(
                "Policy " + policy + " cannot be set after file creation.");
          }
          return inode.row().toBuilder().setStoragePolicy(policy.getId()).build();
        });
  }

  /** Takes the policy of a file or directory away: that of the directory above holds again. */
  public void unset(Caller caller, String src) throws IOException {
    change(caller, src, inode -> inode.row().toBuilder().clearStoragePolicy().build());
  }

  /** A policy by its name. */
  public static BlockStoragePolicy named(String name) {
    return StoragePolicies.named(name)
        .orElseThrow(
            () ->
                new HadoopIllegalArgumentException(
                    "Cannot find a block policy with the name " + name));
  }

  /** A file that was created with such a policy keeps it. */
  private static void checkMayChange(Inode inode) {
    BlockStoragePolicy present = StoragePolicies.withId(inode.row().getStoragePolicy());
    if (inode.isFile() && present.isCopyOnCreateFile()) {
      throw new HadoopIllegalArgumentException(
          "Existing policy " + present.getName() + " cannot be changed after file creation.");
    }
  }

  /** The policy that holds for a path. */
  public BlockStoragePolicy get(Caller caller, String src) throws IOException {
    return store.transact(
        Inode.ROOT_ID,
        Durability.RELAXED,
        transaction -> {
          ResolvedPath path = PathResolver.resolveToRead(transaction, src);
          PermissionChecker.checkTraverse(caller, path);
          PermissionChecker.checkAccess(caller, path, FsAction.READ);
          if (!path.exists() || path.isSnapshotList()) {
            throw PathErrors.notFound("File/Directory does not exist: " + path.path());
          }
          return StoragePolicies.withId(path.policyId());
        });
  }

  @FunctionalInterface
  private interface Change {
    InodeRow of(Inode locked);
  }

  private void change(Caller caller, String src, Change change) throws IOException {
    counter.countingFirst(
        () ->
            OptimisticTransactions.transact(
                store, Inode.ROOT_ID, transaction -> change(transaction, caller, src, change)));
  }

  private static Void change(Transaction transaction, Caller caller, String src, Change change)
      throws IOException {
    ResolvedPath path = writable(transaction, caller, src);
    Inode locked = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
    InodeRow changed = change.of(locked);
    checkMayChange(locked);
    if (!changed.equals(locked.row())) {
      if (locked.isDirectory()) {
        QuotaMarks.requireCountedForPolicy(transaction, locked);
      }
      transaction.put(Tables.INODE, locked.key(), changed);
    }
    return null;
  }

  /**
   * A path that exists and that the caller may write.
   *
   * @throws java.io.FileNotFoundException if it does not exist
   */
  static ResolvedPath writable(Transaction transaction, Caller caller, String src)
      throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, src);
    PermissionChecker.checkTraverse(caller, path);
    PermissionChecker.checkAccess(caller, path, FsAction.WRITE);
    if (!path.exists()) {
      throw PathErrors.notFound("File/Directory does not exist: " + path.path());
    }
    return path;
  }
}
