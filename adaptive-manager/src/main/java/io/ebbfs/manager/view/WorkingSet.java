package io.ebbfs.manager.view;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.view.ViewStore.StripeIndex;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Takes from the {@link NamespaceView} what a run of the policies may decide about: of each policy
 * the files that were written first of those that have to be encoded, stripes in another code than
 * their policy's, fast stripes that nobody reads, stripes that free space most cheaply if the
 * policy is over its bound or the cluster has one, stripes in another code than their files are
 * pinned to, the files that were read most, with their stripes, and what transitions under way
 * hold. So a run costs more if more may be decided, and not because more is stored or was read. Not
 * thread-safe.
 */
public final class WorkingSet {
  /**
   * One run looks at so many stripes of an index, besides the stripes of the files that were read
   * most. The next run goes on behind these stripes.
   */
  private static final int MOST_UNREAD = 2_000;

  private static final int MOST_LOOKED_AT = 20_000;

  /** Stripes with space to free that one run looks at; what they free leads to the next. */
  private static final int MOST_WORN = 2_000;

  /** Stripes that are not as their files are pinned that one run looks at. */
  private static final int MOST_PINNED = 2_000;

  /**
   * Fast stripes that were the coldest of those that runs have looked at, and that the next run
   * looks at again. So a run knows the coldest ones of all, although it looks at a part.
   */
  private static final int MOST_COLDEST = 1_000;

  /** Files that were read most, by heat and by memory, as far as policies ask for these. */
  private static final int MOST_READ = 3_000;

  /**
   * Files with data in stripes that were written lately, of a policy that releases them, that one
   * run looks at.
   */
  private static final int MOST_WRITTEN = 2_000;

  /**
   * Files that have to be encoded that one run looks at, whether they count for a limit or not; the
   * next run looks at those behind.
   */
  private static final int MOST_DUE = 20_000;

  /** Files that are looked at beside those that the limit of transitions allows. */
  private static final int MORE_FILES = 1_000;

  private final NamespaceView view;
  private final int mostUnread;
  private final int mostRead;
  private final int mostColdest;
  private final int mostDue;
  // What all steps of one run go by.
  private PolicySet policies;
  // Where this run begins to look at an index, and where the next run does, by index and policy.
  private Map<String, Long> fromGroup = Map.of();
  private Map<String, Long> nextGroup = new HashMap<>();
  // The last stripe that the runs before have looked at, of those that are pinned, by policy.
  private final Map<String, Long> lastPinned = new HashMap<>();
  private Map<String, Long> nextPinned = Map.of();
  // The file that is looked at first of those that have to be encoded, by policy, and the same of
  // those that were written lately: for this run, and for the next one.
  private Map<String, Due> fromDue = Map.of();
  private Map<String, Due> nextDue = new HashMap<>();
  private Map<String, Due> fromWritten = Map.of();
  private Map<String, Due> nextWritten = new HashMap<>();
  // The coldest fast stripes that were found, by policy: for this run, and for the next one.
  private Map<String, List<Long>> coldest = Map.of();
  private Map<String, List<Long>> nextColdest = new HashMap<>();
  private Map<Long, FileView> files = new LinkedHashMap<>();
  private Map<Long, StripeView> stripes = new HashMap<>();
  // The pins that hold below directories.
  private Map<Long, Pin> pins = new HashMap<>();

  /** A place among the files that have to be encoded, which are sorted by time and id. */
  private record Due(long modifiedMillis, long fileId) {
    static final Due FIRST = new Due(0, 0);

    Due next() {
      return new Due(modifiedMillis, fileId + 1);
    }
  }

  public WorkingSet(NamespaceView view) {
    this(view, MOST_UNREAD, MOST_READ, MOST_COLDEST, MOST_DUE);
  }

  /**
   * @param mostUnread stripes of an index that one run looks at beside those of the files that were
   *     read most
   * @param mostRead files that were read most, by heat and by memory
   * @param mostColdest fast stripes that the next run looks at again
   * @param mostDue files that have to be encoded that one run looks at
   */
  public WorkingSet(
      NamespaceView view, int mostUnread, int mostRead, int mostColdest, int mostDue) {
    this.view = view;
    this.mostUnread = mostUnread;
    this.mostRead = mostRead;
    this.mostColdest = mostColdest;
    this.mostDue = mostDue;
  }

  /** What a snapshot has beside files and stripes. */
  public record Surroundings(
      long nowMillis,
      ClusterSnapshot.Limits limits,
      ClusterSnapshot.Cluster cluster,
      ReadCounts heat,
      long repairedBlocks,
      long lostBlocks,
      Experience experience,
      List<TransitionView> transitions) {
    /** The same with other counts of reads. */
    public Surroundings withReads(ReadCounts otherHeat, ReadCounts remembered) {
      return new Surroundings(
          nowMillis,
          limits,
          cluster,
          otherHeat,
          repairedBlocks,
          lostBlocks,
          experience.withReads(remembered),
          transitions);
    }

    /** The same with fewer transitions. */
    public Surroundings withTransitions(List<TransitionView> fewer) {
      return new Surroundings(
          nowMillis, limits, cluster, heat, repairedBlocks, lostBlocks, experience, fewer);
    }

    /** A snapshot of these files and stripes. */
    public ClusterSnapshot with(
        PolicySet policies,
        Collection<FileView> files,
        Map<Long, StripeView> stripes,
        Map<String, PolicySums> sums) {
      return new ClusterSnapshot(
          nowMillis,
          policies,
          limits,
          cluster,
          files,
          stripes,
          sums,
          heat,
          repairedBlocks,
          lostBlocks,
          experience,
          transitions);
    }
  }

  /** The next snapshot is of another run: it looks at the files and stripes that follow. */
  public void nextRun() {
    fromDue = Map.copyOf(nextDue);
    fromWritten = Map.copyOf(nextWritten);
    fromGroup = Map.copyOf(nextGroup);
    coldest = Map.copyOf(nextColdest);
    lastPinned.putAll(nextPinned);
  }

  /** Takes a snapshot for the policies that the view is sorted by. */
  public ClusterSnapshot take(Surroundings around) {
    return take(around, view.policies());
  }

  /**
   * Takes a snapshot.
   *
   * @param sorted the rules that the view is sorted by, and the bound of the cluster to keep, which
   *     may be another one than that of the view
   */
  public ClusterSnapshot take(Surroundings around, PolicySet sorted) {
    policies = sorted;
    nextDue = new HashMap<>();
    nextWritten = new HashMap<>();
    files = new LinkedHashMap<>();
    stripes = new HashMap<>();
    pins = new HashMap<>();
    nextGroup = new HashMap<>();
    nextPinned = new HashMap<>();
    Set<Long> failed = addUnderWay(around);
    if (isHeatAskedFor()) {
      around.heat().mostRead(mostRead, view::hasFile).forEach(this::addWithStripes);
    }
    around.experience().reads().mostRead(mostRead, view::hasFile).forEach(this::addWithStripes);
    Map<String, PolicySums> sums = view.sums();
    for (PolicyRule rule : policies.rules()) {
      addDue(rule, around, failed);
      addPart(rule, StripeIndex.OTHER_CODE);
      addPinned(rule);
      if (rule.releaseWhenWritten()) {
        addWritten(rule, around);
      }
      if (!rule.isSingle()) {
        coldest.getOrDefault(rule.name(), List.of()).forEach(this::addStripe);
        addPart(rule, StripeIndex.FAST);
      }
      if (mayFree(rule, sums)) {
        view.worn(rule.name(), MOST_WORN).forEach(this::addStripe);
      }
    }
    addGroups();
    ClusterSnapshot snapshot = snapshot(around, sums);
    nextColdest = coldestOf(snapshot);
    return snapshot;
  }

  private Map<String, List<Long>> coldestOf(ClusterSnapshot snapshot) {
    Map<String, List<Long>> found = new HashMap<>();
    for (PolicyRule rule : snapshot.policies().rules()) {
      Map<Long, Double> reads = new HashMap<>();
      for (StripeView stripe : rule.isSingle() ? List.<StripeView>of() : stripes.values()) {
        if (stripe.policy().equals(rule.name()) && stripe.code().equals(rule.family().fast())) {
          reads.put(stripe.id(), readsPerByte(stripe, rule, snapshot));
        }
      }
      found.put(
          rule.name(),
          reads.entrySet().stream()
              .sorted(Map.Entry.<Long, Double>comparingByValue().thenComparing(Map.Entry::getKey))
              .limit(mostColdest)
              .map(Map.Entry::getKey)
              .toList());
    }
    return found;
  }

  private static double readsPerByte(StripeView stripe, PolicyRule rule, ClusterSnapshot snapshot) {
    boolean remembered = rule.readHot().unit() == ReadHot.Unit.AUTO;
    double reads = 0;
    for (StripeView.Member member : stripe.members()) {
      if (member.isOwnedByFile(stripe.id())) {
        long id = member.ownerId();
        double ofFile = remembered ? snapshot.experience().readsOf(id) : snapshot.heatOf(id);
        reads += ofFile * member.lengthBytes();
      }
    }
    return reads / Math.max(1, stripe.liveBytes());
  }

  /** Whether space of deleted data may have to be freed for a bound. */
  private boolean mayFree(PolicyRule rule, Map<String, PolicySums> sums) {
    return policies.storageBound().isPresent()
        || sums.containsKey(rule.name()) && sums.get(rule.name()).exceeds(rule.storageBound());
  }

  /** Takes a snapshot of what is under way and of what an operator names. */
  public ClusterSnapshot takeNamed(
      Surroundings around, Collection<Long> fileIds, Collection<Long> stripeIds) {
    policies = view.policies();
    files = new LinkedHashMap<>();
    stripes = new HashMap<>();
    pins = new HashMap<>();
    addUnderWay(around);
    fileIds.forEach(this::addWithStripes);
    stripeIds.forEach(this::addStripe);
    addGroups();
    return snapshot(around, view.sums());
  }

  /** Whether a policy has a threshold; the others weigh remembered reads. */
  private boolean isHeatAskedFor() {
    return policies.rules().stream().anyMatch(rule -> rule.readHot().unit() != ReadHot.Unit.AUTO);
  }

  /** Reads the counts of all that was taken, once. */
  private ClusterSnapshot snapshot(Surroundings around, Map<String, PolicySums> sums) {
    Set<Long> ids = new HashSet<>(files.keySet());
    stripes.values().forEach(stripe -> ids.addAll(stripe.fileIds()));
    ReadCounts heat = around.heat().fixed(ids);
    ReadCounts remembered = around.experience().reads().fixed(ids);
    if (isHeatAskedFor()) {
      // What was read weighs by its length, which the stripe does not tell.
      ids.stream().filter(id -> heat.of(id) > 0).forEach(this::addFile);
    }
    return around
        .withReads(heat, remembered)
        .with(policies, new ArrayList<>(files.values()), stripes, sums);
  }

  /** Returns the files whose encoding has failed. */
  private Set<Long> addUnderWay(Surroundings around) {
    Set<Long> failed = new HashSet<>();
    for (TransitionView transition : around.transitions()) {
      if (transition.active() && transition.kind() != TransitionKindProto.REPAIR) {
        transition.blocks().forEach(block -> addFile(block.ownerId()));
        addFile(transition.groupFileId());
        transition.stripeIds().forEach(this::addStripe);
      } else if (!transition.active()) {
        transition.blocks().forEach(block -> failed.add(block.ownerId()));
        failed.add(transition.groupFileId());
      }
    }
    return failed;
  }

  /** A new pin holds before it has spread: otherwise a file may be encoded against its pin. */
  private void addFile(long id) {
    FileView file = files.containsKey(id) ? null : view.fileWithPin(id, pins);
    if (file != null) {
      files.put(id, file);
    }
  }

  private void addWithStripes(long id) {
    addFile(id);
    FileView file = files.get(id);
    if (file != null) {
      file.stripeIds().forEach(this::addStripe);
    }
  }

  private void addStripe(long id) {
    StripeView stripe = stripes.containsKey(id) ? null : view.stripe(id);
    if (stripe == null) {
      return;
    }
    stripes.put(id, stripe);
    if (policies.named(stripe.policy()).isEmpty()) {
      // The policy of such a stripe is that of its files.
      for (StripeView.Member member : stripe.members()) {
        if (member.isOwnedByFile(id)) {
          addFile(member.ownerId());
        }
      }
    }
  }

  /** Fast stripes of one group convert together, so a part of a group would be taken for all. */
  private void addGroups() {
    for (StripeView stripe : List.copyOf(stripes.values())) {
      if (stripe.groupId() != 0) {
        view.groupOf(stripe.id()).forEach(this::addStripe);
      }
    }
  }

  /**
   * Files whose encoding has failed, files that are read, and files that their clients have encoded
   * are looked at beside the others: they may be left out or stay as they are, and must not keep
   * the files behind them away.
   */
  private void addDue(PolicyRule rule, Surroundings around, Set<Long> failed) {
    long coldMillis = around.nowMillis() - rule.writeColdAfterMillis();
    long most =
        (long) around.limits().maxPendingTransitions() * rule.family().compactCode().dataCount()
            + MORE_FILES;
    List<Long> due = new ArrayList<>();
    int[] counted = {0};
    long[] bytes = {0};
    Due from = fromDue.getOrDefault(rule.name(), Due.FIRST);
    view.eachDueFrom(
        rule.name(),
        from.modifiedMillis(),
        from.fileId(),
        (modified, id, length) -> {
          if (modified > coldMillis) {
            return false;
          }
          if (due.size() == mostDue) {
            nextDue.put(rule.name(), new Due(modified, id));
            return false;
          }
          due.add(id);
          if (!failed.contains(id)
              && around.experience().reads().of(id) == 0
              && !isClientStriped(rule, id)) {
            counted[0]++;
            bytes[0] += length;
          }
          // A short file behind the limit of bytes may still fit beside the files before it.
          return counted[0] < most
              && (bytes[0] <= rule.maxBytesPerRun() || counted[0] < MORE_FILES);
        });
    due.forEach(this::addFile);
  }

  private boolean isClientStriped(PolicyRule rule, long id) {
    if (!rule.convertsClientStriped()) {
      return false; // others have none that are due
    }
    FileView file = view.file(id);
    return file != null && file.isClientStriped();
  }

  /** Adds the files of which a part was written lately and another part is in stripes. */
  private void addWritten(PolicyRule rule, Surroundings around) {
    long coldMillis = Math.max(-1, around.nowMillis() - rule.writeColdAfterMillis());
    Due from = fromWritten.getOrDefault(rule.name(), Due.FIRST);
    Due first = from.modifiedMillis() > coldMillis ? from : new Due(coldMillis + 1, 0);
    List<Due> written = new ArrayList<>();
    view.eachDueFrom(
        rule.name(),
        first.modifiedMillis(),
        first.fileId(),
        (modified, id, length) -> written.add(new Due(modified, id)) && written.size() < mostDue);
    int found = 0;
    int looked = 0;
    while (looked < written.size() && found < MOST_WRITTEN) {
      long id = written.get(looked++).fileId();
      FileView file = view.file(id);
      if (file != null && file.stripedBlocks() > 0) {
        addWithStripes(id);
        found++;
      }
    }
    if (looked == mostDue || found == MOST_WRITTEN) {
      nextWritten.put(rule.name(), written.get(looked - 1).next());
    }
  }

  /** Adds stripes that are not as their files are pinned; the next run goes on behind them. */
  private void addPinned(PolicyRule rule) {
    List<Long> found = new ArrayList<>();
    view.eachPinned(
        rule.name(),
        lastPinned.getOrDefault(rule.name(), -1L),
        id -> found.add(id) && found.size() < MOST_PINNED);
    found.forEach(this::addStripe);
    nextPinned.put(rule.name(), found.size() < MOST_PINNED ? -1L : found.get(found.size() - 1));
  }

  /**
   * Adds a part of an index, after the part of the run before. The stripes that were read most are
   * there already.
   */
  private void addPart(PolicyRule rule, StripeIndex index) {
    String part = index + " " + rule.name();
    long from = fromGroup.getOrDefault(part, 0L);
    long next = addPart(rule, index, from);
    if (next == 0 && from != 0) {
      next = addPart(rule, index, 0);
    }
    nextGroup.put(part, next);
  }

  /** Adds whole groups. Returns the group to begin the next run with; 0 if all were visited. */
  private long addPart(PolicyRule rule, StripeIndex index, long from) {
    List<Long> found = new ArrayList<>();
    long[] next = {0, 0};
    int[] looked = {0};
    view.eachStripe(
        index,
        rule.name(),
        from,
        (group, id) -> {
          boolean full = found.size() >= mostUnread || looked[0] >= MOST_LOOKED_AT;
          if (full && group != next[1]) {
            next[0] = group;
            return false;
          }
          next[1] = group;
          looked[0]++;
          if (!stripes.containsKey(id)) {
            found.add(id);
          }
          return true;
        });
    found.forEach(this::addStripe);
    return next[0];
  }
}
