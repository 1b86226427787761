package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.Reclaim;
import io.ebbfs.coding.packing.RewriteBatch;
import io.ebbfs.common.config.Units;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.Wear;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Frees the space of deleted data while a policy or the whole cluster is over its bound: first
 * where the fewest bytes move for each byte freed.
 *
 * <ul>
 *   <li>A subtraction frees the deleted blocks of a stripe, but leaves it with fewer data blocks
 *       under its parities. It is chosen if it is cheaper and if the stripe alone keeps the bound
 *       afterwards.
 *   <li>A rewrite packs the live blocks of several stripes into fewer stripes. Fast stripes that
 *       will merge are rewritten together.
 * </ul>
 *
 * <p>Stripes that lost a block or are in a transition or in a decision are left alone. Not
 * thread-safe.
 */
final class ReclaimChooser {
  private final PolicyView view;
  private final PolicyRule rule;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final FailedTransitions failed;
  private final Set<Long> taken;

  /** What can free space, the cheapest first; null until a bound is exceeded. */
  private TreeSet<Candidate> candidates;

  /**
   * Stripes that are subtracted from or rewritten together.
   *
   * @param price bytes moved for each byte freed, for a rewrite among many other stripes
   */
  private record Candidate(
      TransitionKindProto kind, ErasureCode code, List<StripeView> stripes, double price) {
    long liveBytes() {
      return stripes.stream().mapToLong(StripeView::liveBytes).sum();
    }

    /** What it takes of the limit: live data, of which a subtraction moves little. */
    long limitedBytes() {
      return kind == TransitionKindProto.SUBTRACT
          ? Wear.subtract(stripes.get(0), code).movedBytes()
          : liveBytes();
    }

    List<Long> ids() {
      return stripes.stream().map(StripeView::id).toList();
    }

    RewriteBatch.Part part() {
      return new RewriteBatch.Part(
          stripes.size(),
          stripes.stream().flatMap(stripe -> stripe.liveLengths().stream()).toList(),
          stripes.stream().mapToLong(StripeView::storedBytes).sum());
    }
  }

  /**
   * @param taken stripes that are in a decision; receives those that are chosen
   */
  ReclaimChooser(
      PolicyView view,
      StorageBound bound,
      ProposalLimit limit,
      FailedTransitions failed,
      Set<Long> taken) {
    this.view = view;
    this.rule = view.rule();
    this.bound = bound;
    this.limit = limit;
    this.failed = failed;
    this.taken = taken;
  }

  private TreeSet<Candidate> candidates() {
    if (candidates == null) {
      candidates =
          new TreeSet<>(
              Comparator.comparingDouble(Candidate::price).thenComparing(c -> c.ids().get(0)));
      if (mayFree()) {
        collectCandidates();
      }
    }
    return candidates;
  }

  /** Of a policy within the bounds, the working set does not look for deleted data. */
  private boolean mayFree() {
    return view.sums().exceeds(rule.storageBound())
        || view.snapshot().policies().storageBound().isPresent();
  }

  private void collectCandidates() {
    Map<Long, List<StripeView>> fastGroups = new TreeMap<>();
    for (StripeView stripe : view.stripes()) {
      if (stripe.code().equals(rule.family().compact())) {
        addCandidate(List.of(stripe), rule.family().compactCode());
      } else if (stripe.code().equals(rule.family().fast())) {
        long group = stripe.groupId() != 0 ? stripe.groupId() : -stripe.id();
        fastGroups.computeIfAbsent(group, id -> new ArrayList<>()).add(stripe);
      }
    }
    fastGroups.values().forEach(group -> addCandidate(group, rule.family().fastCode()));
  }

  private void addCandidate(List<StripeView> stripes, ErasureCode code) {
    boolean worn = stripes.stream().anyMatch(s -> Wear.price(s, code).isPresent());
    boolean free = stripes.stream().allMatch(s -> s.settled() && !failed.concernsStripe(s.id()));
    if (!worn || !free) {
      return;
    }
    List<StripeView> ordered =
        stripes.stream().sorted(Comparator.comparingLong(StripeView::id)).toList();
    double rewrite =
        ordered.stream()
            .map(s -> Wear.rewrite(s, code))
            .reduce(Reclaim::plus)
            .orElseThrow()
            .price();
    double subtract = ordered.size() == 1 ? subtractionPrice(ordered.get(0), code) : rewrite;
    boolean cheaper = subtract < rewrite;
    candidates.add(
        new Candidate(
            cheaper ? TransitionKindProto.SUBTRACT : TransitionKindProto.REWRITE,
            code,
            ordered,
            Math.min(subtract, rewrite)));
  }

  /**
   * Infinite if the stripe alone would exceed a bound after the subtraction, or if its subtraction
   * has failed.
   */
  private double subtractionPrice(StripeView stripe, ErasureCode code) {
    if (failed.concernsSubtraction(stripe.id())) {
      return Double.POSITIVE_INFINITY;
    }
    Reclaim reclaim = Wear.subtract(stripe, code);
    double most = tightestBound() * stripe.liveBytes();
    return stripe.storedBytes() - reclaim.freedBytes() <= most
        ? reclaim.price()
        : Double.POSITIVE_INFINITY;
  }

  private double tightestBound() {
    return Math.min(
        rule.storageBound().orElse(Double.POSITIVE_INFINITY),
        view.snapshot().policies().storageBound().orElse(Double.POSITIVE_INFINITY));
  }

  /**
   * Bytes moved for each byte freed, where that is cheapest; empty if there is nothing to free, or
   * if the limits do not allow it.
   */
  OptionalDouble cheapest() {
    while (!candidates().isEmpty() && isTaken(candidates.first())) {
      candidates.pollFirst();
    }
    return candidates.isEmpty() || !limit.allows(candidates.first().limitedBytes())
        ? OptionalDouble.empty()
        : OptionalDouble.of(candidates.first().price);
  }

  private boolean isTaken(Candidate candidate) {
    return candidate.ids().stream().anyMatch(taken::contains);
  }

  /**
   * Frees space while the policy is over its bound.
   *
   * @param mostPrice the most bytes to move for each byte freed; finite
   */
  void keepBound(double mostPrice, List<Decision> decisions) {
    while (bound.isExceededAtEnd() && cheapest().orElse(Double.MAX_VALUE) <= mostPrice) {
      freeCheapest("storage", bound, mostPrice, decisions);
    }
  }

  /**
   * Frees space where that is cheapest. A rewrite costs more than its price among many stripes if
   * few are there to be rewritten with it. If it costs more than the most, it is not chosen, and
   * comes later in the order.
   *
   * @param what the bound limits, for the reason
   * @param exceeded the bound for which space is freed
   * @param mostPrice the most bytes to move for each byte freed, at least that of the cheapest
   */
  void freeCheapest(
      String what, StorageBound exceeded, double mostPrice, List<Decision> decisions) {
    Candidate cheapest = candidates().pollFirst();
    if (cheapest.kind == TransitionKindProto.SUBTRACT) {
      Reclaim reclaim = Wear.subtract(cheapest.stripes.get(0), cheapest.code);
      decide(cheapest, reclaim, what, exceeded, decisions);
    } else {
      rewrite(cheapest, what, exceeded, mostPrice, decisions);
    }
  }

  /** Rewrites the candidate with those that follow it. */
  private void rewrite(
      Candidate cheapest,
      String what,
      StorageBound exceeded,
      double mostPrice,
      List<Decision> decisions) {
    List<Candidate> together = together(cheapest);
    RewriteBatch.Choice choice =
        RewriteBatch.best(cheapest.code, together.stream().map(Candidate::part).toList());
    double price = choice.reclaim().price();
    if (price > mostPrice) {
      if (price <= Wear.MOST_PRICE) {
        candidates.add(new Candidate(cheapest.kind, cheapest.code, cheapest.stripes, price));
      }
      return;
    }
    List<Candidate> chosen = together.subList(0, choice.parts());
    chosen.forEach(candidates::remove);
    List<StripeView> stripes = chosen.stream().flatMap(c -> c.stripes.stream()).toList();
    Candidate all = new Candidate(cheapest.kind, cheapest.code, stripes, price);
    decide(all, choice.reclaim(), what, exceeded, decisions);
  }

  /** The candidate and those that can be rewritten with it, as many as the limits allow. */
  private List<Candidate> together(Candidate cheapest) {
    List<Candidate> together = new ArrayList<>(List.of(cheapest));
    long bytes = cheapest.liveBytes();
    for (Candidate other : candidates) {
      boolean fits = other.kind == cheapest.kind && other.code.equals(cheapest.code);
      if (fits && !isTaken(other)) {
        bytes += other.liveBytes();
        if (together.size() == RewriteBatch.MOST_STRIPES || !limit.allows(bytes)) {
          break;
        }
        together.add(other);
      }
    }
    return together;
  }

  private void decide(
      Candidate candidate,
      Reclaim reclaim,
      String what,
      StorageBound exceeded,
      List<Decision> decisions) {
    String reason =
        String.format(
            Locale.ROOT,
            "%s %.3fx is over the bound %s; frees %s of deleted data, and moves %.1f bytes for each",
            what,
            exceeded.overheadAtEnd(),
            exceeded.show(),
            Units.showBytes(reclaim.freedBytes()),
            reclaim.price());
    bound.enter(StorageBound.Change.ofStored(-reclaim.freedBytes()));
    limit.take(candidate.limitedBytes(), 1);
    taken.addAll(candidate.ids());
    decisions.add(
        Decision.free(
            candidate.kind,
            rule,
            candidate.code.name(),
            candidate.ids(),
            reason,
            candidate.liveBytes(),
            reclaim.movedBytes()));
  }
}
