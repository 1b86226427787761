package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.settings.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which stripes change between the codes of the family. While over the bound, the coldest fast ones
 * go compact; read-cold ones ebb in any case; read-hot compact ones rise as far as there is room,
 * hottest first, and make room by sending down what is colder by the hysteresis. Stripes that lost
 * a block or are in a transition are left alone.
 */
final class Conversions {
  private final PolicyRun run;
  private final PolicyRule rule;

  /** Fast stripes that can go compact, coldest first; what was decided is taken out. */
  private final List<Candidate> fast = new ArrayList<>();

  private final List<Candidate> compact = new ArrayList<>();

  /** Stripes that convert together. */
  private record Candidate(List<StripeView> stripes, double heat, double parityDelta) {
    long liveBytes() {
      return stripes.stream().mapToLong(StripeView::liveBytes).sum();
    }

    List<Long> ids() {
      return stripes.stream().map(StripeView::id).toList();
    }
  }

  Conversions(PolicyRun run) {
    this.run = run;
    this.rule = run.rule;
    Map<Long, List<StripeView>> groups = new TreeMap<>();
    for (StripeView stripe : run.stripes) {
      if (stripe.code().equals(rule.family().fast())) {
        long group =
            rule.family().groupSize() > 1 && stripe.groupId() != 0
                ? stripe.groupId()
                : -stripe.id();
        groups.computeIfAbsent(group, id -> new ArrayList<>()).add(stripe);
      } else if (stripe.code().equals(rule.family().compact())) {
        candidate(List.of(stripe), TransitionKindProto.DOWNCODE, compact);
      }
    }
    groups.values().forEach(group -> candidate(group, TransitionKindProto.UPCODE, fast));
    Comparator<Candidate> coldest =
        Comparator.comparingDouble(Candidate::heat).thenComparing(c -> c.ids().get(0));
    fast.sort(coldest);
    compact.sort(coldest.reversed());
  }

  private void candidate(
      List<StripeView> stripes, TransitionKindProto kind, List<Candidate> candidates) {
    boolean free =
        stripes.stream().allMatch(s -> s.settled() && !run.failedStripes.contains(s.id()));
    if (!free) {
      return;
    }
    List<StripeView> ordered =
        stripes.stream()
            .sorted(Comparator.comparingInt(StripeView::groupSlot).thenComparing(StripeView::id))
            .toList();
    double delta = run.parityDelta(kind, ordered);
    // A group of which little is left may need as many parities either way: then it stays.
    if (kind == TransitionKindProto.DOWNCODE ? delta >= 0 : delta < 0) {
      candidates.add(new Candidate(ordered, run.temperature.ofStripes(ordered, rule), delta));
    }
  }

  /** Whether fast stripes are left that could make room. */
  boolean canMakeRoom() {
    return !fast.isEmpty();
  }

  /** While the policy is over its bound: the coldest fast stripes go compact, however hot. */
  void keepBound(List<Decision> decisions) {
    while (run.ledger.endRoom() < 0 && !fast.isEmpty() && allowed(fast.get(0))) {
      Candidate coldest = fast.remove(0);
      double before = run.ledger.endOverhead();
      decide(
          coldest,
          TransitionKindProto.UPCODE,
          String.format(
              Locale.ROOT,
              "storage %.3fx is over the bound %.2fx; coldest fast stripes at %s",
              before,
              rule.storageBound().orElse(0),
              Temperature.show(coldest.heat, rule)),
          decisions);
    }
  }

  /** Fast stripes that are no longer read go compact. */
  void ebb(List<Decision> decisions) {
    double cold = rule.readHot().threshold() / rule.hysteresis();
    while (!fast.isEmpty() && fast.get(0).heat < cold && allowed(fast.get(0))) {
      Candidate coldest = fast.remove(0);
      decide(
          coldest,
          TransitionKindProto.UPCODE,
          String.format(
              Locale.ROOT,
              "read-cold: %s, below %s (hot from %s, hysteresis %.3g)",
              Temperature.show(coldest.heat, rule),
              Temperature.show(cold, rule),
              rule.readHot().show(),
              rule.hysteresis()),
          decisions);
    }
  }

  /**
   * Compact stripes that are read come back to the fast code, never beyond the bound. Once room is
   * being made for one, those less hot wait: they would take it, and be sent down again for it.
   */
  void rise(List<Decision> decisions) {
    for (Candidate candidate : compact) {
      if (candidate.heat < rule.readHot().threshold() || !allowed(candidate)) {
        return;
      }
      double need = run.ledger.use(candidate.parityDelta, 0);
      if (need <= run.ledger.strictRoom()) {
        decide(candidate, TransitionKindProto.DOWNCODE, riseReason(candidate), decisions);
      } else if (need <= run.ledger.endRoom() || makeRoom(candidate, decisions)) {
        return;
      }
    }
  }

  private String riseReason(Candidate candidate) {
    return String.format(
        Locale.ROOT,
        "read-hot: %s (hot from %s); storage %.3fx before it, bound %s",
        Temperature.show(candidate.heat, rule),
        rule.readHot().show(),
        run.ledger.endOverhead(),
        bound());
  }

  /**
   * Sends colder fast stripes down for a hotter compact one, which can rise in a later run; none if
   * all of them would not be enough.
   */
  private boolean makeRoom(Candidate hotter, List<Decision> decisions) {
    double missing = run.ledger.use(hotter.parityDelta, 0) - run.ledger.endRoom();
    List<Candidate> victims = new ArrayList<>();
    for (Candidate colder : fast) {
      if (missing <= 0 || colder.heat * rule.hysteresis() >= hotter.heat || !allowed(colder)) {
        break;
      }
      victims.add(colder);
      missing += colder.parityDelta;
    }
    if (missing > 0) {
      return false;
    }
    fast.removeAll(victims);
    for (Candidate colder : victims) {
      decide(
          colder,
          TransitionKindProto.UPCODE,
          String.format(
              Locale.ROOT,
              "makes room under the bound %s for stripe %d: %s here, %s there",
              bound(),
              hotter.ids().get(0),
              Temperature.show(colder.heat, rule),
              Temperature.show(hotter.heat, rule)),
          decisions);
    }
    return true;
  }

  private boolean allowed(Candidate candidate) {
    return run.budget.allows(candidate.liveBytes());
  }

  private String bound() {
    return rule.storageBound().isPresent()
        ? String.format(Locale.ROOT, "%.2fx", rule.storageBound().getAsDouble())
        : "none";
  }

  private void decide(
      Candidate candidate, TransitionKindProto kind, String reason, List<Decision> decisions) {
    run.ledger.add(candidate.parityDelta, 0);
    run.budget.take(candidate.liveBytes(), 1);
    boolean up = kind == TransitionKindProto.UPCODE;
    decisions.add(
        new Decision(
            kind,
            List.of(),
            candidate.ids(),
            up ? rule.family().compact() : rule.family().fast(),
            rule.name(),
            reason + "; " + Units.showBytes(candidate.liveBytes()),
            candidate.liveBytes(),
            0,
            false));
  }
}
