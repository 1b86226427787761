package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.plan.ConversionMapper;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Publishes the blocks that a REPAIR has rebuilt or a MOVE has copied: each gets its replica row,
 * and its other replicas are deleted. The row of the stripe does not change: it has the same blocks
 * as before, on other disks.
 */
final class RepairCommitWriter implements CommitWriter {
  private final BlockService blocks;
  private final ClusterView cluster;

  RepairCommitWriter(BlockService blocks, ClusterView cluster) {
    this.blocks = blocks;
    this.cluster = cluster;
  }

  @Override
  public Locks locks(Transaction transaction, TransitionRow row) throws IOException {
    Set<Long> files = new TreeSet<>();
    Optional<StripeRow> stripe =
        transaction.get(Tables.STRIPE, Tables.stripe(row.getStripes(0).getStripeId()));
    if (stripe.isPresent()) {
      for (TransitionOutputProto output : row.getOutputsList()) {
        ConversionMapper.member(stripe.get(), output.getPosition())
            .filter(m -> m.getOwnerId() != stripe.get().getId())
            .ifPresent(m -> files.add(m.getOwnerId()));
      }
    }
    return new Locks(files, TransitionLifecycle.stripes(row));
  }

  @Override
  public Written write(Transaction transaction, TransitionRow row, long firstStripeId)
      throws IOException {
    StripeRow stripe =
        transaction
            .get(Tables.STRIPE, Tables.stripe(row.getStripes(0).getStripeId()))
            .filter(s -> s.getTransitionId() == row.getId())
            .orElseThrow(() -> new CommitRefusedException("the stripe is gone or was converted"));
    List<Invalidation> gone = new ArrayList<>();
    long dataBytes = 0;
    // A member that has become a tombstone since is published too: the parities still cover it.
    for (TransitionOutputProto output : row.getOutputsList()) {
      StripeMemberProto member = member(stripe, output);
      BlockRow block = block(transaction, member);
      BlockRows.addReplica(
          transaction,
          cluster,
          member.getOwnerId(),
          output.getBlockId(),
          output.getGenerationStamp(),
          output.getLengthBytes(),
          output.getStorageUuid());
      gone.addAll(
          blocks.keepOnly(transaction, member.getOwnerId(), block, output.getStorageUuid()));
      dataBytes += output.getLengthBytes();
    }
    return new Written(gone, Set.of(stripe.getId()), dataBytes, stripe.getCode());
  }

  private StripeMemberProto member(StripeRow stripe, TransitionOutputProto output)
      throws CommitRefusedException {
    CommitWriter.requireInService(cluster, output);
    return ConversionMapper.member(stripe, output.getPosition())
        .filter(m -> m.getBlockId() == output.getBlockId())
        .filter(m -> m.getGenerationStamp() == output.getGenerationStamp())
        .filter(m -> m.getLengthBytes() == output.getLengthBytes())
        .orElseThrow(
            () ->
                new CommitRefusedException(
                    "stripe %d has another block at position %d now"
                        .formatted(stripe.getId(), output.getPosition())));
  }

  private static BlockRow block(Transaction transaction, StripeMemberProto member)
      throws IOException {
    return transaction
        .get(Tables.BLOCK, Tables.block(member.getOwnerId(), member.getOwnerIndex()))
        .filter(b -> b.getBlockId() == member.getBlockId())
        .orElseThrow(
            () ->
                new CommitRefusedException(
                    "block " + member.getBlockId() + " is not there any more"));
  }
}
