package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.BlockOwners.Owned;
import io.ebbfs.namespace.block.Replicas.Replica;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * How a block stands.
 *
 * @param live good replicas on live disks
 * @param trusted those of them whose disk has reported since its server registered: only these
 *     count when something is to be deleted
 * @param wrong replicas that are corrupt, or of another generation or length, on live disks;
 *     without those that a running transition has written and not yet committed
 * @param excess replicas that are to be deleted, on live disks
 * @param pinned a running transition holds the block or its stripe: no replica is given up
 */
record Assessment(
    Owned owned,
    List<Replica> all,
    List<Replica> live,
    List<Replica> trusted,
    List<Replica> wrong,
    List<Replica> excess,
    boolean pinned) {

  static Assessment of(Transaction transaction, ClusterMap cluster, Owned owned)
      throws IOException {
    BlockRow block = owned.block();
    List<Replica> all = Replicas.of(transaction, owned.ownerId(), block.getBlockId());
    Assessment result =
        new Assessment(
            owned,
            all,
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            isPinned(transaction, block));
    for (Replica replica : all) {
      if (cluster.isLive(replica.storageUuid())
          && !(isCorrupt(replica) && isUnverified(transaction, block, replica.storageUuid()))) {
        result.sort(cluster, block, replica);
      }
    }
    return result;
  }

  private static boolean isCorrupt(Replica replica) {
    return replica.row().getState() == ReplicaStateProto.CORRUPT;
  }

  /**
   * True if a running transition writes the block, a rebuilt one or a copy, to that disk. Until its
   * commit, which comes after the checks of what was written, such a replica is not to be trusted:
   * its row says CORRUPT, and stays so if the transition ends without a commit.
   */
  static boolean isUnverified(Transaction transaction, BlockRow block, String storageUuid)
      throws IOException {
    long transitionId = block.getTransitionId();
    if (block.hasStripeId()) {
      transitionId =
          transaction
              .get(Tables.STRIPE, Tables.stripe(block.getStripeId()))
              .map(StripeRow::getTransitionId)
              .orElse(0L);
    }
    if (transitionId == 0) {
      return false;
    }
    return transaction
        .get(Tables.TRANSITION, Tables.transition(transitionId))
        .filter(row -> row.getState() == TransitionStateProto.RUNNING)
        .filter(
            row ->
                row.getOutputsList().stream()
                    .anyMatch(
                        output ->
                            output.getBlockId() == block.getBlockId()
                                && output.getStorageUuid().equals(storageUuid)))
        .isPresent();
  }

  private void sort(ClusterMap cluster, BlockRow block, Replica replica) {
    if (replica.row().getState() == ReplicaStateProto.EXCESS) {
      excess.add(replica);
    } else if (Replicas.isGood(block, replica.row())) {
      live.add(replica);
      if (cluster.hasReported(replica.storageUuid())) {
        trusted.add(replica);
      }
    } else if (replica.row().getGenerationStamp() <= block.getGenerationStamp()) {
      wrong.add(replica);
    } // else: of a generation that is about to be committed
  }

  private static boolean isPinned(Transaction transaction, BlockRow block) throws IOException {
    if (block.hasTransitionId()) {
      return true;
    }
    return block.hasStripeId()
        && transaction
            .get(Tables.STRIPE, Tables.stripe(block.getStripeId()))
            .filter(StripeRow::hasTransitionId)
            .isPresent();
  }

  BlockRow block() {
    return owned.block();
  }

  /** True once a client or a recovery has nothing to do with the block any more. */
  boolean settled() {
    return block().getState() == BlockStateProto.COMPLETE;
  }

  boolean striped() {
    return owned.striped();
  }

  int wanted() {
    return striped() ? 1 : Math.max(1, block().getReplication());
  }

  /** True if as many replicas as wanted are on disks that are known to have them. */
  boolean whole() {
    return trusted.size() >= wanted();
  }
}
