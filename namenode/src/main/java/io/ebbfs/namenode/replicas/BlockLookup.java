package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.OwnerLocks;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds the rows of blocks by block id, without locks or under the locks of the owners. */
final class BlockLookup {
  private BlockLookup() {}

  /** Finds the rows without locks. Ids that the store does not know are left out. */
  static Map<Long, StoredBlock> find(Transaction transaction, List<Long> blockIds)
      throws IOException {
    Map<Long, BlockOwnerRow> owners = owners(transaction, blockIds);
    List<Long> owned = owners.keySet().stream().filter(id -> owners.get(id).hasOwnerId()).toList();
    List<Optional<BlockRow>> blocks =
        transaction.getAll(
            Tables.BLOCK,
            owned.stream()
                .map(id -> Tables.block(owners.get(id).getOwnerId(), owners.get(id).getIndex()))
                .toList());
    Map<Long, StoredBlock> found = new LinkedHashMap<>();
    owners.forEach((id, owner) -> found.put(id, new StoredBlock(owner, null)));
    for (int i = 0; i < owned.size(); i++) {
      long id = owned.get(i);
      // A row of another block is an inconsistency, not a reason to delete a replica.
      BlockRow block = blocks.get(i).filter(b -> b.getBlockId() == id).orElse(null);
      found.put(id, new StoredBlock(owners.get(id), block));
    }
    return found;
  }

  private static Map<Long, BlockOwnerRow> owners(Transaction transaction, List<Long> blockIds)
      throws IOException {
    List<Optional<BlockOwnerRow>> rows =
        transaction.getAll(Tables.BLOCK_OWNER, blockIds.stream().map(Tables::blockOwner).toList());
    Map<Long, BlockOwnerRow> owners = new LinkedHashMap<>();
    for (int i = 0; i < blockIds.size(); i++) {
      if (rows.get(i).isPresent()) {
        owners.put(blockIds.get(i), rows.get(i).get());
      }
    }
    return owners;
  }

  /**
   * Finds the rows under the locks of their owners. Must be the first lock of the transaction; run
   * the transaction with {@link OptimisticTransactions}.
   *
   * @throws StaleReadException if a block changed its owner between look-up and lock
   */
  static Map<Long, StoredBlock> lock(
      Transaction transaction, List<Long> blockIds, RowLock.Mode mode) throws IOException {
    Map<Long, StoredBlock> before = find(transaction, blockIds);
    List<Long> ownerIds = new ArrayList<>();
    before.values().stream()
        .filter(stored -> stored.owner().hasOwnerId())
        .forEach(stored -> ownerIds.add(stored.ownerId()));
    OwnerLocks.lockOwners(transaction, ownerIds, mode);
    Map<Long, StoredBlock> now = find(transaction, blockIds);
    for (Map.Entry<Long, StoredBlock> entry : now.entrySet()) {
      StoredBlock locked = before.get(entry.getKey());
      if (locked == null || !locked.owner().equals(entry.getValue().owner())) {
        throw new StaleReadException(
            "the owner of block %d changed meanwhile".formatted(entry.getKey()));
      }
    }
    return now;
  }
}
