package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.search.RePlacementPlanner;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Result;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
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
 * Plans one attempt that moves members of a misplaced stripe to better disks. Each member is copied
 * with its id and generation stamp. One commit makes all copies the only replicas, so that the
 * stripe is never placed worse than before.
 */
public final class MoveAttemptPlanner {
  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final TargetDiskChooser disks;

  public MoveAttemptPlanner(CodeRegistry codes, ClusterView cluster, TargetDiskChooser disks) {
    this.codes = codes;
    this.cluster = cluster;
    this.disks = disks;
  }

  public AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    StripeState stripe = StripeAttemptRows.stripe(transaction, codes, cluster, row);
    if (!stripe.lost().isEmpty()) {
      throw NotPlannableException.ever("blocks of the stripe are lost: they are repaired first");
    }
    RePlacementPlanner.Moves moves =
        disks.planMoves(MergeGroup.read(transaction, codes, cluster, stripe));
    if (moves.targets().isEmpty()) {
      throw NotPlannableException.ever("no move would improve the placement any more");
    }
    List<Step> steps = new ArrayList<>();
    for (Map.Entry<Integer, PlacementDisk> move : moves.targets().entrySet()) {
      steps.add(copy(transaction, stripe, move.getKey(), move.getValue()));
    }
    TransitionRow updated = StripeAttemptRows.planned(row, stripe, moves.targets().keySet());
    return new AttemptPlan(updated, steps, List.of(result(stripe)));
  }

  private Step copy(Transaction transaction, StripeState stripe, int position, PlacementDisk target)
      throws IOException, NotPlannableException {
    StripeMemberProto member = stripe.members().get(position);
    for (String storage :
        BlockRows.allStorages(transaction, member.getOwnerId(), member.getBlockId())) {
      if (cluster
          .disk(storage)
          .filter(d -> d.serverUuid().equals(target.serverUuid()))
          .isPresent()) {
        // A server can hold only one replica of a block id.
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
        stripe.code(),
        List.of(new BlockRef(0, position)),
        List.of(ConversionAttemptPlanner.source(stripe, position)),
        List.of(output),
        new byte[] {1});
  }

  /** The stripe as it is stored: every copy is compared with the stored block. */
  private static Result result(StripeState stripe) {
    SortedMap<Integer, Source> stored = new TreeMap<>();
    for (int position : stripe.occupied()) {
      stored.put(position, ConversionAttemptPlanner.source(stripe, position));
    }
    return new Result(0, "stripe " + stripe.id(), stripe.code(), stored, Set.of(), Set.of());
  }
}
