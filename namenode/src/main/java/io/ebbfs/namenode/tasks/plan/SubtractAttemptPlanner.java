package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Result;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans one attempt that subtracts the tombstones of a stripe from its parities. Each new parity
 * goes to the disk of the parity that it replaces, so the placement of the stripe stays as good as
 * it was. If one of these disks is full, or its server is drained, the placement chooses disks for
 * all new parities.
 */
public final class SubtractAttemptPlanner {
  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final TargetDiskChooser disks;

  public SubtractAttemptPlanner(CodeRegistry codes, ClusterView cluster, TargetDiskChooser disks) {
    this.codes = codes;
    this.cluster = cluster;
    this.disks = disks;
  }

  public AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    StripeState stripe = StripeAttemptRows.stripe(transaction, codes, cluster, row);
    requireWhole(stripe);
    Subtraction subtraction =
        subtract(transaction, stripe, ConversionMapper.subtraction(codes, stripe.row()));
    return new AttemptPlan(
        StripeAttemptRows.planned(row, stripe, List.of()),
        subtraction.steps(),
        List.of(subtraction.result()),
        subtraction.dead());
  }

  static void requireWhole(StripeState stripe) throws NotPlannableException {
    if (!stripe.lost().isEmpty()) {
      throw NotPlannableException.ever(
          "stripe %d has lost positions %s: they are repaired first"
              .formatted(stripe.id(), stripe.lost()));
    }
  }

  /**
   * How new parities are computed.
   *
   * @param dead the data that they no longer cover
   */
  record Subtraction(List<Step> steps, Result result, Set<BlockRef> dead) {}

  /** Plans the new parities of a stripe, of which no block is lost. */
  Subtraction subtract(Transaction transaction, StripeState stripe, Conversion subtraction)
      throws IOException, NotPlannableException {
    SortedMap<Integer, Source> kept = new TreeMap<>();
    for (Conversion.Kept block : subtraction.kept()) {
      int position = block.before().position();
      kept.put(position, ConversionAttemptPlanner.source(stripe, position));
    }
    Map<Integer, String> targets = targets(transaction, stripe, subtraction);
    requireSurvivesAnyServer(stripe, kept.keySet(), targets);
    List<Step> steps = new ArrayList<>();
    Set<Integer> derivedFrom = new TreeSet<>();
    for (CombinePlan plan : subtraction.plans()) {
      steps.add(step(stripe, plan, kept, targets));
      derivedFrom.addAll(plan.inputPositions());
    }
    derivedFrom.retainAll(kept.keySet());
    Result result =
        new Result(0, "stripe " + stripe.id(), stripe.code(), kept, Set.of(), derivedFrom);
    Set<BlockRef> dead = new TreeSet<>(subtraction.dropped());
    dead.removeIf(ref -> stripe.code().position(ref.position()).isParity());
    return new Subtraction(steps, result, dead);
  }

  /** The commit would refuse such a stripe, too, but only after all has been read and written. */
  private void requireSurvivesAnyServer(
      StripeState stripe, Set<Integer> kept, Map<Integer, String> targets)
      throws NotPlannableException {
    Map<Integer, PlacementDisk> members = new TreeMap<>();
    for (int position : kept) {
      members.put(position, disks.disk(stripe.locations().get(position).get(0)));
    }
    for (Map.Entry<Integer, String> target : targets.entrySet()) {
      members.put(target.getKey(), disks.disk(target.getValue()));
    }
    disks.requireSurvivesAnyServer(stripe.code(), members);
  }

  /** The disk of each new parity, by position. */
  private Map<Integer, String> targets(
      Transaction transaction, StripeState stripe, Conversion subtraction)
      throws IOException, NotPlannableException {
    Map<Integer, String> targets = new TreeMap<>();
    boolean mayStay = true;
    for (BlockRef ref : subtraction.outputs()) {
      PlacementDisk disk = disks.disk(stripe.locations().get(ref.position()).get(0));
      targets.put(ref.position(), disk.storageUuid());
      mayStay &= !disk.leaving() && disk.freeBytes() >= stripe.row().getUnitLengthBytes();
    }
    return mayStay ? targets : elsewhere(transaction, stripe, subtraction, targets.keySet());
  }

  private Map<Integer, String> elsewhere(
      Transaction transaction, StripeState stripe, Conversion subtraction, Set<Integer> positions)
      throws IOException, NotPlannableException {
    MergeGroup group = MergeGroup.read(transaction, codes, cluster, stripe);
    List<Map<Integer, PlacementDisk>> members = disks.placeOf(group);
    Set<Integer> staying = new HashSet<>();
    subtraction.kept().forEach(block -> staying.add(block.before().position()));
    members.get(group.slot()).keySet().retainAll(staying);
    List<Set<Integer>> missing = new ArrayList<>();
    for (int slot = 0; slot < members.size(); slot++) {
      missing.add(slot == group.slot() ? positions : Set.of());
    }
    var placement =
        disks.placeMissing(
            stripe.code(), members, missing, stripe.row().getUnitLengthBytes(), Set.of(), true);
    Map<Integer, String> targets = new TreeMap<>();
    for (int position : positions) {
      targets.put(position, placement.disk(group.slot(), position).storageUuid());
    }
    return targets;
  }

  private static Step step(
      StripeState stripe,
      CombinePlan plan,
      Map<Integer, Source> kept,
      Map<Integer, String> targets) {
    ErasureCode code = stripe.code();
    List<Source> inputs = new ArrayList<>();
    for (int position : plan.inputPositions()) {
      inputs.add(ConversionAttemptPlanner.source(stripe, position));
    }
    List<Output> outputs = new ArrayList<>();
    for (int position : plan.outputPositions()) {
      long length =
          code.lengthBytes(position, d -> kept.containsKey(d) ? kept.get(d).lengthBytes() : 0);
      outputs.add(new Output(0, position, 0, 0, length, targets.get(position)));
    }
    return new Step(code, plan.inputs(), inputs, outputs, plan.coefficients());
  }
}
