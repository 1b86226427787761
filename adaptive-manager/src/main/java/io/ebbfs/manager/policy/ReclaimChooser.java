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
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * While a policy is over its bound, frees the space of deleted data: first where the fewest bytes
 * move for each byte freed.
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

  /** What can free space, the cheapest first; chosen ones are taken out. */
  private final List<Candidate> candidates = new ArrayList<>();

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
    if (view.sums().exceeds(rule.storageBound())) {
      collectCandidates();
    }
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
    candidates.sort(
        Comparator.comparingDouble(Candidate::price).thenComparing(c -> c.ids().get(0)));
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
   * Infinite if the stripe alone would exceed the bound after the subtraction, or if its
   * subtraction has failed.
   */
  private double subtractionPrice(StripeView stripe, ErasureCode code) {
    if (failed.concernsSubtraction(stripe.id())) {
      return Double.POSITIVE_INFINITY;
    }
    Reclaim reclaim = Wear.subtract(stripe, code);
    double most = rule.storageBound().orElseThrow() * stripe.liveBytes();
    return stripe.storedBytes() - reclaim.freedBytes() <= most
        ? reclaim.price()
        : Double.POSITIVE_INFINITY;
  }

  /**
   * Frees space while the policy is over its bound.
   *
   * @param mostPrice the most bytes to move for each byte freed
   */
  void keepBound(double mostPrice, List<Decision> decisions) {
    candidates.removeIf(candidate -> candidate.ids().stream().anyMatch(taken::contains));
    int next = 0;
    while (next < candidates.size() && bound.isExceededAtEnd()) {
      Candidate cheapest = candidates.get(next);
      if (cheapest.price > mostPrice || !limit.allows(cheapest.limitedBytes())) {
        return;
      }
      boolean chosen =
          cheapest.kind == TransitionKindProto.SUBTRACT
              ? subtract(cheapest, decisions)
              : rewrite(next, mostPrice, decisions);
      next += chosen ? 0 : 1;
    }
  }

  private boolean subtract(Candidate candidate, List<Decision> decisions) {
    candidates.remove(candidate);
    decide(candidate, Wear.subtract(candidate.stripes.get(0), candidate.code), decisions);
    return true;
  }

  /** Rewrites the candidate with those that follow it; false if that frees too little. */
  private boolean rewrite(int first, double mostPrice, List<Decision> decisions) {
    Candidate cheapest = candidates.get(first);
    List<Candidate> together = new ArrayList<>();
    long bytes = 0;
    for (Candidate other : candidates.subList(first, candidates.size())) {
      bytes += other.liveBytes();
      if (together.size() == RewriteBatch.MOST_STRIPES
          || !together.isEmpty() && !limit.allows(bytes)) {
        break;
      }
      if (other.kind == TransitionKindProto.REWRITE && other.code.equals(cheapest.code)) {
        together.add(other);
      }
    }
    RewriteBatch.Choice choice =
        RewriteBatch.best(cheapest.code, together.stream().map(Candidate::part).toList());
    if (choice.reclaim().price() > mostPrice) {
      return false;
    }
    List<Candidate> chosen = together.subList(0, choice.parts());
    Set<Candidate> taken = Collections.newSetFromMap(new IdentityHashMap<>());
    taken.addAll(chosen);
    candidates.subList(first, candidates.size()).removeIf(taken::contains);
    List<StripeView> stripes = chosen.stream().flatMap(c -> c.stripes.stream()).toList();
    decide(
        new Candidate(cheapest.kind, cheapest.code, stripes, choice.reclaim().price()),
        choice.reclaim(),
        decisions);
    return true;
  }

  private void decide(Candidate candidate, Reclaim reclaim, List<Decision> decisions) {
    String reason =
        String.format(
            Locale.ROOT,
            "storage %.3fx is over the bound %s; frees %s of deleted data, and moves %.1f bytes for"
                + " each",
            bound.overheadAtEnd(),
            bound.show(),
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
