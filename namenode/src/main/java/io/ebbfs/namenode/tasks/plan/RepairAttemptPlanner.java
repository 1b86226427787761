package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.CannotPlanException;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.ReadCostEstimator;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Result;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans one attempt that rebuilds lost blocks of a stripe.
 *
 * <p>A rebuilt block keeps its id and generation stamp, because its bytes are those of the lost
 * replica. If the lost replica comes back with its server, both are valid, and one is deleted as an
 * excess replica. A rebuilt replica that is reported before the commit counts as corrupt until the
 * commit, because it is not verified yet.
 */
public final class RepairAttemptPlanner {
  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final TargetDiskChooser disks;

  public RepairAttemptPlanner(CodeRegistry codes, ClusterView cluster, TargetDiskChooser disks) {
    this.codes = codes;
    this.cluster = cluster;
    this.disks = disks;
  }

  public AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    StripeState stripe = StripeAttemptRows.stripe(transaction, codes, cluster, row);
    Set<Integer> lost = stripe.lost();
    if (lost.isEmpty()) {
      throw NotPlannableException.ever("every block of the stripe is live again");
    }
    Map<Integer, Set<String>> barred = serversWithBadReplicas(transaction, stripe, lost);
    Set<Integer> rebuildable = placeable(rebuildable(stripe, lost), barred);
    List<CombinePlan> plans = plans(cluster, stripe, lost, rebuildable);
    Map<Integer, String> targets =
        place(transaction, stripe, rebuildable, union(rebuildable, barred));
    List<Step> steps = new ArrayList<>();
    for (CombinePlan plan : plans) {
      steps.add(step(stripe, plan, targets));
    }
    TransitionRow updated = StripeAttemptRows.planned(row, stripe, rebuildable);
    return new AttemptPlan(updated, steps, List.of(result(stripe, lost, rebuildable, plans)));
  }

  /** The lost positions that can be rebuilt from the live blocks; in most cases all of them. */
  public static Set<Integer> rebuildable(StripeState stripe, Set<Integer> lost) {
    if (stripe.code().decodes(lost)) {
      return lost;
    }
    Set<Integer> rebuildable = new TreeSet<>();
    for (int position : lost) {
      try {
        Planner.readPlan(stripe.code(), stripe.occupied(), lost, position, ReadCost.UNIFORM);
        rebuildable.add(position);
      } catch (CannotPlanException e) {
        continue; // this position cannot be rebuilt; another one may be
      }
    }
    return rebuildable;
  }

  static List<CombinePlan> plans(
      ClusterView cluster, StripeState stripe, Set<Integer> lost, Set<Integer> rebuildable)
      throws NotPlannableException {
    Set<Integer> unavailable = new TreeSet<>(lost);
    unavailable.removeAll(rebuildable);
    if (rebuildable.isEmpty()) {
      throw NotPlannableException.now(unrecoverable(stripe, lost));
    }
    try {
      ReadCostEstimator costs = ReadCostEstimator.ofRepairs(cluster);
      return Planner.repair(
          stripe.code(),
          stripe.occupied(),
          rebuildable,
          unavailable,
          position -> costs.of(stripe.locations().getOrDefault(position, List.of())));
    } catch (CannotPlanException e) {
      throw NotPlannableException.now(e.getMessage());
    }
  }

  /** Says that nothing can be rebuilt, and what would help. */
  public static String unrecoverable(StripeState stripe, Set<Integer> lost) {
    return "stripe %d in %s does not decode without its lost positions %s: bring a server or disk back that holds one of them"
        .formatted(stripe.id(), stripe.code(), lost);
  }

  private Map<Integer, String> place(
      Transaction transaction,
      StripeState stripe,
      Set<Integer> rebuildable,
      Set<String> excludedServerUuids)
      throws IOException, NotPlannableException {
    // The places of the whole group count, so that the stripes can still merge later.
    MergeGroup group = MergeGroup.read(transaction, codes, cluster, stripe);
    List<Set<Integer>> missing = new ArrayList<>(Collections.nCopies(group.slots(), Set.of()));
    missing.set(group.slot(), rebuildable);
    long unit = stripe.row().getUnitLengthBytes();
    Placement placement =
        disks.placeMissing(
            stripe.code(), disks.placeOf(group), missing, unit, excludedServerUuids, false);
    Map<Integer, String> targets = new HashMap<>();
    rebuildable.forEach(p -> targets.put(p, placement.disk(group.slot(), p).storageUuid()));
    return targets;
  }

  /**
   * The positions that are rebuilt now. Failed attempts leave bad replicas, which stay until their
   * block is live again. If every server has one of some position, fewer positions are rebuilt:
   * their bad replicas then go, and the other positions find a server the next time. If every
   * server has one of the same position, that position waits until one of them is deleted.
   */
  private Set<Integer> placeable(Set<Integer> rebuildable, Map<Integer, Set<String>> barred) {
    Set<String> live = new HashSet<>();
    cluster.serversForBlocks().forEach(server -> live.add(server.uuid()));
    Set<Integer> positions = new TreeSet<>(rebuildable);
    while (positions.size() > 1 && union(positions, barred).containsAll(live)) {
      positions.remove(
          Collections.max(
              positions, Comparator.comparing((Integer position) -> barred.get(position).size())));
    }
    return positions;
  }

  private static Set<String> union(Set<Integer> positions, Map<Integer, Set<String>> barred) {
    Set<String> servers = new HashSet<>();
    positions.forEach(position -> servers.addAll(barred.get(position)));
    return servers;
  }

  /**
   * By lost position: the servers with a corrupt replica of the block, which cannot take the
   * rebuilt block.
   */
  private Map<Integer, Set<String>> serversWithBadReplicas(
      Transaction transaction, StripeState stripe, Set<Integer> lost) throws IOException {
    Map<Integer, Set<String>> barred = new HashMap<>();
    for (int position : lost) {
      Set<String> servers = new HashSet<>();
      StripeMemberProto member = stripe.members().get(position);
      for (String storage :
          BlockRows.allStorages(transaction, member.getOwnerId(), member.getBlockId())) {
        if (cluster.isLive(storage)) {
          cluster.disk(storage).ifPresent(disk -> servers.add(disk.serverUuid()));
        }
      }
      barred.put(position, servers);
    }
    return barred;
  }

  static Result result(
      StripeState stripe, Set<Integer> lost, Set<Integer> rebuildable, List<CombinePlan> plans) {
    SortedMap<Integer, Source> stored = new TreeMap<>();
    for (int position : stripe.occupied()) {
      if (!lost.contains(position)) {
        stored.put(position, ConversionAttemptPlanner.source(stripe, position));
      }
    }
    Set<Integer> staysLost = new TreeSet<>(lost);
    staysLost.removeAll(rebuildable);
    Set<Integer> read = new TreeSet<>();
    plans.forEach(plan -> read.addAll(plan.inputPositions()));
    return new Result(0, "stripe " + stripe.id(), stripe.code(), stored, staysLost, read);
  }

  static Step step(StripeState stripe, CombinePlan plan, Map<Integer, String> targets) {
    List<Source> sources = new ArrayList<>();
    for (int position : plan.inputPositions()) {
      Source source = ConversionAttemptPlanner.source(stripe, position);
      if (source.storageUuids().isEmpty()) {
        // An earlier step rebuilds it.
        source =
            new Source(
                source.blockId(),
                source.generationStamp(),
                source.lengthBytes(),
                List.of(targets.get(position)));
      }
      sources.add(source);
    }
    List<Output> outputs = new ArrayList<>();
    for (int position : plan.outputPositions()) {
      StripeMemberProto member = stripe.members().get(position);
      outputs.add(
          new Output(
              0,
              position,
              member.getBlockId(),
              member.getGenerationStamp(),
              member.getLengthBytes(),
              targets.get(position)));
    }
    return new Step(stripe.code(), plan.inputs(), sources, outputs, plan.coefficients());
  }
}
