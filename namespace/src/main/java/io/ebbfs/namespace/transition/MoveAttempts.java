package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.placement.Disk;
import io.ebbfs.namespace.placement.Mending;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.MemberRows;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.namespace.transition.AttemptPlan.Output;
import io.ebbfs.namespace.transition.AttemptPlan.Result;
import io.ebbfs.namespace.transition.AttemptPlan.Source;
import io.ebbfs.namespace.transition.AttemptPlan.Step;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Plans how blocks of a stripe get to better disks: one copy each, with the same id and generation
 * stamp. The commit makes all copies the only replicas at once, so the stripe is never placed worse
 * than before.
 */
final class MoveAttempts {
  private final ClusterView cluster;
  private final DiskChoice disks;

  MoveAttempts(ClusterView cluster, DiskChoice disks) {
    this.cluster = cluster;
    this.disks = disks;
  }

  AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    StripeState stripe = StripeAttempts.stripe(transaction, cluster, row);
    if (!stripe.lost().isEmpty()) {
      throw NotPlannableException.ever("blocks of the stripe are lost: they are repaired first");
    }
    Siblings siblings = Siblings.read(transaction, cluster, stripe);
    Mending.Found found = disks.lookAt(siblings);
    if (found.moves().isEmpty()) {
      throw NotPlannableException.ever("no move would improve the placement any more");
    }
    List<Step> steps = new ArrayList<>();
    for (Map.Entry<Integer, Disk> move : found.moves().entrySet()) {
      steps.add(copy(transaction, stripe, move.getKey(), move.getValue()));
    }
    TransitionRow updated = StripeAttempts.planned(row, stripe, found.moves().keySet());
    return new AttemptPlan(updated, steps, List.of(result(stripe)));
  }

  private Step copy(Transaction transaction, StripeState stripe, int position, Disk target)
      throws IOException, NotPlannableException {
    StripeMemberProto member = stripe.members().get(position);
    for (String storage :
        MemberRows.allStorages(transaction, member.getOwnerId(), member.getBlockId())) {
      if (cluster
          .disk(storage)
          .filter(d -> d.serverUuid().equals(target.serverUuid()))
          .isPresent()) {
        // A server tells its blocks apart by id: it cannot take a copy of one that it has.
        throw NotPlannableException.now(
            "server %s has a replica of block %d already, which must go first"
                .formatted(target.serverUuid(), member.getBlockId()));
      }
    }
    Output output =
        new Output(
            0,
            position,
            member.getBlockId(),
            member.getGenerationStamp(),
            member.getLengthBytes(),
            target.storageUuid());
    return new Step(
        List.of(ConversionAttempts.source(stripe, position)), List.of(output), new byte[] {1});
  }

  /** Every copy is compared with the block that is stored. */
  private static Result result(StripeState stripe) {
    SortedMap<Integer, Source> stored = new TreeMap<>();
    for (int position : stripe.occupied()) {
      stored.put(position, ConversionAttempts.source(stripe, position));
    }
    return new Result(0, "stripe " + stripe.id(), stripe.code(), stored, Set.of(), Set.of());
  }
}
