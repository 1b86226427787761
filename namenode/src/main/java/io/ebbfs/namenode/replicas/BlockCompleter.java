package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Completes committed blocks that have a live replica. A block recovery commits its block before
 * any report names the recovered replicas, and nobody calls for the file afterwards. Only complete
 * blocks are kept at their number of replicas, and encoded. Thread-safe.
 */
final class BlockCompleter {
  private final MetadataStore store;
  private final DatanodeRegistry cluster;

  BlockCompleter(MetadataStore store, DatanodeRegistry cluster) {
    this.store = store;
    this.cluster = cluster;
  }

  /** Completes the block if it may be; a block in another state stays as it is. */
  void complete(long blockId) throws IOException {
    OptimisticTransactions.transact(
        store,
        blockId,
        Durability.RELAXED,
        transaction -> {
          StoredBlock stored =
              BlockLookup.lock(transaction, List.of(blockId), RowLock.Mode.EXCLUSIVE).get(blockId);
          if (stored != null
              && !stored.isOutput()
              && stored.block().getState() == BlockStateProto.COMMITTED
              && !BlockAssessment.of(transaction, cluster, stored).live().isEmpty()) {
            Key key = Tables.block(stored.ownerId(), stored.owner().getIndex());
            if (transaction.isShared()) {
              // The row may be older than that of its file: a commit on an older one is refused.
              transaction.lock(List.of(RowLock.shared(Tables.BLOCK, key)));
              if (!transaction.get(Tables.BLOCK, key).equals(Optional.of(stored.block()))) {
                throw new StaleReadException("block row %s has changed".formatted(key));
              }
            }
            transaction.put(
                Tables.BLOCK,
                key,
                stored.block().toBuilder()
                    .setState(BlockStateProto.COMPLETE)
                    .clearPipelineStorageUuids()
                    .build());
          }
          return null;
        });
  }
}
