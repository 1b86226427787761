package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Result;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans one attempt of a conversion to another code: parities are read and written where the codes
 * allow it, and data blocks stay in place.
 */
public final class ConversionAttemptPlanner {
  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final TargetDiskChooser disks;

  public ConversionAttemptPlanner(
      CodeRegistry codes, ClusterView cluster, TargetDiskChooser disks) {
    this.codes = codes;
    this.cluster = cluster;
    this.disks = disks;
  }

  public AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    Map<Integer, StripeState> sources = sources(transaction, row);
    for (StripeState stripe : sources.values()) {
      if (!stripe.lost().isEmpty()) {
        throw NotPlannableException.ever(
            "stripe %d has lost positions %s: they are repaired first"
                .formatted(stripe.id(), stripe.lost()));
      }
    }
    Conversion conversion =
        ConversionMapper.of(codes, rows(sources), codes.byName(row.getToCode()));
    Map<BlockRef, StripeMemberProto> kept = ConversionMapper.keptMembers(conversion, rows(sources));
    Placement placement = place(conversion, sources);
    List<Step> steps = new ArrayList<>();
    for (CombinePlan plan : conversion.plans()) {
      steps.add(step(conversion, plan, sources, kept, placement));
    }
    TransitionRow.Builder updated = row.toBuilder().clearStripes();
    sources
        .values()
        .forEach(
            stripe ->
                updated.addStripes(
                    TransitionStripeProto.newBuilder()
                        .setStripeId(stripe.id())
                        .setGeneration(stripe.row().getGeneration())));
    return new AttemptPlan(
        updated.build(), steps, results(row, conversion, sources, placement.disks().size()));
  }

  /** The stripes that still exist, by slot. */
  private Map<Integer, StripeState> sources(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    List<StripeRow> left = new ArrayList<>();
    for (TransitionStripeProto planned : row.getStripesList()) {
      transaction
          .get(Tables.STRIPE, Tables.stripe(planned.getStripeId()))
          .filter(stripe -> stripe.getTransitionId() == row.getId())
          .ifPresent(left::add);
    }
    if (left.isEmpty()) {
      throw NotPlannableException.ever("its stripes are gone: their files were deleted");
    }
    Map<Integer, StripeState> sources = new TreeMap<>();
    for (Map.Entry<Integer, StripeRow> entry :
        ConversionMapper.bySlot(codes, left, row.getToCode()).entrySet()) {
      sources.put(entry.getKey(), StripeState.read(transaction, codes, cluster, entry.getValue()));
    }
    return sources;
  }

  private static Map<Integer, StripeRow> rows(Map<Integer, StripeState> sources) {
    Map<Integer, StripeRow> rows = new TreeMap<>();
    sources.forEach((slot, state) -> rows.put(slot, state.row()));
    return rows;
  }

  private Placement place(Conversion conversion, Map<Integer, StripeState> sources)
      throws NotPlannableException {
    int results = ConversionMapper.resultCount(conversion);
    List<Map<Integer, PlacementDisk>> members = new ArrayList<>();
    List<Set<Integer>> missing = new ArrayList<>();
    for (int s = 0; s < results; s++) {
      members.add(new TreeMap<>());
      missing.add(new TreeSet<>());
    }
    for (Conversion.Kept kept : conversion.kept()) {
      String storage =
          ConversionMapper.source(sources, kept.before())
              .locations()
              .get(kept.before().position())
              .get(0);
      members.get(kept.after().stripe()).put(kept.after().position(), disks.disk(storage));
    }
    conversion.outputs().forEach(ref -> missing.get(ref.stripe()).add(ref.position()));
    long unit =
        sources.values().stream().mapToLong(s -> s.row().getUnitLengthBytes()).max().orElse(0);
    Placement placement =
        disks.placeMissing(conversion.to(), members, missing, unit, Set.of(), true);
    for (int s = 0; s < results; s++) {
      Map<Integer, PlacementDisk> whole = new TreeMap<>(members.get(s));
      whole.putAll(placement.disks().get(s));
      disks.requireSurvivesAnyServer(conversion.to(), whole);
    }
    return placement;
  }

  private static List<Result> results(
      TransitionRow row, Conversion conversion, Map<Integer, StripeState> sources, int stripes) {
    List<Result> results = new ArrayList<>();
    for (int s = 0; s < stripes; s++) {
      SortedMap<Integer, Source> stored = new TreeMap<>();
      for (Conversion.Kept kept : conversion.kept()) {
        if (kept.after().stripe() == s) {
          StripeState before = ConversionMapper.source(sources, kept.before());
          stored.put(kept.after().position(), source(before, kept.before().position()));
        }
      }
      String name =
          "new stripe %d in %s of transition %d".formatted(s, conversion.to(), row.getId());
      // The sources are blocks of the old stripes: the checks of the new stripe do not read them.
      results.add(new Result(s, name, conversion.to(), stored, Set.of(), Set.of()));
    }
    return results;
  }

  private static Step step(
      Conversion conversion,
      CombinePlan plan,
      Map<Integer, StripeState> sources,
      Map<BlockRef, StripeMemberProto> kept,
      Placement placement) {
    List<Source> inputs = new ArrayList<>();
    for (BlockRef ref : plan.inputs()) {
      StripeState stripe = ConversionMapper.source(sources, ref);
      inputs.add(source(stripe, ref.position()));
    }
    List<Output> outputs = new ArrayList<>();
    for (BlockRef ref : plan.outputs()) {
      long length =
          conversion
              .to()
              .lengthBytes(
                  ref.position(),
                  d -> {
                    StripeMemberProto data = kept.get(new BlockRef(ref.stripe(), d));
                    return data == null ? 0 : data.getLengthBytes();
                  });
      outputs.add(
          new Output(
              ref.stripe(),
              ref.position(),
              0,
              0,
              length,
              placement.disk(ref.stripe(), ref.position()).storageUuid()));
    }
    return new Step(conversion.from(), plan.inputs(), inputs, outputs, plan.coefficients());
  }

  static Source source(StripeState stripe, int position) {
    StripeMemberProto member = stripe.members().get(position);
    return new Source(
        member.getBlockId(),
        member.getGenerationStamp(),
        member.getLengthBytes(),
        stripe.locations().get(position));
  }
}
