package io.ebbfs.namenode.files.erasure;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.erasure.EnabledPolicies;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.InodePolicies;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.BlockGroupsFormat;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.NoECPolicySetException;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;

/**
 * Sets, removes and tells the erasure coding policies of directories, and tells those of files. It
 * behaves and fails as HDFS. Thread-safe.
 */
public final class ErasureCodingService {
  /** The policy of a client that names none. */
  private static final String DEFAULT_POLICY =
      SystemErasureCodingPolicies.getByID(SystemErasureCodingPolicies.RS_6_3_POLICY_ID).getName();

  private final MetadataStore store;
  private final Clock clock;
  private final EnabledPolicies policies;

  public ErasureCodingService(MetadataStore store, Clock clock) {
    this.store = store;
    this.clock = clock;
    this.policies = new EnabledPolicies(store);
  }

  /** All policies, which an operator enables and disables. */
  public EnabledPolicies policies() {
    return policies;
  }

  /**
   * Sets the policy that new files in a directory get.
   *
   * @param name of an enabled policy; null for the default
   */
  public void set(Caller caller, String src, String name) throws IOException {
    String wanted = name == null ? DEFAULT_POLICY : name;
    ErasureCodingPolicy policy =
        store.transact(
            Inode.ROOT_ID,
            Durability.RELAXED,
            transaction -> EnabledPolicies.require(transaction, wanted));
    BlockGroupsFormat.use(
        store,
        format -> {
          change(
              caller,
              src,
              (transaction, inode) -> {
                if (!inode.isDirectory()) {
                  throw new IOException(
                      "Attempt to set an erasure coding policy for a file " + src);
                }
                if (!policy.isReplicationPolicy()) {
                  format.require(transaction);
                }
                return inode.row().toBuilder().setEcPolicyId(policy.getId()).build();
              });
          return null;
        });
  }

  /**
   * Removes the policy of a directory: what the directory above has holds again.
   *
   * @throws NoECPolicySetException if the directory has no policy of its own
   */
  public void unset(Caller caller, String src) throws IOException {
    change(
        caller,
        src,
        (transaction, inode) -> {
          if (!inode.isDirectory()) {
            throw new IOException("Cannot unset an erasure coding policy on a file " + src);
          }
          if (!inode.row().hasEcPolicyId()) {
            throw new NoECPolicySetException("No erasure coding policy explicitly set on " + src);
          }
          return inode.row().toBuilder().clearEcPolicyId().build();
        });
  }

  @FunctionalInterface
  private interface Change {
    InodeRow of(Transaction transaction, Inode locked) throws IOException;
  }

  private void change(Caller caller, String src, Change change) throws IOException {
    OptimisticTransactions.transact(
        store,
        Inode.ROOT_ID,
        transaction -> {
          if (ClientCall.earlierRun(transaction).isPresent()) {
            return null;
          }
          ResolvedPath path = PathResolver.resolve(transaction, src);
          PermissionChecker.checkTraverse(caller, path);
          requireFound(path);
          PermissionChecker.checkAccess(caller, path, FsAction.WRITE);
          Inode locked = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
          transaction.put(Tables.INODE, locked.key(), change.of(transaction, locked));
          ClientCall.takeEffect(transaction, locked.id(), clock.millis());
          return null;
        });
  }

  private static void requireFound(ResolvedPath path) throws IOException {
    if (!path.exists()) {
      throw PathErrors.notFound("Path not found: " + path.path());
    }
  }

  /** The policy that holds for a file or directory; null for replication. */
  public ErasureCodingPolicy get(Caller caller, String src) throws IOException {
    InodeRow shown =
        store.transact(
            Inode.ROOT_ID,
            Durability.RELAXED,
            transaction -> {
              ResolvedPath path = PathResolver.resolveToRead(transaction, src);
              PermissionChecker.checkTraverse(caller, path);
              requireFound(path);
              PermissionChecker.checkAccess(caller, path, FsAction.READ);
              return InodePolicies.shown(path.inodes()).row();
            });
    return BlockGroupLayout.shown(shown.hasEcPolicyId(), shown.getEcPolicyId());
  }
}
