package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The state of a block and its replicas at one moment.
 *
 * @param live good replicas on live disks
 * @param counted the live replicas that count towards the wanted number: a replica of a block in no
 *     stripe counts only if its server is not drained
 * @param trusted counted replicas whose disk has sent a full report since its server registered;
 *     only these count when a replica is to be deleted
 * @param wrong replicas on live disks that are corrupt, or of another generation or length, without
 *     the unverified outputs of a running transition
 * @param excess replicas on live disks that are to be deleted
 * @param pinned whether a running transition holds the block or its stripe: then no replica is
 *     deleted
 */
record BlockAssessment(
    StoredBlock stored,
    List<Replica> all,
    List<Replica> live,
    List<Replica> counted,
    List<Replica> trusted,
    List<Replica> wrong,
    List<Replica> excess,
    boolean pinned) {

  static BlockAssessment of(Transaction transaction, DatanodeRegistry cluster, StoredBlock stored)
      throws IOException {
    BlockRow block = stored.block();
    List<Replica> all = ReplicaRows.of(transaction, stored.ownerId(), block.getBlockId());
    BlockAssessment result =
        new BlockAssessment(
            stored,
            all,
            new ArrayList<>(),
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
   * True if a running transition writes the block to that disk (a rebuilt block, or a copy). Nobody
   * trusts the replica before the commit, which verifies it. Until then its row says CORRUPT; it
   * stays so if the transition ends without a commit.
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

  private void sort(DatanodeRegistry cluster, BlockRow block, Replica replica) {
    if (replica.row().getState() == ReplicaStateProto.EXCESS) {
      excess.add(replica);
    } else if (ReplicaRows.isGood(block, replica.row())) {
      live.add(replica);
      if (striped() || !cluster.isLeaving(replica.storageUuid())) {
        counted.add(replica);
        if (cluster.hasReported(replica.storageUuid())) {
          trusted.add(replica);
        }
      }
    } else if (replica.row().getGenerationStamp() <= block.getGenerationStamp()
        || (isCorrupt(replica) && block.getState() == BlockStateProto.COMPLETE)) {
      wrong.add(replica);
    } // else: its generation is about to be committed
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
    return stored.block();
  }

  /** True if neither a client nor a recovery changes the block any more. */
  boolean settled() {
    return block().getState() == BlockStateProto.COMPLETE;
  }

  /** True if the length of the block is final, and no report of a replica has been counted yet. */
  boolean committed() {
    return block().getState() == BlockStateProto.COMMITTED;
  }

  /** Whether the disk has a good replica, in service or not. */
  boolean hasGoodOn(String storageUuid) {
    return all.stream()
        .filter(replica -> replica.storageUuid().equals(storageUuid))
        .anyMatch(replica -> ReplicaRows.isGood(block(), replica.row()));
  }

  boolean striped() {
    return stored.striped();
  }

  int wanted() {
    return striped() ? 1 : Math.max(1, block().getReplication());
  }

  /** True if the block has the wanted live replicas, some of them on servers that are drained. */
  boolean isWholeButLeaving() {
    return live.size() >= wanted() && counted.size() < wanted();
  }

  /** How many servers hold a live replica. */
  int servers(DatanodeRegistry cluster) {
    return cluster.serversOf(live.stream().map(Replica::storageUuid).toList()).size();
  }

  /** For each good replica on a disk that went out of service after that time: when it did. */
  List<Long> absentSince(DatanodeRegistry cluster, long millis) {
    return all.stream()
        .filter(replica -> ReplicaRows.isGood(block(), replica.row()))
        .map(replica -> cluster.lostSinceMillis(replica.storageUuid()))
        .filter(since -> since > millis)
        .toList();
  }

  /** How many good replicas are on disks whose servers hibernate and do not answer. */
  long awaited(DatanodeRegistry cluster) {
    return all.stream()
        .filter(replica -> ReplicaRows.isGood(block(), replica.row()))
        .filter(replica -> cluster.isAwaited(replica.storageUuid()))
        .count();
  }

  /** True if the block has as many trusted replicas as wanted. */
  boolean whole() {
    return trusted.size() >= wanted();
  }
}
