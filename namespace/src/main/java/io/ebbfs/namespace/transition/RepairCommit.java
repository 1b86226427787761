package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.MemberRows;
import io.ebbfs.namespace.transition.Commits.Kind;
import io.ebbfs.namespace.transition.Commits.Locks;
import io.ebbfs.namespace.transition.Commits.RefusedException;
import io.ebbfs.namespace.transition.Commits.Written;
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
 * Rebuilt blocks get their replica rows. The stripe's row stays as it is: same blocks, other disks.
 */
final class RepairCommit implements Kind {
  private final BlockService blocks;
  private final ClusterView cluster;

  RepairCommit(BlockService blocks, ClusterView cluster) {
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
        Conversions.member(stripe.get(), output.getPosition())
            .filter(m -> m.getOwnerId() != stripe.get().getId())
            .ifPresent(m -> files.add(m.getOwnerId()));
      }
    }
    return new Locks(files, Lifecycle.stripes(row));
  }

  @Override
  public Written write(Transaction transaction, TransitionRow row, long firstStripeId)
      throws IOException {
    StripeRow stripe =
        transaction
            .get(Tables.STRIPE, Tables.stripe(row.getStripes(0).getStripeId()))
            .filter(s -> s.getTransitionId() == row.getId())
            .orElseThrow(() -> new RefusedException("the stripe is gone or was converted"));
    List<Invalidation> gone = new ArrayList<>();
    long dataBytes = 0;
    // A member that became a tombstone meanwhile is rebuilt all the same: parities cover it.
    for (TransitionOutputProto output : row.getOutputsList()) {
      StripeMemberProto member = member(stripe, output);
      BlockRow block = block(transaction, member);
      MemberRows.addReplica(
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
      throws RefusedException {
    if (!cluster.isLive(output.getStorageUuid())) {
      throw new RefusedException(
          "disk %s, to which block %d was rebuilt, is out of service"
              .formatted(output.getStorageUuid(), output.getBlockId()));
    }
    return Conversions.member(stripe, output.getPosition())
        .filter(m -> m.getBlockId() == output.getBlockId())
        .filter(m -> m.getGenerationStamp() == output.getGenerationStamp())
        .filter(m -> m.getLengthBytes() == output.getLengthBytes())
        .orElseThrow(
            () ->
                new RefusedException(
                    "stripe %d has another block at position %d now"
                        .formatted(stripe.getId(), output.getPosition())));
  }

  private static BlockRow block(Transaction transaction, StripeMemberProto member)
      throws IOException {
    return transaction
        .get(Tables.BLOCK, Tables.block(member.getOwnerId(), member.getOwnerIndex()))
        .filter(b -> b.getBlockId() == member.getBlockId())
        .orElseThrow(
            () -> new RefusedException("block " + member.getBlockId() + " is not there any more"));
  }
}
