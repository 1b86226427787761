package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.search.RePlacementPlanner;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.SilentServers;
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
 * stripe is never placed worse than before. A member on a drained server that does not answer is
 * rebuilt from other members instead.
 */
public final class MoveAttemptPlanner {
  /** After so many attempts a server that is drained counts as one that does not answer. */
  private static final int ATTEMPTS_TO_COPY = 2;

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
    if (row.hasLevelTo()) {
      return level(transaction, row, stripe);
    }
    RePlacementPlanner.Moves moves =
        disks.planMoves(MergeGroup.read(transaction, codes, cluster, stripe));
    if (moves.targets().isEmpty()) {
      throw NotPlannableException.ever("no move would improve the placement any more");
    }
    SortedMap<Integer, String> rebuilt = toRebuild(row, stripe, moves);
    if (!rebuilt.isEmpty()) {
      return rebuild(transaction, row, stripe, rebuilt);
    }
    List<Step> steps = new ArrayList<>();
    for (Map.Entry<Integer, PlacementDisk> move : moves.targets().entrySet()) {
      steps.add(copy(transaction, stripe, move.getKey(), move.getValue()));
    }
    TransitionRow updated = StripeAttemptRows.planned(row, stripe, moves.targets().keySet());
    return new AttemptPlan(updated, steps, List.of(result(stripe)));
  }

  /** One member goes to the disk that the transition names, if it still is as safe there. */
  private AttemptPlan level(Transaction transaction, TransitionRow row, StripeState stripe)
      throws IOException, NotPlannableException {
    int position = row.getStripes(0).getPositions(0);
    MergeGroup group = MergeGroup.read(transaction, codes, cluster, stripe);
    if (!stripe.occupied().contains(position)
        || !disks.staysAsSafe(group, position, row.getLevelTo())) {
      throw NotPlannableException.ever(
          "the block would not be as safe on disk %s any more".formatted(row.getLevelTo()));
    }
    Step step = copy(transaction, stripe, position, disks.disk(row.getLevelTo()));
    return new AttemptPlan(
        StripeAttemptRows.planned(row, stripe, List.of(position)),
        List.of(step),
        List.of(result(stripe)));
  }

  /** The positions that cannot be copied but rebuilt, and their targets. */
  private SortedMap<Integer, String> toRebuild(
      TransitionRow row, StripeState stripe, RePlacementPlanner.Moves moves) {
    SilentServers silent = new SilentServers(cluster);
    Set<Integer> leaving = stripe.leaving(cluster);
    SortedMap<Integer, String> targets = new TreeMap<>();
    moves
        .targets()
        .forEach(
            (position, disk) -> {
              boolean answers =
                  row.getAttempt() < ATTEMPTS_TO_COPY
                      && stripe.locations().get(position).stream().noneMatch(silent::hasDisk);
              if (leaving.contains(position) && !answers) {
                targets.put(position, disk.storageUuid());
              }
            });
    return stripe.code().decodes(targets.keySet()) ? targets : new TreeMap<>();
  }

  private AttemptPlan rebuild(
      Transaction transaction,
      TransitionRow row,
      StripeState whole,
      SortedMap<Integer, String> targets)
      throws IOException, NotPlannableException {
    Set<Integer> positions = targets.keySet();
    for (Map.Entry<Integer, String> target : targets.entrySet()) {
      requireNoReplica(transaction, whole.members().get(target.getKey()), target.getValue());
    }
    StripeState stripe = whole.without(positions);
    List<CombinePlan> plans = RepairAttemptPlanner.plans(cluster, stripe, positions, positions);
    return new AttemptPlan(
        StripeAttemptRows.planned(row, stripe, positions),
        plans.stream().map(plan -> RepairAttemptPlanner.step(stripe, plan, targets)).toList(),
        List.of(RepairAttemptPlanner.result(stripe, positions, positions, plans)));
  }

  private Step copy(Transaction transaction, StripeState stripe, int position, PlacementDisk target)
      throws IOException, NotPlannableException {
    StripeMemberProto member = stripe.members().get(position);
    requireNoReplica(transaction, member, target.storageUuid());
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

  /** A server can hold only one replica of a block id. */
  private void requireNoReplica(
      Transaction transaction, StripeMemberProto member, String targetStorageUuid)
      throws IOException, NotPlannableException {
    Set<String> target = cluster.serversOf(List.of(targetStorageUuid));
    List<String> storages =
        BlockRows.allStorages(transaction, member.getOwnerId(), member.getBlockId());
    if (cluster.serversOf(storages).stream().anyMatch(target::contains)) {
      throw NotPlannableException.now(
          "server %s has a replica of block %d already, which must go first"
              .formatted(String.join(", ", target), member.getBlockId()));
    }
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
