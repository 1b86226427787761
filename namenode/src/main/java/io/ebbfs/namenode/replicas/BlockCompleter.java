package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.List;

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
            transaction.put(
                Tables.BLOCK,
                Tables.block(stored.ownerId(), stored.owner().getIndex()),
                stored.block().toBuilder()
                    .setState(BlockStateProto.COMPLETE)
                    .clearPipelineStorageUuids()
                    .build());
          }
          return null;
        });
  }
}
