package io.ebbfs.manager.policy;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.bound.ConversionForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Chooses which stripes are converted between the two codes of a family.
 *
 * <ul>
 *   <li>While the policy is over its bound, the coldest fast stripes are converted to compact.
 *   <li>Read-cold fast stripes are converted to compact, also under the bound.
 *   <li>Read-hot compact stripes are converted to fast as far as the bound has room, the hottest
 *       first. If there is no room, fast stripes that are colder by the hysteresis are converted to
 *       compact first.
 * </ul>
 *
 * <p>Stripes that lost a block or are in a transition are left alone.
 */
final class ConversionChooser {
  private final PolicyRule rule;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final FailedTransitions failed;
  private final Temperature temperature;
  private final ConversionForecast forecast;
  private final long nowMillis;
  private final boolean isOpen;

  /** Logical bytes that may still be converted for heat today. */
  private long bytesLeft;

  /** Fast stripes that can be converted to compact, coldest first; chosen ones are taken out. */
  private final List<Candidate> fast = new ArrayList<>();

  /** Compact stripes that can be converted to fast, hottest first. */
  private final List<Candidate> compact = new ArrayList<>();

  /** Stripes that are converted together. */
  private record Candidate(List<StripeView> stripes, double heat, double parityDelta) {
    long liveBytes() {
      return stripes.stream().mapToLong(StripeView::liveBytes).sum();
    }

    long createdMillis() {
      return stripes.stream().mapToLong(StripeView::createdMillis).max().orElse(0);
    }

    List<Long> ids() {
      return stripes.stream().map(StripeView::id).toList();
    }

    StorageBound.Change change() {
      return StorageBound.Change.ofParities(parityDelta);
    }
  }

  ConversionChooser(
      PolicyView view, StorageBound bound, ProposalLimit limit, FailedTransitions failed) {
    this.rule = view.rule();
    this.bound = bound;
    this.limit = limit;
    this.failed = failed;
    this.temperature = view.temperature();
    this.forecast = new ConversionForecast(rule.family());
    this.nowMillis = view.snapshot().nowMillis();
    this.isOpen = rule.pace().isOpenAt(nowMillis, ZoneId.systemDefault());
    this.bytesLeft =
        rule.pace()
            .bytesLeft(view.snapshot().experience().convertedBytes().getOrDefault(rule.name(), 0L));
    collectCandidates(view.stripes());
  }

  private void collectCandidates(List<StripeView> stripes) {
    Map<Long, List<StripeView>> fastGroups = new TreeMap<>();
    for (StripeView stripe : stripes) {
      if (stripe.code().equals(rule.family().fast())) {
        fastGroups.computeIfAbsent(groupOf(stripe), id -> new ArrayList<>()).add(stripe);
      } else if (stripe.code().equals(rule.family().compact())) {
        addCandidate(List.of(stripe), TransitionKindProto.DOWNCODE, compact);
      }
    }
    fastGroups.values().forEach(group -> addCandidate(group, TransitionKindProto.UPCODE, fast));
    Comparator<Candidate> coldest =
        Comparator.comparingDouble(Candidate::heat).thenComparing(c -> c.ids().get(0));
    fast.sort(coldest);
    compact.sort(coldest.reversed());
  }

  /** Stripes of one group merge at the conversion; a stripe without a group is converted alone. */
  private long groupOf(StripeView stripe) {
    return rule.family().groupSize() > 1 && stripe.groupId() != 0 ? stripe.groupId() : -stripe.id();
  }

  private void addCandidate(
      List<StripeView> stripes, TransitionKindProto kind, List<Candidate> candidates) {
    boolean free = stripes.stream().allMatch(s -> s.settled() && !failed.concernsStripe(s.id()));
    if (!free) {
      return;
    }
    List<StripeView> ordered =
        stripes.stream()
            .sorted(Comparator.comparingInt(StripeView::groupSlot).thenComparing(StripeView::id))
            .toList();
    double delta = forecast.parityDelta(kind, ordered);
    // A group of few live blocks may need as many parities in either code: then it stays fast.
    if (kind == TransitionKindProto.DOWNCODE ? delta >= 0 : delta < 0) {
      candidates.add(new Candidate(ordered, temperature.ofStripes(ordered), delta));
    }
  }

  /** Whether fast stripes are left that could make room. */
  boolean canMakeRoom() {
    return !fast.isEmpty();
  }

  /** While the policy is over its bound, converts the coldest fast stripes to compact. */
  void keepBound(List<Decision> decisions) {
    while (bound.isExceededAtEnd() && !fast.isEmpty() && allowed(fast.get(0))) {
      Candidate coldest = fast.remove(0);
      String reason =
          String.format(
              Locale.ROOT,
              "storage %.3fx is over the bound %s; coldest fast stripes at %s",
              bound.overheadAtEnd(),
              bound.show(),
              temperature.show(coldest.heat));
      decide(coldest, TransitionKindProto.UPCODE, reason, decisions);
    }
  }

  /**
   * Converts the coldest fast stripes to compact for encodings that wait. Without this the
   * encodings could wait for ever: the first stripe that waits is padded and takes room, and the
   * stripes behind it would make more room than that, so that the bound is kept once all are
   * encoded.
   *
   * @param missing bytes of room to make; nothing is converted for 0
   */
  void makeRoomNow(double missing, List<Decision> decisions) {
    while (missing > 0 && !fast.isEmpty() && allowed(fast.get(0))) {
      Candidate coldest = fast.remove(0);
      missing += coldest.parityDelta;
      String reason =
          String.format(
              Locale.ROOT,
              "makes room under the bound %s for blocks that wait to be encoded; coldest fast"
                  + " stripes at %s",
              bound.show(),
              temperature.show(coldest.heat));
      decide(coldest, TransitionKindProto.UPCODE, reason, decisions);
    }
  }

  /** Converts fast stripes that are read-cold to compact, the coldest first. */
  void toCompact(List<Decision> decisions) {
    for (Candidate candidate : List.copyOf(fast)) {
      if (!allowed(candidate)) {
        return;
      }
      if (!inPace(candidate)) {
        continue;
      }
      Optional<String> why = temperature.whyCompact(candidate.stripes, candidate.heat);
      if (why.isPresent() && !inBudget(candidate.liveBytes())) {
        return;
      }
      if (why.isPresent()) {
        fast.remove(candidate);
        decide(candidate, TransitionKindProto.UPCODE, why.get(), decisions);
      }
    }
  }

  /**
   * Converts compact stripes that are read-hot to fast, never beyond the bound. Once room is being
   * made for one stripe, the less hot ones wait: otherwise they would take the room, and would be
   * converted back to make room again.
   */
  void toFast(List<Decision> decisions) {
    for (Candidate candidate : compact) {
      Optional<String> why = temperature.whyFast(candidate.stripes.get(0), candidate.heat);
      if (why.isEmpty() || !allowed(candidate)) {
        return;
      }
      if (!inPace(candidate)) {
        continue;
      }
      if (!inBudget(candidate.liveBytes())) {
        return;
      }
      if (bound.fitsNow(candidate.change())) {
        decide(candidate, TransitionKindProto.DOWNCODE, toFastReason(why.get()), decisions);
      } else if (bound.fitsAtEnd(candidate.change()) || makeRoom(candidate, decisions)) {
        return;
      }
    }
  }

  private String toFastReason(String why) {
    return String.format(
        Locale.ROOT,
        "%s; storage %.3fx before it, bound %s",
        why,
        bound.overheadAtEnd(),
        bound.show());
  }

  /**
   * Converts colder fast stripes to compact, so that a hotter compact stripe can be converted to
   * fast in a later run. Converts none if all of them together would not make enough room.
   */
  private boolean makeRoom(Candidate hotter, List<Decision> decisions) {
    double missing = bound.lackingAtEnd(hotter.change());
    List<Candidate> chosen = new ArrayList<>();
    long bytes = hotter.liveBytes();
    for (Candidate colder : fast) {
      if (missing <= 0 || !temperature.mayYield(colder.heat, hotter.heat) || !allowed(colder)) {
        break;
      }
      if (inPace(colder)) {
        chosen.add(colder);
        bytes += colder.liveBytes();
        missing += colder.parityDelta;
      }
    }
    boolean enough = missing <= 0 && inBudget(bytes);
    Optional<String> why = enough ? whySwap(hotter, chosen) : Optional.empty();
    if (why.isEmpty()) {
      return false;
    }
    fast.removeAll(chosen);
    for (Candidate colder : chosen) {
      String reason =
          String.format(
              Locale.ROOT,
              "makes room under the bound %s for stripe %d: %s here, %s there%s",
              bound.show(),
              hotter.ids().get(0),
              temperature.show(colder.heat),
              temperature.show(hotter.heat),
              why.get());
      decide(colder, TransitionKindProto.UPCODE, reason, decisions);
    }
    return true;
  }

  private Optional<String> whySwap(Candidate hotter, List<Candidate> colder) {
    double bytes = colder.stream().mapToDouble(Candidate::liveBytes).sum();
    double heat = colder.stream().mapToDouble(c -> c.heat * c.liveBytes()).sum();
    return temperature.whySwap(
        hotter.stripes.get(0),
        hotter.heat,
        heat / Math.max(1, bytes),
        bytes / Math.max(1, hotter.liveBytes()));
  }

  /** Whether this data may be converted for its heat at this time, whatever the budget says. */
  private boolean inPace(Candidate candidate) {
    return isOpen
        && candidate.createdMillis() <= nowMillis - rule.pace().minimumStayMillis()
        && candidate.liveBytes() <= rule.pace().bytesLeft(0);
  }

  /** Whether the budget of the day has so many bytes left. */
  private boolean inBudget(long bytes) {
    return bytes <= bytesLeft;
  }

  private boolean allowed(Candidate candidate) {
    return limit.allows(candidate.liveBytes());
  }

  private void decide(
      Candidate candidate, TransitionKindProto kind, String reason, List<Decision> decisions) {
    bound.enter(candidate.change());
    limit.take(candidate.liveBytes(), 1);
    bytesLeft -= candidate.liveBytes();
    boolean toCompact = kind == TransitionKindProto.UPCODE;
    decisions.add(
        new Decision(
            kind,
            List.of(),
            candidate.ids(),
            toCompact ? rule.family().compact() : rule.family().fast(),
            rule.name(),
            reason + "; " + Units.showBytes(candidate.liveBytes()),
            candidate.liveBytes(),
            0,
            false));
  }
}
