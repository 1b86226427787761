package io.ebbfs.manager.policy;

import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.DOWNCODE;
import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.REWRITE;
import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.UPCODE;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.RewriteBatch;
import io.ebbfs.common.config.Units;
import io.ebbfs.manager.bound.RecodingForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Chooses which stripes come to the code of their policy that are in a code which the policy does
 * not name, because an operator has changed its code or family. The target is the compact code, so
 * that the bound holds; hot data becomes fast afterwards, like other data. Where the two codes are
 * a pair, only parities are converted. Otherwise the live data of several stripes is encoded again,
 * as much as fills stripes of the target.
 *
 * <p>Stripes that lost a block or are in a transition are left alone.
 */
final class RecodingChooser {
  /** A rewrite gathers at most so many blocks, if fewer do not fill stripes exactly. */
  private static final int MOST_BLOCKS = 120;

  private final PolicyView view;
  private final PolicyRule rule;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final ConversionPace pace;
  private final FailedTransitions failed;
  private final Map<Long, String> waiting;
  private final RecodingForecast forecast;
  private final ErasureCode target;

  /** Stripes that come to the target together. */
  private record Unit(TransitionKindProto kind, List<StripeView> stripes, double storedDelta) {
    long liveBytes() {
      return stripes.stream().mapToLong(StripeView::liveBytes).sum();
    }

    double storedDeltaPerByte() {
      return storedDelta / Math.max(1, liveBytes());
    }

    StorageBound.Change change() {
      return new StorageBound.Change(storedDelta, 0);
    }
  }

  /**
   * @param waiting receives what each stripe waits for, by the stripe's id
   */
  RecodingChooser(
      PolicyView view,
      StorageBound bound,
      ProposalLimit limit,
      ConversionPace pace,
      FailedTransitions failed,
      Map<Long, String> waiting) {
    this.view = view;
    this.rule = view.rule();
    this.bound = bound;
    this.limit = limit;
    this.pace = pace;
    this.failed = failed;
    this.waiting = waiting;
    this.target = rule.family().compactCode();
    this.forecast = new RecodingForecast(view.codes());
  }

  /**
   * Decides which stripes come to the target now. What saves most for each byte comes first. The
   * hours and the budget do not hold what the bound asks for.
   */
  void decide(List<Decision> decisions) {
    String stopped = null;
    for (Unit unit : units()) {
      boolean forBound = bound.isAnyExceededAtEnd() && unit.storedDelta < 0;
      long bytes = unit.liveBytes();
      String hold = forBound ? null : pace.hold(0).orElse(null);
      if (stopped == null && !limit.allows(bytes)) {
        stopped = limit.show();
      } else if (stopped == null && !forBound && hold == null && !pace.hasLeft(bytes)) {
        stopped = pace.budget();
      }
      if (stopped != null) {
        waits(unit.stripes, stopped);
      } else if (hold != null) {
        waits(unit.stripes, hold);
      } else if (unit.storedDelta > 0 && !bound.fitsNow(unit.change())) {
        waits(unit.stripes, "room under the bound " + bound.show());
      } else {
        decide(unit, decisions);
      }
    }
  }

  private List<Unit> units() {
    List<Unit> units = new ArrayList<>();
    Map<String, Map<Long, List<StripeView>>> byCode = new TreeMap<>();
    for (StripeView stripe : view.stripes()) {
      if (!rule.family().has(stripe.code())) {
        byCode
            .computeIfAbsent(stripe.code(), code -> new TreeMap<>())
            .computeIfAbsent(
                stripe.groupId() == 0 ? -stripe.id() : stripe.groupId(), id -> new ArrayList<>())
            .add(stripe);
      }
    }
    byCode.forEach((code, groups) -> addUnits(code, groups.values(), units));
    units.sort(
        Comparator.comparingDouble(Unit::storedDeltaPerByte)
            .thenComparing(unit -> unit.stripes.get(0).id()));
    return units;
  }

  private void addUnits(String code, Collection<List<StripeView>> groups, List<Unit> units) {
    List<StripeView> rewritten = new ArrayList<>();
    for (List<StripeView> group : groups) {
      if (forecast.isPair(code, target.name()) && group.get(0).groupId() != 0) {
        if (group.stream().allMatch(this::isFree)) {
          units.add(unit(UPCODE, group));
        }
      } else {
        group.stream().filter(this::isFree).forEach(rewritten::add);
      }
    }
    if (forecast.isPair(target.name(), code)) {
      rewritten.forEach(stripe -> units.add(unit(DOWNCODE, List.of(stripe))));
    } else {
      addRewrites(rewritten, units);
    }
  }

  private boolean isFree(StripeView stripe) {
    return stripe.settled() && !failed.concernsStripe(stripe.id());
  }

  private Unit unit(TransitionKindProto kind, List<StripeView> stripes) {
    return new Unit(kind, stripes, forecast.storedDelta(kind, stripes, target));
  }

  /**
   * Stripes that fill stripes of the target together. A rest that fills none waits while others are
   * rewritten, since their rests may fill one with it.
   */
  private void addRewrites(List<StripeView> stripes, List<Unit> units) {
    List<StripeView> batch = new ArrayList<>();
    int blocks = 0;
    boolean anyFull = isRewriteUnderWay();
    for (StripeView stripe : stripes) {
      batch.add(stripe);
      blocks += forecast.liveBlocks(stripe);
      boolean fills = blocks > 0 && blocks % target.dataCount() == 0;
      boolean most = batch.size() == RewriteBatch.MOST_STRIPES || blocks >= MOST_BLOCKS;
      if (fills || most) {
        units.add(unit(REWRITE, List.copyOf(batch)));
        batch.clear();
        blocks = 0;
        anyFull = true;
      }
    }
    if (anyFull) {
      waits(batch, "further stripes that fill a stripe of " + target.name() + " with it");
    } else if (!batch.isEmpty()) {
      units.add(unit(REWRITE, batch));
    }
  }

  /** The rests of rewrites that the namenode planned by itself fill no stripe with others. */
  private boolean isRewriteUnderWay() {
    return view.snapshot().transitions().stream()
        .anyMatch(
            t ->
                t.active()
                    && !t.ofNamenode()
                    && t.kind() == REWRITE
                    && t.policy().equals(rule.name())
                    && t.toCode().equals(target.name()));
  }

  private void waits(List<StripeView> stripes, String what) {
    String text = "its conversion to %s is due and waits for %s".formatted(target.name(), what);
    stripes.forEach(stripe -> waiting.put(stripe.id(), text));
  }

  private void decide(Unit unit, List<Decision> decisions) {
    long bytes = unit.liveBytes();
    long stored = unit.stripes.stream().mapToLong(StripeView::storedBytes).sum();
    bound.enter(unit.change());
    limit.take(bytes, 1);
    pace.take(bytes);
    List<Long> ids = unit.stripes.stream().map(StripeView::id).toList();
    String reason =
        String.format(
            Locale.ROOT,
            "%s is no code of the policy (%s); %s, stored %.2fx instead of %.2fx",
            unit.stripes.get(0).code(),
            rule.showCodes(),
            Units.showBytes(bytes),
            (stored + unit.storedDelta) / Math.max(1, bytes),
            (double) stored / Math.max(1, bytes));
    // A rewrite reads the data and writes the new parities.
    long moved = Math.round(stored + unit.storedDelta);
    decisions.add(
        unit.kind == REWRITE
            ? Decision.recode(rule, target.name(), ids, reason, bytes, moved)
            : Decision.convert(unit.kind, rule, target.name(), ids, reason, bytes));
  }
}
