package io.ebbfs.namespace.transition;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.MemberRows;
import io.ebbfs.namespace.stripe.StripeManager;
import io.ebbfs.namespace.transition.Commits.Kind;
import io.ebbfs.namespace.transition.Commits.Locks;
import io.ebbfs.namespace.transition.Commits.RefusedException;
import io.ebbfs.namespace.transition.Commits.Written;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Blocks of files become members of new stripes and lose all replicas but one. The stripes that
 * they were in (REWRITE) go.
 */
final class EncodeCommit implements Kind {
  private final BlockService blocks;
  private final ClusterView cluster;
  private final Clock clock;

  EncodeCommit(BlockService blocks, ClusterView cluster, Clock clock) {
    this.blocks = blocks;
    this.cluster = cluster;
    this.clock = clock;
  }

  @Override
  public Locks locks(Transaction transaction, TransitionRow row) {
    return new Locks(Lifecycle.files(row), Lifecycle.stripes(row));
  }

  @Override
  public Written write(Transaction transaction, TransitionRow row, long firstStripeId)
      throws IOException {
    List<StripeRow> old = oldStripes(transaction, row);
    Map<TransitionBlockProto, BlockRow> data = unchanged(transaction, row);
    ErasureCode code = Codes.byName(row.getToCode());
    Map<Integer, StripeWriter> writers = writers(transaction, row, code, firstStripeId);
    List<Invalidation> gone = new ArrayList<>();
    for (TransitionOutputProto output : row.getOutputsList()) {
      if (code.position(output.getPosition()).isParity()) {
        writers.get(output.getStripeIndex()).addParity(output);
      }
    }
    long dataBytes = 0;
    for (TransitionBlockProto block : row.getBlocksList()) {
      StripeWriter stripe = writers.get(block.getStripeIndex());
      gone.addAll(join(transaction, row, block, data.get(block), stripe));
      dataBytes += block.getLengthBytes();
    }
    for (StripeRow stripe : old) {
      gone.addAll(blocks.release(transaction, stripe.getId(), StripeManager.ownIndices(stripe)));
      transaction.delete(Tables.STRIPE, Tables.stripe(stripe.getId()));
    }
    Set<Long> stripes = new TreeSet<>();
    for (StripeWriter writer : writers.values()) {
      StripeRow written = writer.write();
      stripes.add(written.getId());
    }
    return new Written(gone, stripes, dataBytes, row.getToCode());
  }

  /**
   * The stripes that are rewritten, as the attempt read them: all their live data is in the row.
   */
  private static List<StripeRow> oldStripes(Transaction transaction, TransitionRow row)
      throws IOException {
    List<StripeRow> stripes = new ArrayList<>();
    for (TransitionStripeProto planned : row.getStripesList()) {
      stripes.add(
          transaction
              .get(Tables.STRIPE, Tables.stripe(planned.getStripeId()))
              .filter(s -> s.getGeneration() == planned.getGeneration())
              .filter(s -> s.getTransitionId() == row.getId())
              .orElseThrow(
                  () ->
                      new RefusedException(
                          "stripe %d changed while it was rewritten"
                              .formatted(planned.getStripeId()))));
    }
    return stripes;
  }

  private static boolean isAsPlanned(
      TransitionRow row, TransitionBlockProto block, BlockRow known) {
    boolean mine =
        row.getKind() == TransitionKindProto.REWRITE
            ? known.getBlockId() == block.getBlockId()
                && Lifecycle.stripes(row).contains(known.getStripeId())
            : EncodeAttempts.isEncodable(known, block, row.getId());
    return mine
        && known.getGenerationStamp() == block.getGenerationStamp()
        && known.getLengthBytes() == block.getLengthBytes();
  }

  private Map<Integer, StripeWriter> writers(
      Transaction transaction, TransitionRow row, ErasureCode code, long firstStripeId) {
    Map<Integer, StripeWriter> writers = new TreeMap<>();
    boolean grouped = !row.getSingle() && Proposals.groupSize(code) > 1;
    for (TransitionBlockProto block : row.getBlocksList()) {
      int slot = block.getStripeIndex();
      if (!writers.containsKey(slot)) {
        StripeWriter writer =
            new StripeWriter(transaction, cluster, row, firstStripeId + slot, clock.millis());
        writers.put(slot, grouped ? writer.group(firstStripeId, slot) : writer);
      }
    }
    return writers;
  }

  /** All blocks as the attempt read them, each still where it is to stay. */
  private Map<TransitionBlockProto, BlockRow> unchanged(Transaction transaction, TransitionRow row)
      throws IOException {
    Map<TransitionBlockProto, BlockRow> data = new java.util.HashMap<>();
    for (TransitionBlockProto block : row.getBlocksList()) {
      Optional<BlockRow> known =
          transaction
              .get(Tables.BLOCK, Tables.block(block.getOwnerId(), block.getOwnerIndex()))
              .filter(b -> isAsPlanned(row, block, b));
      if (known.isEmpty()) {
        throw new RefusedException(
            "block %d of file %d was deleted or changed while it was encoded"
                .formatted(block.getBlockId(), block.getOwnerId()));
      }
      if (!isCopied(row, block)
          && !MemberRows.liveStorages(transaction, cluster, block.getOwnerId(), known.get())
              .contains(block.getKeepStorageUuid())) {
        throw new RefusedException(
            "the replica of block %d on disk %s, which was to stay, is gone"
                .formatted(block.getBlockId(), block.getKeepStorageUuid()));
      }
      data.put(block, known.get());
    }
    for (TransitionOutputProto output : row.getOutputsList()) {
      if (!cluster.isLive(output.getStorageUuid())) {
        throw new RefusedException(
            "disk %s, to which block %d was written, is out of service"
                .formatted(output.getStorageUuid(), output.getBlockId()));
      }
    }
    return data;
  }

  private static boolean isCopied(TransitionRow row, TransitionBlockProto block) {
    return row.getOutputsList().stream().anyMatch(o -> o.getBlockId() == block.getBlockId());
  }

  private List<Invalidation> join(
      Transaction transaction,
      TransitionRow row,
      TransitionBlockProto block,
      BlockRow known,
      StripeWriter stripe)
      throws IOException {
    BlockRow member =
        known.toBuilder()
            .setStripeId(stripe.id())
            .setStripePosition(block.getPosition())
            .setReplication(1)
            .clearTransitionId()
            .build();
    transaction.put(Tables.BLOCK, Tables.block(block.getOwnerId(), block.getOwnerIndex()), member);
    stripe.addMember(member, block.getOwnerId(), block.getOwnerIndex(), false);
    if (isCopied(row, block)) {
      MemberRows.addReplica(
          transaction,
          cluster,
          block.getOwnerId(),
          block.getBlockId(),
          block.getGenerationStamp(),
          block.getLengthBytes(),
          block.getKeepStorageUuid());
    }
    return blocks.keepOnly(transaction, block.getOwnerId(), member, block.getKeepStorageUuid());
  }
}
