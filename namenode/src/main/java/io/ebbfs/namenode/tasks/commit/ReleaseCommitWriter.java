package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.plan.ConversionMapper;
import io.ebbfs.namenode.tasks.plan.LeavingBlocks;
import io.ebbfs.namenode.tasks.plan.LeavingBlocks.Leaving;
import io.ebbfs.namenode.tasks.plan.NotPlannableException;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Publishes a RELEASE: the blocks that leave become replicas of their files, with the copies that
 * the attempt has written, and the parities of the stripe are replaced by parities that do not
 * cover them. A stripe without live data is deleted. The row of each file notes the time, from
 * which a policy counts anew until it encodes the file.
 */
final class ReleaseCommitWriter implements CommitWriter {
  private final CodeRegistry codes;
  private final BlockService blocks;
  private final ClusterView cluster;
  private final SubtractCommitWriter subtractions;
  private final Clock clock;

  ReleaseCommitWriter(
      CodeRegistry codes,
      BlockService blocks,
      ClusterView cluster,
      SubtractCommitWriter subtractions,
      Clock clock) {
    this.codes = codes;
    this.blocks = blocks;
    this.cluster = cluster;
    this.subtractions = subtractions;
    this.clock = clock;
  }

  @Override
  public Locks locks(Transaction transaction, TransitionRow row) throws IOException {
    Set<Long> files = new TreeSet<>();
    Optional<StripeRow> stripe =
        transaction.get(Tables.STRIPE, Tables.stripe(row.getStripes(0).getStripeId()));
    if (stripe.isPresent()) {
      for (int position : row.getStripes(0).getPositionsList()) {
        ConversionMapper.member(stripe.get(), position)
            .filter(member -> member.getOwnerId() != stripe.get().getId())
            .ifPresent(member -> files.add(member.getOwnerId()));
      }
    }
    return new Locks(files, TransitionLifecycle.stripes(row));
  }

  @Override
  public Written write(Transaction transaction, TransitionRow row, long firstStripeId)
      throws IOException {
    StripeState stripe = subtractions.unchanged(transaction, row);
    SortedMap<Integer, Leaving> leaving = LeavingBlocks.find(transaction, row, stripe);
    if (!leaving.keySet().equals(new TreeSet<>(row.getStripes(0).getPositionsList()))) {
      throw new CommitRefusedException(
          "a file with blocks in stripe %d was deleted meanwhile".formatted(stripe.id()));
    }
    requireReplicas(row, stripe, leaving);
    Written published =
        LeavingBlocks.endStripe(leaving.keySet(), stripe)
            ? end(transaction, stripe)
            : shrink(transaction, row, stripe, leaving.keySet());
    List<Invalidation> gone = new ArrayList<>(published.gone());
    long dataBytes = 0;
    for (Leaving block : leaving.values()) {
      gone.addAll(leave(transaction, block, outputs(row, block.member().getPosition())));
      dataBytes += block.member().getLengthBytes();
    }
    noteTime(transaction, leaving);
    return new Written(gone, published.stripes(), dataBytes, published.code());
  }

  private static List<TransitionOutputProto> outputs(TransitionRow row, int position) {
    return row.getOutputsList().stream().filter(o -> o.getPosition() == position).toList();
  }

  /** Refuses a block that has too few replicas without its parities. */
  private void requireReplicas(
      TransitionRow row, StripeState stripe, SortedMap<Integer, Leaving> leaving)
      throws CommitRefusedException {
    PublicationGuard guard = new PublicationGuard(cluster);
    for (Map.Entry<Integer, Leaving> entry : leaving.entrySet()) {
      StripeMemberProto member = entry.getValue().member();
      Optional<String> objection = LeavingBlocks.objection(entry.getValue().file().value());
      if (objection.isPresent()) {
        throw new CommitRefusedException(objection.get());
      }
      List<TransitionOutputProto> copies = outputs(row, entry.getKey());
      guard.requireOutputs(copies);
      List<String> disks = new ArrayList<>(stripe.locations().get(entry.getKey()));
      copies.forEach(copy -> disks.add(copy.getStorageUuid()));
      guard.requireServers(member.getBlockId(), disks, entry.getValue().fewestReplicas());
    }
  }

  private Written end(Transaction transaction, StripeState stripe) throws IOException {
    List<Invalidation> gone =
        blocks.release(transaction, stripe.id(), StripeManager.ownIndices(stripe.row()));
    transaction.delete(Tables.STRIPE, Tables.stripe(stripe.id()));
    return new Written(gone, Set.of(), 0, stripe.code().name());
  }

  private Written shrink(
      Transaction transaction, TransitionRow row, StripeState stripe, Set<Integer> leaving)
      throws IOException {
    Conversion subtraction;
    try {
      subtraction = ConversionMapper.subtraction(codes, stripe.row(), leaving);
    } catch (NotPlannableException e) {
      throw new CommitRefusedException(e.getMessage());
    }
    List<TransitionOutputProto> parities =
        row.getOutputsList().stream().filter(o -> !leaving.contains(o.getPosition())).toList();
    return subtractions.publish(transaction, stripe, subtraction, parities);
  }

  /** Makes a member a block of its file alone, with its copies as replicas. */
  private List<Invalidation> leave(
      Transaction transaction, Leaving block, List<TransitionOutputProto> copies)
      throws IOException {
    StripeMemberProto member = block.member();
    Key key = Tables.block(member.getOwnerId(), member.getOwnerIndex());
    BlockRow known =
        transaction
            .get(Tables.BLOCK, key)
            .filter(b -> b.getBlockId() == member.getBlockId())
            .orElseThrow(
                () ->
                    new CommitRefusedException(
                        "block " + member.getBlockId() + " is not there any more"));
    transaction.put(
        Tables.BLOCK,
        key,
        known.toBuilder().clearStripeId().clearStripePosition().clearTransitionId().build());
    for (TransitionOutputProto copy : copies) {
      BlockRows.addReplica(
          transaction,
          cluster,
          member.getOwnerId(),
          copy.getBlockId(),
          copy.getGenerationStamp(),
          copy.getLengthBytes(),
          copy.getStorageUuid());
    }
    return blocks.setReplication(
        transaction, member.getOwnerId(), member.getOwnerIndex(), block.replication());
  }

  private void noteTime(Transaction transaction, SortedMap<Integer, Leaving> leaving) {
    Map<Long, Leaving> byFile = new TreeMap<>();
    leaving.values().forEach(block -> byFile.put(block.member().getOwnerId(), block));
    for (Leaving block : byFile.values()) {
      transaction.put(
          Tables.INODE,
          block.file().key(),
          block.file().value().toBuilder().setReleasedMillis(clock.millis()).build());
    }
  }
}
