package io.ebbfs.namespace.transition;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.Conversion;
import io.ebbfs.coding.ErasureCode;
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
 * Old stripes are replaced by new ones: what stays changes its stripe, new parities come, old ones
 * go.
 */
final class ConversionCommit implements Kind {
  private final BlockService blocks;
  private final ClusterView cluster;
  private final Clock clock;

  ConversionCommit(BlockService blocks, ClusterView cluster, Clock clock) {
    this.blocks = blocks;
    this.cluster = cluster;
    this.clock = clock;
  }

  @Override
  public Locks locks(Transaction transaction, TransitionRow row) throws IOException {
    Set<Long> files = new TreeSet<>();
    for (long stripeId : Lifecycle.stripes(row)) {
      transaction
          .get(Tables.STRIPE, Tables.stripe(stripeId))
          .ifPresent(stripe -> addFiles(stripe, files));
    }
    return new Locks(files, Lifecycle.stripes(row));
  }

  static void addFiles(StripeRow stripe, Set<Long> files) {
    for (StripeMemberProto member : stripe.getMembersList()) {
      if (member.getOwnerId() != stripe.getId()) {
        files.add(member.getOwnerId());
      }
    }
  }

  @Override
  public Written write(Transaction transaction, TransitionRow row, long firstStripeId)
      throws IOException {
    Map<Integer, StripeRow> sources = unchanged(transaction, row);
    checkOutputs(row);
    Conversion conversion = conversion(row, sources);
    Map<BlockRef, StripeMemberProto> kept = Conversions.keptMembers(conversion, sources);
    Map<Integer, StripeWriter> writers = writers(transaction, row, kept, conversion, firstStripeId);
    List<Invalidation> gone = new ArrayList<>();
    for (BlockRef dropped : conversion.dropped()) {
      StripeRow source = Conversions.source(sources, dropped);
      gone.addAll(blocks.release(transaction, source.getId(), List.of((long) dropped.position())));
    }
    long dataBytes = 0;
    for (Conversion.Kept block : conversion.kept()) {
      StripeRow source = Conversions.source(sources, block.before());
      StripeMemberProto member = kept.get(block.after());
      move(transaction, source, member, block.after(), writers.get(block.after().stripe()));
      if (conversion.to().position(block.after().position()).isData() && !member.getTombstone()) {
        dataBytes += member.getLengthBytes();
      }
    }
    for (TransitionOutputProto output : row.getOutputsList()) {
      writers.get(output.getStripeIndex()).addParity(output);
    }
    for (StripeRow source : sources.values()) {
      transaction.delete(Tables.STRIPE, Tables.stripe(source.getId()));
    }
    Set<Long> stripes = new TreeSet<>();
    for (StripeWriter writer : writers.values()) {
      writer.write();
      stripes.add(writer.id());
    }
    return new Written(gone, stripes, dataBytes, row.getToCode());
  }

  private static Conversion conversion(TransitionRow row, Map<Integer, StripeRow> sources)
      throws RefusedException {
    try {
      return Conversions.of(sources, Codes.byName(row.getToCode()));
    } catch (NotPlannableException e) {
      throw new RefusedException(e.getMessage());
    }
  }

  private Map<Integer, StripeRow> unchanged(Transaction transaction, TransitionRow row)
      throws IOException {
    List<StripeRow> sources = new ArrayList<>();
    for (TransitionStripeProto planned : row.getStripesList()) {
      Optional<StripeRow> stripe =
          transaction
              .get(Tables.STRIPE, Tables.stripe(planned.getStripeId()))
              .filter(s -> s.getGeneration() == planned.getGeneration())
              .filter(s -> s.getTransitionId() == row.getId());
      if (stripe.isEmpty()) {
        throw new RefusedException(
            "stripe %d changed while it was converted".formatted(planned.getStripeId()));
      }
      sources.add(stripe.get());
    }
    return Conversions.bySlot(sources, row.getToCode());
  }

  private void checkOutputs(TransitionRow row) throws RefusedException {
    for (TransitionOutputProto output : row.getOutputsList()) {
      if (!cluster.isLive(output.getStorageUuid())) {
        throw new RefusedException(
            "disk %s, to which block %d was written, is out of service"
                .formatted(output.getStorageUuid(), output.getBlockId()));
      }
    }
  }

  private Map<Integer, StripeWriter> writers(
      Transaction transaction,
      TransitionRow row,
      Map<BlockRef, StripeMemberProto> kept,
      Conversion conversion,
      long firstStripeId) {
    ErasureCode to = conversion.to();
    boolean grouped = Proposals.groupSize(to) > 1;
    Map<Integer, StripeWriter> writers = new TreeMap<>();
    for (BlockRef ref : kept.keySet()) {
      if (!writers.containsKey(ref.stripe())) {
        StripeWriter writer =
            new StripeWriter(
                transaction, cluster, row, firstStripeId + ref.stripe(), clock.millis());
        writers.put(ref.stripe(), grouped ? writer.group(firstStripeId, ref.stripe()) : writer);
      }
    }
    return writers;
  }

  /** A member changes its stripe; what the old stripe owned, the new one owns. */
  private static void move(
      Transaction transaction,
      StripeRow source,
      StripeMemberProto member,
      BlockRef after,
      StripeWriter stripe)
      throws IOException {
    BlockRow known =
        transaction
            .get(Tables.BLOCK, Tables.block(member.getOwnerId(), member.getOwnerIndex()))
            .filter(b -> b.getBlockId() == member.getBlockId())
            .orElseThrow(
                () ->
                    new IOException(
                        "stripe %d has member %d at position %d, whose row is missing: run the metadata check"
                            .formatted(source.getId(), member.getBlockId(), member.getPosition())));
    BlockRow moved =
        known.toBuilder().setStripeId(stripe.id()).setStripePosition(after.position()).build();
    if (member.getOwnerId() == source.getId()) {
      MemberRows.changeOwner(
          transaction,
          source.getId(),
          member.getOwnerIndex(),
          stripe.id(),
          after.position(),
          moved);
      stripe.addMember(moved, stripe.id(), after.position(), member.getTombstone());
    } else {
      transaction.put(
          Tables.BLOCK, Tables.block(member.getOwnerId(), member.getOwnerIndex()), moved);
      stripe.addMember(moved, member.getOwnerId(), member.getOwnerIndex(), false);
    }
  }
}
