package io.ebbfs.manager.policy;

import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.DOWNCODE;
import static io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto.UPCODE;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.bound.ConversionForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
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
 * <p>Stripes that lost a block or are in a transition or in a decision are left alone.
 */
final class ConversionChooser {
  private final PolicyRule rule;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final FailedTransitions failed;
  private final Temperature temperature;
  private final ReadsOfStripes reads;
  private final double readsSaved;
  private final ConversionForecast forecast;
  private final ConversionPace pace;
  private final Map<Long, String> waiting;

  /** Stripes that are in a decision. */
  private final Set<Long> taken;

  /** What the conversions for heat wait for that come after the limits of the run; null if none. */
  private String stopped;

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
      return StorageBound.Change.ofStored(parityDelta);
    }
  }

  /**
   * @param waiting receives what each stripe waits for whose conversion is due, by the stripe's id
   */
  ConversionChooser(
      PolicyView view,
      StorageBound bound,
      ProposalLimit limit,
      ConversionPace pace,
      FailedTransitions failed,
      Set<Long> taken,
      Map<Long, String> waiting) {
    this.rule = view.rule();
    this.bound = bound;
    this.limit = limit;
    this.failed = failed;
    this.temperature = view.temperature();
    this.reads = new ReadsOfStripes(view.snapshot());
    this.readsSaved = PairCost.of(rule.family()).readsSaved();
    this.forecast = new ConversionForecast(rule.family());
    this.pace = pace;
    this.waiting = waiting;
    this.taken = taken;
    if (!rule.isSingle()) {
      collectCandidates(view.stripes());
    }
  }

  private void collectCandidates(List<StripeView> stripes) {
    Map<Long, List<StripeView>> fastGroups = new TreeMap<>();
    for (StripeView stripe : stripes) {
      if (stripe.code().equals(rule.family().fast())) {
        fastGroups.computeIfAbsent(groupOf(stripe), id -> new ArrayList<>()).add(stripe);
      } else if (stripe.code().equals(rule.family().compact())) {
        addCandidate(List.of(stripe), DOWNCODE, compact);
      }
    }
    fastGroups.values().forEach(group -> addCandidate(group, UPCODE, fast));
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
    if (kind == DOWNCODE ? delta >= 0 : delta < 0) {
      candidates.add(new Candidate(ordered, temperature.ofStripes(ordered), delta));
    }
  }

  /** Whether fast stripes are left that could make room. */
  boolean canMakeRoom() {
    return hasColdest();
  }

  /** Whether fast stripes are left. Those that are in a decision by now are taken out. */
  private boolean hasColdest() {
    while (!fast.isEmpty() && isTaken(fast.get(0))) {
      fast.remove(0);
    }
    return !fast.isEmpty();
  }

  private boolean isTaken(Candidate candidate) {
    return candidate.ids().stream().anyMatch(taken::contains);
  }

  /**
   * Reads that the fast code makes cheaper for each byte that it stores more, of the coldest fast
   * stripes; infinite if they are pinned fast, and less than any other if they are pinned compact.
   * Empty if there are none, or if the limits do not allow their conversion.
   */
  OptionalDouble benefitOfColdest() {
    if (!hasColdest() || !allowed(fast.get(0))) {
      return OptionalDouble.empty();
    }
    Candidate coldest = fast.get(0);
    if (Double.isInfinite(coldest.heat)) {
      return OptionalDouble.of(coldest.heat);
    }
    double freedPerByte = -coldest.parityDelta / Math.max(1, coldest.liveBytes());
    return OptionalDouble.of(reads.ofStripes(coldest.stripes) * readsSaved / freedPerByte);
  }

  /** Converts the coldest fast stripes to compact, since the cluster is over its bound. */
  void giveWay(StorageBound cluster, List<Decision> decisions) {
    Candidate coldest = fast.remove(0);
    String reason =
        String.format(
            Locale.ROOT,
            "storage of the cluster %.3fx is over its bound %s; fast stripes of least benefit at"
                + " %s",
            cluster.overheadAtEnd(),
            cluster.show(),
            temperature.show(coldest.heat));
    decide(coldest, UPCODE, reason, decisions);
  }

  /** While the policy is over its bound, converts the coldest fast stripes to compact. */
  void keepBound(List<Decision> decisions) {
    while (bound.isExceededAtEnd() && hasColdest() && allowed(fast.get(0))) {
      Candidate coldest = fast.remove(0);
      String reason =
          String.format(
              Locale.ROOT,
              "storage %.3fx is over the bound %s; coldest fast stripes at %s",
              bound.overheadAtEnd(),
              bound.show(),
              temperature.show(coldest.heat));
      decide(coldest, UPCODE, reason, decisions);
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
    while (missing > 0 && hasColdest() && allowed(fast.get(0))) {
      Candidate coldest = fast.remove(0);
      missing += coldest.parityDelta;
      String reason =
          String.format(
              Locale.ROOT,
              "makes room under the bound %s for blocks that wait to be encoded; coldest fast"
                  + " stripes at %s",
              bound.show(),
              temperature.show(coldest.heat));
      decide(coldest, UPCODE, reason, decisions);
    }
  }

  /**
   * Converts stripes for their heat: read-cold fast stripes to compact, the coldest first, and
   * read-hot compact stripes to fast, the hottest first and never beyond the bound. Of the two that
   * are next, the one whose conversion has the greater benefit comes first, so that it takes the
   * budget and the limits of the run first.
   */
  void forHeat(List<Decision> decisions) {
    fast.removeIf(this::isTaken);
    compact.removeIf(this::isTaken);
    Deque<Paying> cold = new ArrayDeque<>(paying(fast, UPCODE));
    Deque<Paying> hot = new ArrayDeque<>(paying(compact, DOWNCODE));
    while (!cold.isEmpty() || hasRoomForFirst(hot)) {
      boolean coldFirst =
          !hasRoomForFirst(hot) || !cold.isEmpty() && cold.peek().benefit() > hot.peek().benefit();
      Paying next = coldFirst ? cold.poll() : hot.poll();
      Candidate candidate = next.candidate;
      if (!mayConvertNow(candidate, next.kind)) {
        continue;
      }
      if (coldFirst) {
        fast.remove(candidate);
        decide(candidate, UPCODE, next.gain.why(), decisions);
      } else {
        decide(candidate, DOWNCODE, toFastReason(next.gain.why()), decisions);
      }
    }
    toFastWithLittleRoom(hot, decisions);
  }

  /** A conversion that has a reason, and that neither the hours nor a stay hold back. */
  private record Paying(Candidate candidate, TransitionKindProto kind, Temperature.Gain gain) {
    double benefit() {
      return gain.benefit();
    }
  }

  /** The conversions that have a reason, in the order of the candidates. */
  private List<Paying> paying(List<Candidate> candidates, TransitionKindProto kind) {
    List<Paying> paying = new ArrayList<>();
    for (Candidate candidate : candidates) {
      Optional<Temperature.Gain> gain =
          kind == UPCODE
              ? temperature.toCompact(candidate.stripes, candidate.heat)
              : temperature.toFast(candidate.stripes.get(0), candidate.heat);
      Optional<String> hold = pace.hold(candidate.createdMillis());
      if (gain.isPresent() && hold.isPresent()) {
        waits(candidate, kind, hold.get());
      } else if (gain.isPresent()) {
        paying.add(new Paying(candidate, kind, gain.get()));
      }
    }
    return paying;
  }

  private boolean hasRoomForFirst(Deque<Paying> hot) {
    return !hot.isEmpty() && bound.fitsNow(hot.peek().candidate.change());
  }

  /**
   * Once the first conversion does not fit into the budget or the limits, all that follow wait:
   * smaller ones of less benefit would take what the first waits for.
   */
  private boolean mayConvertNow(Candidate candidate, TransitionKindProto kind) {
    if (stopped == null && !allowed(candidate)) {
      stopped = limit.show();
    }
    if (stopped == null && !pace.hasLeft(candidate.liveBytes())) {
      stopped = pace.budget();
    }
    if (stopped != null) {
      waits(candidate, kind, stopped);
    }
    return stopped == null;
  }

  /**
   * Converts hot stripes of which the first had no room. Once room is being made for one stripe,
   * the less hot ones wait: otherwise they would take the room, and would be converted back to make
   * room again.
   */
  private void toFastWithLittleRoom(Deque<Paying> hot, List<Decision> decisions) {
    boolean roomIsMade = false;
    for (Paying next : hot) {
      Candidate candidate = next.candidate;
      if (!mayConvertNow(candidate, DOWNCODE)) {
        continue;
      }
      if (!roomIsMade && bound.fitsNow(candidate.change())) {
        decide(candidate, DOWNCODE, toFastReason(next.gain.why()), decisions);
        continue;
      }
      roomIsMade =
          roomIsMade || bound.fitsAtEnd(candidate.change()) || makeRoom(candidate, decisions);
      waits(
          candidate,
          DOWNCODE,
          "room under the bound %s%s"
              .formatted(bound.show(), roomIsMade ? ", which is being made" : ""));
    }
  }

  private void waits(Candidate candidate, TransitionKindProto kind, String what) {
    String code = kind == UPCODE ? rule.family().compact() : rule.family().fast();
    String text = "its conversion to %s is due and waits for %s".formatted(code, what);
    candidate.ids().forEach(id -> waiting.put(id, text));
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
      if (pace.hold(colder.createdMillis()).isEmpty()) {
        chosen.add(colder);
        bytes += colder.liveBytes();
        missing += colder.parityDelta;
      }
    }
    boolean enough = missing <= 0 && pace.hasLeft(bytes);
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
      decide(colder, UPCODE, reason, decisions);
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

  private boolean allowed(Candidate candidate) {
    return limit.allows(candidate.liveBytes());
  }

  private void decide(
      Candidate candidate, TransitionKindProto kind, String reason, List<Decision> decisions) {
    bound.enter(candidate.change());
    taken.addAll(candidate.ids());
    limit.take(candidate.liveBytes(), 1);
    pace.take(candidate.liveBytes());
    boolean toCompact = kind == UPCODE;
    decisions.add(
        Decision.convert(
            kind,
            rule,
            toCompact ? rule.family().compact() : rule.family().fast(),
            candidate.ids(),
            reason + "; " + Units.showBytes(candidate.liveBytes()),
            candidate.liveBytes()));
  }
}
