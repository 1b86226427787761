package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.plan.EncodeAttemptPlanner;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Publishes the stripes that an ENCODE or a REWRITE has written: blocks of files become members of
 * new stripes and lose all replicas but one. The old stripes of a REWRITE are deleted.
 */
final class EncodeCommitWriter implements CommitWriter {
  private final CodeRegistry codes;
  private final BlockService blocks;
  private final ClusterView cluster;
  private final Clock clock;

  EncodeCommitWriter(CodeRegistry codes, BlockService blocks, ClusterView cluster, Clock clock) {
    this.codes = codes;
    this.blocks = blocks;
    this.cluster = cluster;
    this.clock = clock;
  }

  @Override
  public Locks locks(Transaction transaction, TransitionRow row) {
    return new Locks(TransitionLifecycle.files(row), TransitionLifecycle.stripes(row));
  }

  @Override
  public Written write(Transaction transaction, TransitionRow row, long firstStripeId)
      throws IOException {
    List<StripeRow> old = oldStripes(transaction, row);
    Map<TransitionBlockProto, BlockRow> data = unchanged(transaction, row);
    ErasureCode code = codes.byName(row.getToCode());
    Map<Integer, StripeRowWriter> writers = writers(transaction, row, code, firstStripeId);
    List<Invalidation> gone = new ArrayList<>();
    for (TransitionOutputProto output : row.getOutputsList()) {
      if (code.position(output.getPosition()).isParity()) {
        writers.get(output.getStripeIndex()).addParity(output);
      }
    }
    long dataBytes = 0;
    for (TransitionBlockProto block : row.getBlocksList()) {
      StripeRowWriter stripe = writers.get(block.getStripeIndex());
      gone.addAll(join(transaction, row, block, data.get(block), stripe));
      dataBytes += block.getLengthBytes();
    }
    for (StripeRow stripe : old) {
      gone.addAll(blocks.release(transaction, stripe.getId(), StripeManager.ownIndices(stripe)));
      transaction.delete(Tables.STRIPE, Tables.stripe(stripe.getId()));
    }
    Set<Long> stripes = new TreeSet<>();
    for (StripeRowWriter writer : writers.values()) {
      StripeRow written = writer.write();
      stripes.add(written.getId());
    }
    return new Written(gone, stripes, dataBytes, row.getToCode());
  }

  /** The stripes that a REWRITE replaces, if none has changed since the attempt was planned. */
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
                      new CommitRefusedException(
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
                && TransitionLifecycle.stripes(row).contains(known.getStripeId())
            : EncodeAttemptPlanner.isEncodable(known, block, row.getId());
    return mine
        && known.getGenerationStamp() == block.getGenerationStamp()
        && known.getLengthBytes() == block.getLengthBytes();
  }

  private Map<Integer, StripeRowWriter> writers(
      Transaction transaction, TransitionRow row, ErasureCode code, long firstStripeId) {
    Map<Integer, StripeRowWriter> writers = new TreeMap<>();
    int together = row.getSingle() ? 1 : codes.stripesPerGroup(code);
    for (TransitionBlockProto block : row.getBlocksList()) {
      int slot = block.getStripeIndex();
      if (!writers.containsKey(slot)) {
        StripeRowWriter writer =
            new StripeRowWriter(transaction, cluster, row, firstStripeId + slot, clock.millis());
        int groupSlot = slot % together;
        writers.put(
            slot,
            together > 1 ? writer.group(firstStripeId + slot - groupSlot, groupSlot) : writer);
      }
    }
    return writers;
  }

  /** The blocks to encode, if none has changed and each replica that stays is still there. */
  private Map<TransitionBlockProto, BlockRow> unchanged(Transaction transaction, TransitionRow row)
      throws IOException {
    PublicationGuard guard = new PublicationGuard(cluster);
    Map<TransitionBlockProto, BlockRow> data = new HashMap<>();
    for (TransitionBlockProto block : row.getBlocksList()) {
      Optional<BlockRow> known =
          transaction
              .get(Tables.BLOCK, Tables.block(block.getOwnerId(), block.getOwnerIndex()))
              .filter(b -> isAsPlanned(row, block, b));
      if (known.isEmpty()) {
        throw new CommitRefusedException(
            "block %d of file %d was deleted or changed while it was encoded"
                .formatted(block.getBlockId(), block.getOwnerId()));
      }
      if (!isCopied(row, block)
          && !BlockRows.liveStorages(transaction, cluster, block.getOwnerId(), known.get())
              .contains(block.getKeepStorageUuid())) {
        throw new CommitRefusedException(
            "the replica of block %d on disk %s, which was to stay, is gone"
                .formatted(block.getBlockId(), block.getKeepStorageUuid()));
      }
      guard.requireAnyHeard(block.getBlockId(), List.of(block.getKeepStorageUuid()));
      CommitWriter.requireNotLeaving(cluster, block.getBlockId(), block.getKeepStorageUuid());
      data.put(block, known.get());
    }
    guard.requireOutputs(row.getOutputsList());
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
      StripeRowWriter stripe)
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
      BlockRows.addReplica(
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
