package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.permission.FsAction;

/** How many replicas a file has. Thread-safe. */
public final class Replication {
  private final MetadataStore store;
  private final BlockService blocks;
  private final Limits limits;

  public Replication(MetadataStore store, BlockService blocks, Limits limits) {
    this.store = store;
    this.blocks = blocks;
    this.limits = limits;
  }

  /**
   * Sets the wanted replication of a file. Blocks in stripes keep their one replica: their
   * redundancy is in the stripe.
   *
   * @return false if it is no file
   */
  public boolean set(Caller caller, String src, int replication) throws IOException {
    FileCreation.checkReplication(src, replication, limits);
    List<Invalidation> surplus = new ArrayList<>();
    boolean set =
        Retrying.transact(
            store,
            Inode.ROOT_ID,
            transaction -> {
              surplus.clear();
              return set(transaction, caller, src, replication, surplus);
            });
    blocks.invalidate(surplus);
    return set;
  }

  private boolean set(
      Transaction transaction,
      Caller caller,
      String src,
      int replication,
      List<Invalidation> surplus)
      throws IOException {
    ResolvedPath path = Namespace.resolve(transaction, src);
    Permissions.checkTraverse(caller, path);
    Permissions.checkAccess(caller, path, FsAction.WRITE);
    if (!path.exists() || !path.lastFound().isFile()) {
      return false;
    }
    Inode file = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
    for (Row<BlockRow> block : transaction.scan(Tables.BLOCK, file.id())) {
      if (!block.value().hasStripeId()) {
        surplus.addAll(
            blocks.setReplication(transaction, file.id(), block.key().firstLong(), replication));
      }
    }
    transaction.put(
        Tables.INODE, file.key(), file.row().toBuilder().setReplication(replication).build());
    return true;
  }
}
