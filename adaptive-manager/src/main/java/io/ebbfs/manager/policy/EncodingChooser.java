package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.manager.bound.PackingForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.FileView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;

/**
 * Chooses which write-cold files are encoded now, and into which code.
 *
 * <p>Read-hot files go into the fast code, the hottest first, as far as the storage bound has room.
 * If transitions under way will make room for more of them, these hot files wait for it, and the
 * first hot files wait with them for a while: short blocks of many files pack better than short
 * blocks of few. All other files go into the compact code. A policy with a single code encodes all
 * files into it. {@link EncodingCandidates} tells which files are due, {@link StripeFiller} which
 * of them fill stripes, and {@link EncodingDecider} makes the decisions.
 */
final class EncodingChooser {
  private final PolicyView view;
  private final PolicyRule rule;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final FailedTransitions failed;
  private final boolean fastCanShrink;
  private final Map<Long, String> waiting;
  private final Temperature temperature;
  private final EncodingAge age;

  /**
   * @param fastCanShrink whether fast stripes are left that could become compact and so make room
   * @param waiting receives the reason of each due file that is not encoded, by its id
   */
  EncodingChooser(
      PolicyView view,
      StorageBound bound,
      ProposalLimit limit,
      FailedTransitions failed,
      boolean fastCanShrink,
      Map<Long, String> waiting) {
    this.view = view;
    this.rule = view.rule();
    this.bound = bound;
    this.limit = limit;
    this.failed = failed;
    this.fastCanShrink = fastCanShrink;
    this.waiting = waiting;
    this.temperature = view.temperature();
    this.age = new EncodingAge(rule, view.snapshot().nowMillis());
  }

  /**
   * Decides the encodings of this evaluation.
   *
   * @return bytes of room that encodings lack now and that nothing under way can make; 0 if none
   */
  double decide(List<Decision> decisions) {
    List<FileView> hot = new ArrayList<>();
    List<FileView> cold = new ArrayList<>();
    for (FileView file : EncodingCandidates.select(view, limit, failed, age, waiting)) {
      (!rule.isSingle() && temperature.isHot(file) ? hot : cold).add(file);
    }
    hot.sort(
        Comparator.comparingDouble((FileView f) -> -temperature.ofFile(f))
            .thenComparing(FileView::id));

    // Of the hot files, the first `now` may go fast now, and the files up to `end` later.
    int end = longestPrefix(hot, hot.size(), n -> holdsAtEnd(hot, cold, n));
    int fit = longestPrefix(hot, end, n -> bound.fitsNow(asFast(hot.subList(0, n))));
    int now = fit < end && gatherMore(hot.subList(0, fit)) ? 0 : fit;
    List<FileView> fast = fillFast(hot.subList(0, now), cold);
    cold.addAll(hot.subList(end, hot.size()));
    List<FileView> hopeful = hot.subList(now, end);
    List<FileView> compact = fillCompact(cold, hopeful);

    EncodingDecider decider = new EncodingDecider(view, bound, limit, fastCanShrink, waiting);
    decider.encodeFast(fast, fastUnitBlocks(), decisions);
    decider.encodeCompact(compact, decisions);
    // Without this, conversions to fast would take the room as soon as it is enough for one.
    bound.reserve(asFast(hopeful));
    return limit.isUsed() ? 0 : decider.roomMissingNow();
  }

  /**
   * Whether the hot files that fit now wait for the other hot files, so that the short blocks of
   * all share stripes. They wait only while something under way may make room, while they are few,
   * and until one of them is overdue twice.
   */
  private boolean gatherMore(List<FileView> fit) {
    int blocks = fit.stream().mapToInt(FileView::unencodedBlocks).sum();
    return limit.isUsed()
        && blocks < fastUnitBlocks() * EncodingBatches.STRIPES_PER_DECISION
        && fit.stream().noneMatch(age::isOverdueTwice);
  }

  /**
   * Chooses the files that fill fast stripes. Overdue files that do not are added to cold, but for
   * those that still earn more as replicas.
   */
  private List<FileView> fillFast(List<FileView> hot, List<FileView> cold) {
    ErasureCode code = rule.family().fastCode();
    List<FileView> fast = new StripeFiller(code, fastUnitBlocks(), true, age, waiting).choose(hot);
    Set<Long> chosen = fast.stream().map(FileView::id).collect(Collectors.toSet());
    hot.stream()
        .filter(file -> !chosen.contains(file.id()) && age.isOverdue(file))
        .filter(file -> temperature.waitsReplicated(file).isEmpty())
        .forEach(cold::add);
    return fast;
  }

  /**
   * Chooses the files that fill compact stripes. Hopeful files, which are hot, wait for room in the
   * fast code while something under way makes room; otherwise the overdue ones go compact.
   */
  private List<FileView> fillCompact(List<FileView> cold, List<FileView> hopeful) {
    ErasureCode code = rule.family().compactCode();
    StripeFiller filler = new StripeFiller(code, code.dataCount(), false, age, waiting);
    List<FileView> compact = filler.choose(cold);
    if (hopeful.isEmpty()) {
      return compact;
    }
    boolean makesRoom = !compact.isEmpty() || limit.isUsed();
    for (FileView file : hopeful) {
      if (makesRoom || !age.isOverdue(file)) {
        waiting.put(
            file.id(),
            "read-hot; waits for compact encodings to make room for "
                + rule.family().fast()
                + temperature.sidesOfFast(List.of(file)).map(text -> "; " + text).orElse(""));
      } else {
        cold.add(file);
      }
    }
    return makesRoom ? compact : filler.choose(cold);
  }

  /**
   * Data blocks of the fast stripes that will merge into one compact stripe. Fewer would save
   * nothing at the conversion.
   */
  private int fastUnitBlocks() {
    return rule.family().fastCode().dataCount() * rule.family().groupSize();
  }

  private StorageBound.Change asFast(List<FileView> files) {
    return EncodingDecider.change(PackingForecast.of(files, rule.family().fastCode()));
  }

  /** Whether the bound holds once the first n hot files are fast and all other files compact. */
  private boolean holdsAtEnd(List<FileView> hot, List<FileView> cold, int n) {
    List<FileView> rest = new ArrayList<>(cold);
    rest.addAll(hot.subList(n, hot.size()));
    PackingForecast fast = PackingForecast.of(hot.subList(0, n), rule.family().fastCode());
    PackingForecast compact = PackingForecast.of(rest, rule.family().compactCode());
    return bound.fitsAtEnd(
        new StorageBound.Change(
            fast.mostStoredBytes() + compact.mostStoredBytes(),
            fast.dataBytes() + compact.dataBytes()));
  }

  /**
   * The longest prefix that passes, of at most so many files. It tests the whole and the prefixes
   * that fill groups of fast stripes. The result passed the test, or is 0.
   */
  private int longestPrefix(List<FileView> files, int most, IntPredicate passes) {
    if (most == 0 || passes.test(most)) {
      return most;
    }
    List<Integer> ends = fillingPrefixes(files.subList(0, most));
    int low = -1;
    int high = ends.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) / 2;
      if (passes.test(ends.get(middle))) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low < 0 ? 0 : ends.get(low);
  }

  /** For each number of full groups: the longest prefix whose blocks do not exceed them. */
  private List<Integer> fillingPrefixes(List<FileView> files) {
    int unit = fastUnitBlocks();
    List<Integer> ends = new ArrayList<>();
    int blocks = 0;
    for (int i = 0; i < files.size(); i++) {
      int next = blocks + files.get(i).unencodedBlocks();
      if (i > 0 && next / unit > blocks / unit && next % unit != 0) {
        ends.add(i);
      }
      if (next % unit == 0) {
        ends.add(i + 1);
      }
      blocks = next;
    }
    return ends;
  }
}
