package io.ebbfs.namespace.transition;

import io.ebbfs.coding.CannotPlanException;
import io.ebbfs.coding.CombinePlan;
import io.ebbfs.coding.Planner;
import io.ebbfs.coding.ReadCost;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.placement.Placement;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.MemberRows;
import io.ebbfs.namespace.stripe.SourceCosts;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.namespace.transition.AttemptPlan.Output;
import io.ebbfs.namespace.transition.AttemptPlan.Result;
import io.ebbfs.namespace.transition.AttemptPlan.Source;
import io.ebbfs.namespace.transition.AttemptPlan.Step;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans how lost blocks of a stripe are rebuilt.
 *
 * <p>A rebuilt block keeps its id and generation stamp: its bytes are those of the lost replica. If
 * the lost one comes back with its server, both are right, and one is removed as surplus. A rebuilt
 * one that is reported before its commit counts as corrupt until then: its checks are still to
 * come.
 */
final class RepairAttempts {
  private final ClusterView cluster;
  private final DiskChoice disks;

  RepairAttempts(ClusterView cluster, DiskChoice disks) {
    this.cluster = cluster;
    this.disks = disks;
  }

  AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    StripeState stripe = StripeAttempts.stripe(transaction, cluster, row);
    Set<Integer> lost = stripe.lost();
    if (lost.isEmpty()) {
      throw NotPlannableException.ever("every block of the stripe is live again");
    }
    Set<Integer> rebuildable = rebuildable(stripe, lost);
    List<CombinePlan> plans = plans(stripe, lost, rebuildable);
    Map<Integer, String> targets = place(transaction, stripe, lost, rebuildable);
    List<Step> steps = new ArrayList<>();
    for (CombinePlan plan : plans) {
      steps.add(step(stripe, plan, targets));
    }
    TransitionRow updated = StripeAttempts.planned(row, stripe, rebuildable);
    return new AttemptPlan(updated, steps, List.of(result(stripe, lost, rebuildable, plans)));
  }

  /** Those of the lost positions that follow from what is left; mostly all of them. */
  static Set<Integer> rebuildable(StripeState stripe, Set<Integer> lost) {
    if (stripe.code().decodes(lost)) {
      return lost;
    }
    Set<Integer> rebuildable = new TreeSet<>();
    for (int position : lost) {
      try {
        Planner.readPlan(stripe.code(), stripe.occupied(), lost, position, ReadCost.UNIFORM);
        rebuildable.add(position);
      } catch (CannotPlanException e) {
        continue; // this one is not determined; others may be
      }
    }
    return rebuildable;
  }

  private List<CombinePlan> plans(StripeState stripe, Set<Integer> lost, Set<Integer> rebuildable)
      throws NotPlannableException {
    Set<Integer> unavailable = new TreeSet<>(lost);
    unavailable.removeAll(rebuildable);
    if (rebuildable.isEmpty()) {
      throw NotPlannableException.now(unrecoverable(stripe, lost));
    }
    try {
      SourceCosts costs = SourceCosts.ofRepairs(cluster);
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

  static String unrecoverable(StripeState stripe, Set<Integer> lost) {
    return "stripe %d in %s does not decode without its lost positions %s: bring a server or disk back that holds one of them"
        .formatted(stripe.id(), stripe.code(), lost);
  }

  private Map<Integer, String> place(
      Transaction transaction, StripeState stripe, Set<Integer> lost, Set<Integer> rebuildable)
      throws IOException, NotPlannableException {
    // Also those that it will merge with, so that it still can afterwards.
    Siblings siblings = Siblings.read(transaction, cluster, stripe);
    List<Set<Integer>> missing = new ArrayList<>(Collections.nCopies(siblings.slots(), Set.of()));
    missing.set(siblings.slot(), rebuildable);
    long unit = stripe.row().getUnitLengthBytes();
    Placement placement =
        disks.placeMissing(
            stripe.code(),
            disks.placeOf(siblings),
            missing,
            unit,
            serversWithBadReplicas(transaction, stripe, lost),
            false);
    Map<Integer, String> targets = new HashMap<>();
    rebuildable.forEach(p -> targets.put(p, placement.disk(siblings.slot(), p).storageUuid()));
    return targets;
  }

  /** A server has one replica of a block at most: one with a corrupt replica takes no new one. */
  private Set<String> serversWithBadReplicas(
      Transaction transaction, StripeState stripe, Set<Integer> lost) throws IOException {
    Set<String> servers = new HashSet<>();
    for (int position : lost) {
      StripeMemberProto member = stripe.members().get(position);
      for (String storage :
          MemberRows.allStorages(transaction, member.getOwnerId(), member.getBlockId())) {
        if (cluster.isLive(storage)) {
          cluster.disk(storage).ifPresent(disk -> servers.add(disk.serverUuid()));
        }
      }
    }
    return servers;
  }

  private static Result result(
      StripeState stripe, Set<Integer> lost, Set<Integer> rebuildable, List<CombinePlan> plans) {
    SortedMap<Integer, Source> stored = new TreeMap<>();
    for (int position : stripe.occupied()) {
      if (!lost.contains(position)) {
        stored.put(position, ConversionAttempts.source(stripe, position));
      }
    }
    Set<Integer> staysLost = new TreeSet<>(lost);
    staysLost.removeAll(rebuildable);
    Set<Integer> read = new TreeSet<>();
    plans.forEach(plan -> read.addAll(plan.inputPositions()));
    return new Result(0, "stripe " + stripe.id(), stripe.code(), stored, staysLost, read);
  }

  private static Step step(StripeState stripe, CombinePlan plan, Map<Integer, String> targets) {
    List<Source> sources = new ArrayList<>();
    for (int position : plan.inputPositions()) {
      Source source = ConversionAttempts.source(stripe, position);
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
    return new Step(sources, outputs, plan.coefficients());
  }
}
