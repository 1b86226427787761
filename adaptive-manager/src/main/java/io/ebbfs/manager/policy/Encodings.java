package io.ebbfs.manager.policy;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.settings.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;

/**
 * Which write-cold files are encoded now, and into which code. Read-hot ones go fast as far as the
 * bound has room, hottest first; those for which there will be room wait a little, and the others
 * for them; the rest goes compact. With a single code all of them go there. Blocks gather for a
 * while, so that short ones share stripes with others of nearly their length; then those go that
 * fill stripes, and after the policy's fillWait the others. Stripes of short or few blocks can
 * store more than the bound allows: they wait until others have made room for them, if any can.
 */
final class Encodings {
  /**
   * Stripes of one decision: enough to pack well, and a bound on what the namenode packs at once.
   */
  private static final int STRIPES_PER_DECISION = 40;

  /** How much more than the code's own overhead fast stripes may store for being partly filled. */
  private static final double SLACK = 1.05;

  private final PolicyRun run;
  private final PolicyRule rule;
  private final boolean fastCanShrink;
  private final Map<Long, String> waiting;

  /** Puts into waiting why a file is not encoded, by its id. */
  Encodings(PolicyRun run, boolean fastCanShrink, Map<Long, String> waiting) {
    this.run = run;
    this.rule = run.rule;
    this.fastCanShrink = fastCanShrink;
    this.waiting = waiting;
  }

  void decide(List<Decision> decisions) {
    List<FileView> hot = new ArrayList<>();
    List<FileView> cold = new ArrayList<>();
    for (FileView file : withinBudget(eligible())) {
      (!rule.isSingle() && run.temperature.hot(file, rule) ? hot : cold).add(file);
    }
    hot.sort(
        Comparator.comparingDouble((FileView f) -> -run.temperature.ofFile(f, rule))
            .thenComparing(FileView::id));

    int end = longest(hot, hot.size(), n -> endsUnderBound(hot, cold, n));
    int fit = longest(hot, end, n -> use(hot.subList(0, n)) <= run.ledger.strictRoom());
    int now = fit < end && gatherMore(hot.subList(0, fit)) ? 0 : fit;
    List<FileView> fast = fill(hot.subList(0, now), rule.family().fastCode(), unit(), true);
    Set<Long> taken = fast.stream().map(FileView::id).collect(Collectors.toSet());
    hot.subList(0, now).stream()
        .filter(file -> !taken.contains(file.id()) && overdue(file))
        .forEach(cold::add);
    cold.addAll(hot.subList(end, hot.size()));
    List<FileView> hopeful = hot.subList(now, end);
    List<FileView> compact = fillCompact(cold, hopeful);

    encode(fast, rule.family().fastCode(), unit(), decisions);
    ErasureCode code = rule.family().compactCode();
    encode(compact, code, code.dataCount(), decisions);
    // Or stripes that rise would take the room as soon as there is some for one of them.
    run.ledger.keep(use(hopeful));
  }

  /**
   * Whether those hot files for which there is room wait for the others, so that all their short
   * blocks share stripes: while something is under way that may make room, until they are many or
   * one of them has waited twice as long as for stripes to fill.
   */
  private boolean gatherMore(List<FileView> fit) {
    int blocks = fit.stream().mapToInt(FileView::looseBlocks).sum();
    return run.budget.used()
        && blocks < unit() * STRIPES_PER_DECISION
        && fit.stream().noneMatch(file -> waited(file, 2 * rule.fillWaitMillis()));
  }

  /** Those hopeful of room in the fast code wait while something is under way that makes room. */
  private List<FileView> fillCompact(List<FileView> cold, List<FileView> hopeful) {
    ErasureCode code = rule.family().compactCode();
    List<FileView> compact = fill(cold, code, code.dataCount(), false);
    if (hopeful.isEmpty()) {
      return compact;
    }
    boolean makesRoom = !compact.isEmpty() || run.budget.used();
    for (FileView file : hopeful) {
      if (makesRoom || !overdue(file)) {
        waiting.put(
            file.id(),
            "read-hot; waits for compact encodings to make room for " + rule.family().fast());
      } else {
        cold.add(file);
      }
    }
    return makesRoom ? compact : fill(cold, code, code.dataCount(), false);
  }

  /** Blocks of fast stripes that will merge into one: fewer would never save anything by it. */
  private int unit() {
    return rule.family().fastCode().dataCount() * rule.family().groupSize();
  }

  private List<FileView> eligible() {
    return run.files.stream()
        .filter(
            file ->
                !file.underConstruction()
                    && file.looseBlocks() > 0
                    && file.transitionId() == 0
                    && file.lengthBytes() >= rule.minFileBytes()
                    && waited(file, 0)
                    && !run.failedFiles.containsKey(file.id()))
        .sorted(Comparator.comparingLong(FileView::modifiedMillis).thenComparing(FileView::id))
        .toList();
  }

  private List<FileView> withinBudget(List<FileView> files) {
    List<FileView> within = new ArrayList<>();
    long bytes = 0;
    long blocks = 0;
    for (FileView file : files) {
      long stripes = blocks / rule.family().compactCode().dataCount();
      if (run.budget.allows(bytes, file.replicatedBytes(), stripes)) {
        within.add(file);
        bytes += file.replicatedBytes();
        blocks += file.looseBlocks();
      } else {
        waiting.put(
            file.id(),
            "the limit of "
                + Units.showBytes(rule.maxBytesPerRun())
                + " or of transitions under way is reached");
      }
    }
    return within;
  }

  /** Whether a file has been write-cold for so long. */
  private boolean waited(FileView file, long millis) {
    long age = run.snapshot.nowMillis() - file.modifiedMillis();
    return age >= rule.writeColdAfterMillis() + millis;
  }

  private boolean overdue(FileView file) {
    return waited(file, rule.fillWaitMillis());
  }

  /** Half of fillWait, and no longer than it took to become write-cold: replicas cost space. */
  private long gatherMillis() {
    return Math.min(rule.fillWaitMillis() / 2, rule.writeColdAfterMillis());
  }

  private boolean isYoung(FileView file) {
    return !waited(file, gatherMillis());
  }

  private double use(List<FileView> fast) {
    Packing packing = Packing.of(fast, rule.family().fastCode());
    return Math.max(0, run.ledger.use(packing.storedBytes(), packing.dataBytes()));
  }

  /** Whether the bound holds once the first n of the hot files are fast and all others compact. */
  private boolean endsUnderBound(List<FileView> hot, List<FileView> cold, int n) {
    List<FileView> rest = new ArrayList<>(cold);
    rest.addAll(hot.subList(n, hot.size()));
    Packing fast = Packing.of(hot.subList(0, n), rule.family().fastCode());
    Packing compact = Packing.of(rest, rule.family().compactCode());
    double use =
        run.ledger.use(
            fast.storedBytes() + compact.storedBytes(), fast.dataBytes() + compact.dataBytes());
    return use <= run.ledger.endRoom();
  }

  /**
   * How many of the first files pass, at most so many: looked for among the prefixes that fill
   * groups of stripes, and the whole. What it returns was tested, or is 0.
   */
  private int longest(List<FileView> files, int most, IntPredicate passes) {
    if (most == 0 || passes.test(most)) {
      return most;
    }
    List<Integer> ends = filling(files.subList(0, most));
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

  /** For each multiple of the unit: the longest prefix with no more blocks. */
  private List<Integer> filling(List<FileView> files) {
    List<Integer> ends = new ArrayList<>();
    int blocks = 0;
    for (int i = 0; i < files.size(); i++) {
      int next = blocks + files.get(i).looseBlocks();
      if (i > 0 && next / unit() > blocks / unit() && next % unit() != 0) {
        ends.add(i);
      }
      if (next % unit() == 0) {
        ends.add(i + 1);
      }
      blocks = next;
    }
    return ends;
  }

  /** Encodes files in batches; of each, those stripes for which there is room. */
  private void encode(List<FileView> taken, ErasureCode code, int unit, List<Decision> decisions) {
    for (List<FileView> batch : batches(taken, unit)) {
      List<Packing> stripes = Packing.stripes(batch, code);
      int now = fitting(stripes, code);
      // What waits has its room kept, and made if need be.
      stripes.forEach(stripe -> run.ledger.add(stripe.storedBytes(), stripe.dataBytes()));
      Packing packing = Packing.sum(stripes.subList(0, now));
      boolean isAll = now == stripes.size();
      String why = isAll ? "to %s by this evaluation".formatted(code.name()) : noRoom(stripes, now);
      batch.forEach(file -> waiting.put(file.id(), why));
      if (now == 0) {
        continue;
      }
      run.budget.take(packing.dataBytes(), now);
      decisions.add(
          new Decision(
              TransitionKindProto.ENCODE,
              batch.stream().map(FileView::id).toList(),
              List.of(),
              code.name(),
              rule.name(),
              reason(batch, packing, code),
              packing.dataBytes(),
              isAll ? 0 : packing.blocks(),
              rule.isSingle()));
    }
  }

  /**
   * How many of the stripes may come into being now, in any order, without exceeding the bound.
   * All, if nothing can make room for the first: the replicas store still more.
   */
  private int fitting(List<Packing> stripes, ErasureCode code) {
    if (!rule.isSingle() && code.equals(rule.family().fastCode())) {
      return stripes.size();
    }
    double room = run.ledger.strictRoom();
    int fit = 0;
    for (Packing stripe : stripes) {
      double use = Math.max(0, run.ledger.use(stripe.storedBytes(), stripe.dataBytes()));
      if (use > 0 && use > room) {
        break;
      }
      room -= use;
      fit++;
    }
    return fit == 0 && !run.budget.used() && !fastCanShrink ? stripes.size() : fit;
  }

  private String noRoom(List<Packing> stripes, int now) {
    Packing rest = Packing.sum(stripes.subList(now, stripes.size()));
    return String.format(
        Locale.ROOT,
        "the shortest %d of %d blocks that are encoded together wait for room: they would store %.2fx, the bound is %.2fx",
        rest.blocks(),
        Packing.sum(stripes).blocks(),
        (double) rest.storedBytes() / Math.max(1, rest.dataBytes()),
        rule.storageBound().orElse(0));
  }

  /**
   * The files whose blocks fill stripes, once they are many or one of them has gathered others for
   * long enough. Once one of them has waited for fillWait, all of them if that stores less than the
   * replicas; to the fast code only if next to nothing is left unfilled.
   */
  private List<FileView> fill(List<FileView> files, ErasureCode code, int unit, boolean fast) {
    List<FileView> sorted =
        files.stream()
            .sorted(
                Comparator.comparingInt(FileView::looseBlocks)
                    .thenComparing(FileView::lengthBytes)
                    .reversed()
                    .thenComparing(FileView::id))
            .toList();
    int blocks = sorted.stream().mapToInt(FileView::looseBlocks).sum();
    if (blocks < unit * STRIPES_PER_DECISION && sorted.stream().allMatch(this::isYoung)) {
      String why =
          "%d of %d blocks are there that pack well into %s; encoded %s"
              .formatted(blocks, unit * STRIPES_PER_DECISION, code.name(), after(gatherMillis()));
      sorted.forEach(file -> waiting.put(file.id(), why));
      return List.of();
    }
    boolean late = sorted.stream().anyMatch(this::overdue);
    List<FileView> filling = new ArrayList<>();
    List<FileView> rest = new ArrayList<>();
    int taken = 0;
    for (FileView file : sorted) {
      if (taken + file.looseBlocks() <= blocks / unit * unit) {
        filling.add(file);
        taken += file.looseBlocks();
      } else {
        rest.add(file);
      }
    }
    Packing some = Packing.of(filling, code);
    Packing all = Packing.of(sorted, code);
    boolean worthAll =
        fast
            ? all.storedBytes() <= all.dataBytes() * code.overhead() * SLACK
            : all.storedBytes() < some.storedBytes() + replicas(rest);
    if (rest.isEmpty() && taken % unit == 0 || late && worthAll) {
      return sorted;
    }
    boolean worth = taken % unit == 0 || late && !fast && some.storedBytes() < replicas(filling);
    explain(worth ? rest : sorted, blocks, code, unit, late);
    return worth ? filling : List.of();
  }

  private static long replicas(List<FileView> files) {
    return files.stream().mapToLong(FileView::replicatedStoredBytes).sum();
  }

  private void explain(List<FileView> files, int blocks, ErasureCode code, int unit, boolean late) {
    String why =
        late
            ? "too few blocks ("
                + blocks % unit
                + " of "
                + unit
                + ") for a stripe of "
                + code.name()
                + " that stores less than the replicas; waits for more files"
            : blocks % unit
                + " of "
                + unit
                + " blocks are there to fill "
                + code.name()
                + "; encoded partially filled "
                + after(rule.fillWaitMillis());
    files.forEach(file -> waiting.put(file.id(), why));
  }

  private String after(long waitMillis) {
    return "after " + Units.showMillis(rule.writeColdAfterMillis() + waitMillis) + " of age";
  }

  /**
   * Files of a length together, for short blocks pack well with others of nearly theirs; each batch
   * is completed with files that fit, so that it fills whole units if they all do.
   */
  private static List<List<FileView>> batches(List<FileView> files, int unit) {
    List<FileView> rest =
        files.stream()
            .sorted(Comparator.comparingLong((FileView f) -> -f.blockLengthBytes(0)))
            .collect(Collectors.toCollection(LinkedList::new));
    List<List<FileView>> batches = new ArrayList<>();
    while (!rest.isEmpty()) {
      List<FileView> batch = new ArrayList<>();
      int blocks = 0;
      for (Iterator<FileView> next = rest.iterator(); next.hasNext(); ) {
        FileView file = next.next();
        boolean room = blocks < unit * STRIPES_PER_DECISION;
        if (room || file.looseBlocks() <= Math.floorMod(-blocks, unit)) {
          batch.add(file);
          blocks += file.looseBlocks();
          next.remove();
        } else if (blocks % unit == 0) {
          break;
        }
      }
      batches.add(batch);
    }
    return batches;
  }

  private String reason(List<FileView> batch, Packing packing, ErasureCode code) {
    return String.format(
        Locale.ROOT,
        "%d files, %s, write-cold for %s; %s; stored %.2fx instead of %.2fx",
        batch.size(),
        Units.showBytes(packing.dataBytes()),
        Units.showMillis(rule.writeColdAfterMillis()),
        rule.isSingle() ? "the only code of the policy" : heat(batch, code),
        (double) packing.storedBytes() / Math.max(1, packing.dataBytes()),
        batch.stream().mapToLong(FileView::replicatedStoredBytes).sum()
            / (double) Math.max(1, packing.dataBytes()));
  }

  private String heat(List<FileView> batch, ErasureCode code) {
    boolean fast = code.name().equals(rule.family().fast());
    double coldest =
        batch.stream().mapToDouble(f -> run.temperature.ofFile(f, rule)).min().orElse(0);
    double hottest =
        batch.stream().mapToDouble(f -> run.temperature.ofFile(f, rule)).max().orElse(0);
    String noRoom =
        !fast && hottest >= rule.readHot().threshold() ? ", no room for more fast data" : "";
    return String.format(
        Locale.ROOT,
        "%s to %s (hot from %s)%s",
        Temperature.show(coldest, rule),
        Temperature.show(hottest, rule),
        rule.readHot().show(),
        noRoom);
  }
}
