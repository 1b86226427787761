package io.ebbfs.namespace.block;

import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.MetadataStore.TransactionBody;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * From block ids to the rows that own them, and the locks of the owners. A file is locked by its
 * place in the tree and a block may change hands from a file to a stripe, so what was looked up
 * without locks is looked up again under them.
 */
final class BlockOwners {
  private static final int TRIES = 8;

  /**
   * What the store knows of a block id. Without an owner it is an output of a running transition.
   *
   * @param name where the owning file hangs; null if a stripe owns the block
   */
  record Owned(BlockOwnerRow owner, BlockRow block, InodeNameRow name) {
    boolean isOutput() {
      return block == null;
    }

    long ownerId() {
      return owner.getOwnerId();
    }

    boolean striped() {
      return block != null && block.hasStripeId();
    }

    private boolean sameLock(Owned other) {
      return owner.equals(other.owner)
          && (name == null ? other.name == null : name.equals(other.name));
    }

    private RowLock lock(RowLock.Mode mode) {
      return name == null
          ? new RowLock(Tables.STRIPE, Tables.stripe(ownerId()), mode)
          : new RowLock(
              Tables.INODE, Tables.inode(name.getParentId(), name.getName().toByteArray()), mode);
    }
  }

  /** Rows moved between look-up and lock: the transaction is run again. */
  private static final class MovedException extends IOException {
    MovedException(long blockId) {
      super("the owner of block %d changed meanwhile; try again".formatted(blockId));
    }
  }

  private BlockOwners() {}

  /** Runs the body again, a few times, as long as {@link #lock} finds owners changed. */
  static <R> R transact(
      MetadataStore store, long hint, Durability durability, TransactionBody<R> body)
      throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return store.transact(hint, durability, body);
      } catch (MovedException e) {
        if (attempt == TRIES) {
          throw e;
        }
      }
    }
  }

  /** Without locks: what is known of these ids; ids that nobody knows are left out. */
  static Map<Long, Owned> lookUp(Transaction transaction, List<Long> blockIds) throws IOException {
    List<Optional<BlockOwnerRow>> owners =
        transaction.getAll(Tables.BLOCK_OWNER, blockIds.stream().map(Tables::blockOwner).toList());
    List<Long> owned = new ArrayList<>();
    Map<Long, Owned> found = new LinkedHashMap<>();
    Map<Long, BlockOwnerRow> rows = new LinkedHashMap<>();
    for (int i = 0; i < blockIds.size(); i++) {
      if (owners.get(i).isPresent()) {
        BlockOwnerRow row = owners.get(i).get();
        rows.put(blockIds.get(i), row);
        if (row.hasOwnerId()) {
          owned.add(blockIds.get(i));
        } else {
          found.put(blockIds.get(i), new Owned(row, null, null));
        }
      }
    }
    List<Optional<BlockRow>> blocks =
        transaction.getAll(
            Tables.BLOCK,
            owned.stream()
                .map(id -> Tables.block(rows.get(id).getOwnerId(), rows.get(id).getIndex()))
                .toList());
    List<Optional<InodeNameRow>> names =
        transaction.getAll(
            Tables.INODE_NAME,
            owned.stream().map(id -> Tables.inodeName(rows.get(id).getOwnerId())).toList());
    for (int i = 0; i < owned.size(); i++) {
      long id = owned.get(i);
      // A row that says otherwise is an inconsistency, not a reason to delete a replica.
      BlockRow block = blocks.get(i).filter(b -> b.getBlockId() == id).orElse(null);
      found.put(id, new Owned(rows.get(id), block, names.get(i).orElse(null)));
    }
    return found;
  }

  /** Looks up, locks the owners and looks up again. Must be the transaction's first lock. */
  static Map<Long, Owned> lock(Transaction transaction, List<Long> blockIds, RowLock.Mode mode)
      throws IOException {
    Map<Long, Owned> before = lookUp(transaction, blockIds);
    transaction.lock(
        before.values().stream()
            .filter(owned -> owned.owner.hasOwnerId())
            .map(owned -> owned.lock(mode))
            .toList());
    Map<Long, Owned> now = lookUp(transaction, blockIds);
    for (Map.Entry<Long, Owned> entry : now.entrySet()) {
      Owned locked = before.get(entry.getKey());
      if (locked == null || !locked.sameLock(entry.getValue())) {
        throw new MovedException(entry.getKey());
      }
    }
    return now;
  }
}
