package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.plan.ConversionMapper;
import io.ebbfs.namenode.tasks.plan.NotPlannableException;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Publishes a SUBTRACT: new parities, which do not cover the tombstones any more, replace the old
 * parities of the stripe, and the tombstones are deleted. The live data and its rows do not change,
 * so no file is locked. The stripe keeps its id, and its generation rises.
 */
final class SubtractCommitWriter implements CommitWriter {
  private final CodeRegistry codes;
  private final BlockService blocks;
  private final ClusterView cluster;

  SubtractCommitWriter(CodeRegistry codes, BlockService blocks, ClusterView cluster) {
    this.codes = codes;
    this.blocks = blocks;
    this.cluster = cluster;
  }

  @Override
  public Locks locks(Transaction transaction, TransitionRow row) {
    return new Locks(Set.of(), TransitionLifecycle.stripes(row));
  }

  @Override
  public Written write(Transaction transaction, TransitionRow row, long firstStripeId)
      throws IOException {
    StripeState stripe = unchanged(transaction, row);
    Conversion subtraction;
    try {
      subtraction = ConversionMapper.subtraction(codes, stripe.row());
    } catch (NotPlannableException e) {
      throw new CommitRefusedException(e.getMessage());
    }
    return publish(transaction, stripe, subtraction, row.getOutputsList());
  }

  /**
   * Replaces the parities of a stripe, and deletes what the stripe owns and does not keep.
   *
   * @param parities what the attempt has written
   */
  Written publish(
      Transaction transaction,
      StripeState stripe,
      Conversion subtraction,
      List<TransitionOutputProto> parities)
      throws IOException {
    requireProtected(stripe, subtraction, parities);
    List<Long> dropped =
        subtraction.dropped().stream()
            .map(BlockRef::position)
            .filter(position -> stripe.members().get(position).getOwnerId() == stripe.id())
            .map(position -> (long) position)
            .toList();
    List<Invalidation> gone = blocks.release(transaction, stripe.id(), dropped);
    StripeRowWriter writer = StripeRowWriter.next(transaction, cluster, stripe.row());
    long dataBytes = 0;
    for (Conversion.Kept block : subtraction.kept()) {
      StripeMemberProto member = stripe.members().get(block.before().position());
      writer.keep(member);
      dataBytes += StripeState.isLiveData(stripe.code(), member) ? member.getLengthBytes() : 0;
    }
    for (TransitionOutputProto parity : parities) {
      writer.addParity(parity);
    }
    writer.write();
    return new Written(gone, Set.of(stripe.id()), dataBytes, stripe.code().name());
  }

  /** The stripe of the attempt, if it has not changed since the attempt was planned. */
  StripeState unchanged(Transaction transaction, TransitionRow row) throws IOException {
    return StripeState.read(
        transaction, codes, cluster, unchanged(transaction, row.getStripes(0), row));
  }

  private static StripeRow unchanged(
      Transaction transaction, TransitionStripeProto planned, TransitionRow row)
      throws IOException {
    return transaction
        .get(Tables.STRIPE, Tables.stripe(planned.getStripeId()))
        .filter(s -> s.getGeneration() == planned.getGeneration())
        .filter(s -> s.getTransitionId() == row.getId())
        .orElseThrow(
            () ->
                new CommitRefusedException(
                    "stripe %d changed while its parities were computed"
                        .formatted(planned.getStripeId())));
  }

  /** Refuses a stripe whose members do not all live: the old parities may be what it needs. */
  private void requireProtected(
      StripeState stripe, Conversion subtraction, List<TransitionOutputProto> parities)
      throws CommitRefusedException {
    PublicationGuard guard = new PublicationGuard(cluster);
    guard.requireOutputs(parities);
    Map<Integer, List<String>> storages = new TreeMap<>();
    for (Conversion.Kept block : subtraction.kept()) {
      BlockRef ref = block.before();
      List<String> disks = stripe.locations().get(ref.position());
      guard.requireAnyHeard(stripe.members().get(ref.position()).getBlockId(), disks);
      storages.put(ref.position(), disks);
    }
    for (TransitionOutputProto parity : parities) {
      storages.put(parity.getPosition(), List.of(parity.getStorageUuid()));
    }
    guard.requireSurvivesAnyServer(stripe.code(), storages);
  }
}
