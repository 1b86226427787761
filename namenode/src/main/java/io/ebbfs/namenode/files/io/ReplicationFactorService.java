package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.permission.FsAction;

/** Sets the replication of files. Thread-safe. */
public final class ReplicationFactorService {
  private final MetadataStore store;
  private final BlockService blocks;
  private final NamespaceLimits limits;

  public ReplicationFactorService(
      MetadataStore store, BlockService blocks, NamespaceLimits limits) {
    this.store = store;
    this.blocks = blocks;
    this.limits = limits;
  }

  /**
   * Sets the replication of a file. A block in a stripe keeps its one replica, because the parities
   * of the stripe protect it.
   *
   * @return false if the path is no file
   */
  public boolean set(Caller caller, String src, int replication) throws IOException {
    FileCreationService.checkReplication(src, replication, limits);
    List<Invalidation> excess = new ArrayList<>();
    boolean set =
        OptimisticTransactions.transact(
            store,
            Inode.ROOT_ID,
            transaction -> {
              excess.clear();
              return set(transaction, caller, src, replication, excess);
            });
    blocks.invalidate(excess);
    return set;
  }

  private boolean set(
      Transaction transaction,
      Caller caller,
      String src,
      int replication,
      List<Invalidation> excess)
      throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, src);
    PermissionChecker.checkTraverse(caller, path);
    PermissionChecker.checkAccess(caller, path, FsAction.WRITE);
    if (!path.exists() || !path.lastFound().isFile() || path.lastFound().row().hasEcPolicyId()) {
      return false;
    }
    if (path.lastFound().row().getBlocks() > 0) {
      NonBlocking.beforeWait(); // a file may have many blocks
    }
    Inode file = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
    // A writer may have changed the last two blocks in a commit of which only the file is seen.
    new FileBlocks(transaction, blocks, file).lockLast(2);
    for (int index = 0; index < file.row().getBlocks(); index++) {
      excess.addAll(blocks.setReplication(transaction, file.id(), index, replication));
    }
    transaction.put(Tables.INODE, file.key(), QuotaMarks.withReplication(file.row(), replication));
    return true;
  }
}
