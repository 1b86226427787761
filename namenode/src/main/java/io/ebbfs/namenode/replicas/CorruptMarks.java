package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Marks good replicas as corrupt, and takes such marks back. Only a mark that a server set by
 * reading its own replica ({@code foundBad}) can be taken back, after the server has read the
 * replica again and found it good. The other marks say that the bytes are wrong although they fit
 * their checksums, or that nobody has ever trusted the replica. Thread-safe.
 */
final class CorruptMarks {
  private static final Logger LOG = LoggerFactory.getLogger(CorruptMarks.class);

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final DatanodeCommandQueue commands;
  private final RedundancyMonitor redundancy;

  CorruptMarks(
      MetadataStore store,
      DatanodeRegistry cluster,
      DatanodeCommandQueue commands,
      RedundancyMonitor redundancy) {
    this.store = store;
    this.commands = commands;
    this.cluster = cluster;
    this.redundancy = redundancy;
  }

  /**
   * Marks a replica, if it has a good row of this generation.
   *
   * @param foundBad whether the replica's own server has read the replica and found it bad
   */
  void set(long blockId, long generationStamp, String storageUuid, boolean foundBad, String why)
      throws IOException {
    boolean marked =
        change(
            blockId,
            storageUuid,
            (transaction, stored, row) ->
                row.getState() == ReplicaStateProto.FINALIZED
                        && row.getGenerationStamp() == generationStamp
                    ? Optional.of(marked(row, foundBad))
                    : Optional.empty());
    if (marked) {
      LOG.warn("replica of block {} on disk {} is bad: {}", blockId, storageUuid, why);
    }
  }

  private static ReplicaRow marked(ReplicaRow row, boolean foundBad) {
    ReplicaRow.Builder marked = row.toBuilder().setState(ReplicaStateProto.CORRUPT);
    if (foundBad) {
      marked.setFoundBad(true);
    }
    return marked.build();
  }

  /**
   * Takes the mark of a replica back: its server has read it, and it is good. An excess replica
   * stays one, unless its block has no other.
   */
  void takeBack(long blockId, long generationStamp, String storageUuid) throws IOException {
    boolean trusted =
        change(
            blockId,
            storageUuid,
            (transaction, stored, row) ->
                (isFoundBad(row) || isNeeded(transaction, stored, row, storageUuid))
                        && row.getGenerationStamp() == generationStamp
                        && !BlockAssessment.isUnverified(transaction, stored.block(), storageUuid)
                    ? Optional.of(
                        row.toBuilder()
                            .setState(ReplicaStateProto.FINALIZED)
                            .clearFoundBad()
                            .build())
                    : Optional.empty());
    if (trusted) {
      LOG.info(
          "replica of block {} on disk {} was to be deleted; its server has read it and found it"
              + " good",
          blockId,
          storageUuid);
    }
  }

  /** True if the replica is corrupt by the word of its own server, which a new word replaces. */
  static boolean isFoundBad(ReplicaRow row) {
    return row.getState() == ReplicaStateProto.CORRUPT && row.getFoundBad();
  }

  private boolean isNeeded(
      Transaction transaction, StoredBlock stored, ReplicaRow row, String storageUuid)
      throws IOException {
    return row.getState() == ReplicaStateProto.EXCESS
        && !commands.isOrdered(storageUuid, stored.block().getBlockId())
        && BlockAssessment.of(transaction, cluster, stored).live().isEmpty();
  }

  private interface Change {
    Optional<ReplicaRow> apply(Transaction transaction, StoredBlock stored, ReplicaRow row)
        throws IOException;
  }

  /** Changes the row of a replica, and has its block and its stripe examined. */
  private boolean change(long blockId, String storageUuid, Change change) throws IOException {
    Optional<StoredBlock> changed =
        OptimisticTransactions.transact(
            store,
            blockId,
            Durability.SYNCED,
            transaction -> {
              StoredBlock stored =
                  BlockLookup.lock(transaction, List.of(blockId), RowLock.Mode.EXCLUSIVE)
                      .get(blockId);
              return stored != null
                      && !stored.isOutput()
                      && change(transaction, stored, storageUuid, change)
                  ? Optional.of(stored)
                  : Optional.empty();
            });
    if (changed.isPresent()) {
      redundancy.check(blockId);
      if (changed.get().striped()) {
        redundancy.checkStripe(changed.get().block().getStripeId());
      }
    }
    return changed.isPresent();
  }

  private boolean change(
      Transaction transaction, StoredBlock stored, String storageUuid, Change change)
      throws IOException {
    long ownerId = stored.ownerId();
    long blockId = stored.block().getBlockId();
    Optional<ReplicaRow> row =
        transaction.get(Tables.REPLICA, Tables.replica(ownerId, blockId, storageUuid));
    Optional<ReplicaRow> after =
        row.isEmpty() ? Optional.empty() : change.apply(transaction, stored, row.get());
    after.ifPresent(
        changed ->
            ReplicaRows.change(transaction, cluster, ownerId, blockId, storageUuid, changed));
    return after.isPresent();
  }
}
