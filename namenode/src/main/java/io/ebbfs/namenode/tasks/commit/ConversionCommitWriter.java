package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.plan.ConversionMapper;
import io.ebbfs.namenode.tasks.plan.NotPlannableException;
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
 * Publishes a conversion (UPCODE or DOWNCODE): new stripes replace the old stripes. Data blocks and
 * the parities that both codes share move to the rows of the new stripes, the new parities are
 * added, and the other old parities are deleted.
 */
final class ConversionCommitWriter implements CommitWriter {
  private final CodeRegistry codes;
  private final BlockService blocks;
  private final ClusterView cluster;
  private final Clock clock;

  ConversionCommitWriter(
      CodeRegistry codes, BlockService blocks, ClusterView cluster, Clock clock) {
    this.codes = codes;
    this.blocks = blocks;
    this.cluster = cluster;
    this.clock = clock;
  }

  @Override
  public Locks locks(Transaction transaction, TransitionRow row) throws IOException {
    Set<Long> files = new TreeSet<>();
    for (long stripeId : TransitionLifecycle.stripes(row)) {
      transaction
          .get(Tables.STRIPE, Tables.stripe(stripeId))
          .ifPresent(stripe -> addFiles(stripe, files));
    }
    return new Locks(files, TransitionLifecycle.stripes(row));
  }

  private static void addFiles(StripeRow stripe, Set<Long> files) {
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
    Conversion conversion = conversion(row, sources);
    Map<BlockRef, StripeMemberProto> kept = ConversionMapper.keptMembers(conversion, sources);
    requireProtected(transaction, row, conversion, sources);
    Map<Integer, StripeRowWriter> writers =
        writers(transaction, row, kept, conversion, firstStripeId);
    List<Invalidation> gone = new ArrayList<>();
    for (BlockRef dropped : conversion.dropped()) {
      StripeRow source = ConversionMapper.source(sources, dropped);
      gone.addAll(blocks.release(transaction, source.getId(), List.of((long) dropped.position())));
    }
    long dataBytes = 0;
    for (Conversion.Kept block : conversion.kept()) {
      StripeRow source = ConversionMapper.source(sources, block.before());
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
    for (StripeRowWriter writer : writers.values()) {
      writer.write();
      stripes.add(writer.id());
    }
    return new Written(gone, stripes, dataBytes, row.getToCode());
  }

  /**
   * Refuses new stripes whose members do not all live. The parities that the conversion drops may
   * be what the data of a lost member needs.
   */
  private void requireProtected(
      Transaction transaction,
      TransitionRow row,
      Conversion conversion,
      Map<Integer, StripeRow> sources)
      throws IOException {
    PublicationGuard guard = new PublicationGuard(cluster);
    guard.requireOutputs(row.getOutputsList());
    Map<Integer, Map<Integer, List<String>>> storages = new TreeMap<>();
    for (TransitionOutputProto output : row.getOutputsList()) {
      storages
          .computeIfAbsent(output.getStripeIndex(), s -> new TreeMap<>())
          .put(output.getPosition(), List.of(output.getStorageUuid()));
    }
    Map<Integer, StripeState> states = new TreeMap<>();
    for (Map.Entry<Integer, StripeRow> source : sources.entrySet()) {
      states.put(source.getKey(), StripeState.read(transaction, codes, cluster, source.getValue()));
    }
    for (Conversion.Kept block : conversion.kept()) {
      StripeState before = ConversionMapper.source(states, block.before());
      int position = block.before().position();
      List<String> disks = before.locations().get(position);
      guard.requireAnyHeard(before.members().get(position).getBlockId(), disks);
      storages
          .computeIfAbsent(block.after().stripe(), s -> new TreeMap<>())
          .put(block.after().position(), disks);
    }
    for (Map<Integer, List<String>> stripe : storages.values()) {
      guard.requireSurvivesAnyServer(conversion.to(), stripe);
    }
  }

  private Conversion conversion(TransitionRow row, Map<Integer, StripeRow> sources)
      throws CommitRefusedException {
    try {
      return ConversionMapper.of(codes, sources, codes.byName(row.getToCode()));
    } catch (NotPlannableException e) {
      throw new CommitRefusedException(e.getMessage());
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
        throw new CommitRefusedException(
            "stripe %d changed while it was converted".formatted(planned.getStripeId()));
      }
      sources.add(stripe.get());
    }
    return ConversionMapper.bySlot(codes, sources, row.getToCode());
  }

  private Map<Integer, StripeRowWriter> writers(
      Transaction transaction,
      TransitionRow row,
      Map<BlockRef, StripeMemberProto> kept,
      Conversion conversion,
      long firstStripeId) {
    ErasureCode to = conversion.to();
    boolean grouped = codes.stripesPerGroup(to) > 1;
    Map<Integer, StripeRowWriter> writers = new TreeMap<>();
    for (BlockRef ref : kept.keySet()) {
      if (!writers.containsKey(ref.stripe())) {
        StripeRowWriter writer =
            new StripeRowWriter(
                transaction, cluster, row, firstStripeId + ref.stripe(), clock.millis());
        writers.put(ref.stripe(), grouped ? writer.group(firstStripeId, ref.stripe()) : writer);
      }
    }
    return writers;
  }

  /** Moves a member to its new stripe. The new stripe owns what the old stripe owned. */
  private static void move(
      Transaction transaction,
      StripeRow source,
      StripeMemberProto member,
      BlockRef after,
      StripeRowWriter stripe)
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
      BlockRows.changeOwner(
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
