package io.ebbfs.manager.schedule;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.policy.OrderedConversion;
import io.ebbfs.manager.policy.OrderedRelease;
import io.ebbfs.manager.policy.Policy;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.NamenodeException;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.SnapshotReader;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.manager.view.ViewFollower;
import io.ebbfs.manager.view.ViewSample;
import io.ebbfs.manager.view.WorkingSet;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evaluates the policies: takes from the view what may be decided, asks the policy function, and
 * lets its decisions be proposed. Keeps the last evaluation for the API. Thread-safe; one
 * evaluation runs at a time.
 */
public final class Evaluator {
  private static final Logger LOG = LoggerFactory.getLogger(Evaluator.class);
  private static final int MOST_REFRESHED = 500;

  /** Of the sample of a preview: enough to tell how far the batches differ. */
  private static final int BATCHES = 10;

  /**
   * An evaluation and its outcomes.
   *
   * @param outcomes of the decisions, in their order; empty in a dry run
   * @param states files and bytes by state and temperature
   * @param readsLookedAt share of the reads, remembered ones if a policy weighs them, that fell on
   *     the files of the snapshot; 1 if nothing was read
   */
  public record Result(
      Evaluation evaluation,
      List<DecisionProposer.Outcome> outcomes,
      List<StateCounts.Count> states,
      double readsLookedAt,
      long tookMillis) {}

  private final LivePolicies policies;
  private final CodeRegistry codes;
  private final ManagerConfig config;
  private final NamenodeGateway namenode;
  private final NamespaceView view;
  private final ViewFollower follower;
  private final WorkingSet workingSet;
  private final ManagerStore store;
  private final DecisionProposer proposer;
  private final ConversionBudget budget;
  private final History history;
  private final RefusedFiles refused = new RefusedFiles();
  private final Clock clock;
  private volatile Result last;
  private volatile FailureMeter failures;
  private String problem;

  public Evaluator(
      LivePolicies policies,
      CodeRegistry codes,
      ManagerConfig config,
      NamenodeGateway namenode,
      NamespaceView view,
      ViewFollower follower,
      ManagerStore store,
      DecisionProposer proposer,
      Clock clock) {
    this.policies = policies;
    this.codes = codes;
    this.config = config;
    this.namenode = namenode;
    this.view = view;
    this.follower = follower;
    this.workingSet = new WorkingSet(view);
    this.store = store;
    this.proposer = proposer;
    this.budget = new ConversionBudget(store);
    this.history = new History(store);
    this.clock = clock;
  }

  /** The last evaluation; null before the first. */
  public Result last() {
    return last;
  }

  /** The failure rates as far as they were measured. */
  public FailureRates failureRates() {
    FailureMeter meter = failures;
    return meter == null ? FailureRates.PRIOR : meter.rates();
  }

  /**
   * Evaluates now, with all that was committed before. A dry run proposes nothing.
   *
   * @throws NamenodeException if the namenode does not answer, or if the view is still being sorted
   *     by the first policies; the last evaluation stays
   */
  public synchronized Result evaluate(boolean dryRun) {
    Result result =
        evaluateView(
            dryRun,
            () -> {
              follower.catchUp();
              return true;
            });
    if (result == null) {
      view.requireInUse(policies.current().policies());
    }
    return result;
  }

  /**
   * Evaluates on the schedule. A dry run takes the view as it is. What is proposed follows from all
   * that was committed before; if the view cannot catch up at a reasonable price, the next run
   * proposes.
   */
  public synchronized void evaluateNowAndThen(boolean dryRun) {
    try {
      evaluateView(dryRun, dryRun ? follower::isUsable : follower::catchUpIfCheap);
    } catch (NamenodeException e) {
      LOG.debug("The schedule evaluates later", e);
    }
  }

  private Result evaluateView(boolean dryRun, BooleanSupplier catchUp) {
    try {
      Result result = run(dryRun, catchUp);
      last = result == null ? last : result;
      problem = null;
      return result;
    } catch (NamenodeException e) {
      throw failed(e);
    }
  }

  private NamenodeException failed(NamenodeException e) {
    if (!e.getMessage().equals(problem)) {
      LOG.warn("Policies cannot be evaluated: {}", e.getMessage());
    }
    problem = e.getMessage();
    return e;
  }

  /** Remembered reads are left out if no policy asks for them. */
  private Experience experienceAt(long nowMillis, PolicySet rules, ReadCounts remembered) {
    boolean weighs =
        rules.rules().stream().anyMatch(rule -> rule.readHot().unit() == ReadHot.Unit.AUTO);
    return new Experience(
        failures().rates(),
        config.heat().memoryMillis(),
        countedDays(nowMillis),
        weighs ? remembered : ReadCounts.NONE,
        store.convertedWithinDay(nowMillis));
  }

  private double countedDays(long nowMillis) {
    try {
      return Math.max(0, nowMillis - store.countedSince(nowMillis)) / Experience.DAY;
    } catch (RocksDBException e) {
      LOG.warn("Since when reads are counted cannot be read: {}", e.getMessage());
      return 0;
    }
  }

  private FailureMeter failures() {
    if (failures == null) {
      try {
        failures = new FailureMeter(store.failureRates());
      } catch (RocksDBException e) {
        LOG.warn("The failure rates that were measured before cannot be read: {}", e.getMessage());
        failures = new FailureMeter(FailureRates.PRIOR);
      }
    }
    return failures;
  }

  private void note(DecisionProposer.Outcome outcome, String by) {
    history.note(outcome, by);
    budget.note(
        outcome,
        ConversionBudget.bytesPerDay(policies.current().policies(), outcome.decision().policy()));
  }

  private void observe(ClusterSnapshot snapshot) {
    try {
      store.putFailureRates(failures().observe(snapshot));
    } catch (RocksDBException e) {
      LOG.warn("The measured failure rates cannot be kept: {}", e.getMessage());
    }
  }

  /**
   * What policies that are not in force would decide about the batches of a sample.
   *
   * @param share of all files and stripes that is in the sample; 1 for all, in one batch
   */
  public record Preview(double share, List<Evaluation> batches) {}

  /**
   * What policies that are not in force would decide now, if nothing limited how much is under way
   * at once. Nothing is proposed, and the last evaluation stays. Evaluations go on meanwhile. Of
   * many files a random sample is taken.
   *
   * @param mostFiles that are in memory at once, with {@link ViewSample#BLOCKS_PER_FILE} blocks of
   *     stripes for each of them
   * @param progress hears how many files were looked at
   * @param stop whether nobody wants the preview any more
   * @throws NamenodeException if the namenode does not answer
   * @throws CancellationException if nobody wants it
   */
  public Preview preview(
      PolicySet edited, long mostFiles, LongConsumer progress, BooleanSupplier stop) {
    List<TransitionView> transitions = SnapshotReader.transitions(namenode);
    follower.catchUp();
    PolicySet unlimited = edited.withoutRunLimits();
    WorkingSet.Surroundings around;
    synchronized (this) {
      around = surroundings(clock.millis(), unlimited, Integer.MAX_VALUE, transitions);
    }
    double share = ViewSample.share(view, mostFiles);
    List<ViewSample.Batch> batches =
        ViewSample.draw(view, share, share < 1 ? BATCHES : 1, progress, stop);
    List<Evaluation> evaluations = new ArrayList<>();
    for (ViewSample.Batch batch : batches) {
      requireWanted(stop);
      evaluations.add(decide(unlimited, around, batch, share == 1));
    }
    requireWanted(stop);
    return new Preview(share, evaluations);
  }

  private static void requireWanted(BooleanSupplier stop) {
    if (stop.getAsBoolean()) {
      throw new CancellationException("a newer preview has taken the place of this one");
    }
  }

  private Evaluation decide(
      PolicySet edited, WorkingSet.Surroundings around, ViewSample.Batch batch, boolean whole) {
    Set<Long> ids = new HashSet<>();
    batch.files().forEach(file -> ids.add(file.id()));
    batch.stripes().values().forEach(stripe -> ids.addAll(stripe.fileIds()));
    WorkingSet.Surroundings here =
        around.withReads(around.heat().fixed(ids), around.experience().reads().fixed(ids));
    List<FileView> more = ViewSample.filesOfStripes(view, edited, batch, here.heat());
    List<FileView> files = new ArrayList<>(batch.files());
    files.addAll(more);
    List<TransitionView> transitions =
        around.transitions().stream()
            .filter(one -> whole || concerns(one, ids, batch.stripes().keySet()))
            .toList();
    return Policy.decide(
        codes,
        here.withTransitions(transitions)
            .with(
                edited,
                files,
                batch.stripes(),
                PolicySums.of(codes, edited, batch.files(), more, batch.stripes())));
  }

  private static boolean concerns(TransitionView transition, Set<Long> files, Set<Long> stripes) {
    return transition.stripeIds().stream().anyMatch(stripes::contains)
        || transition.blocks().stream().anyMatch(block -> files.contains(block.ownerId()));
  }

  /**
   * Has the view sorted by the policies in force, a step further with each call, and returns these
   * policies. The view is told of policies here alone: whoever told the view of other ones would
   * make each evaluation undo what was sorted.
   */
  public synchronized PolicySet applyPolicies() {
    PolicySet wanted = policies.current().policies();
    view.usePolicies(wanted);
    return wanted;
  }

  // ---- orders of operators --------------------------------------------------------------------

  /** What was decided and done. */
  public History history() {
    return history;
  }

  /**
   * Lets the manager propose nothing by itself until proposing is resumed. An evaluation under way
   * may still propose, so this returns once the evaluation has ended.
   *
   * @throws RocksDBException if the pause cannot be stored; then proposing goes on
   */
  public void pause(long nowMillis) throws RocksDBException {
    store.pause(nowMillis);
    synchronized (this) {
      LOG.info("Proposing is paused by an operator");
    }
  }

  /** Whether the manager proposes nothing by itself. A store that cannot tell counts as a pause. */
  private boolean isPaused() {
    try {
      return store.pausedSince().isPresent();
    } catch (RocksDBException e) {
      LOG.warn("Nothing is proposed: whether proposing is paused is not known: {}", e.getMessage());
      return true;
    }
  }

  /**
   * What an operator orders: to encode files of one policy and to convert stripes to a code, or to
   * make replicas of encoded files.
   *
   * @param toCode a code of the policy, or {@link OrderedRelease#REPLICAS}
   * @param reason of the transitions
   */
  public record Order(
      PolicyRule rule,
      String toCode,
      String reason,
      List<Long> fileIds,
      Collection<Long> stripeIds) {}

  /**
   * The plan of an order, and what the namenode answered to it.
   *
   * @param outcomes empty if nothing was proposed
   */
  public record Ordered(OrderedConversion.Plan plan, List<DecisionProposer.Outcome> outcomes) {}

  /**
   * Plans an order, whatever the temperature of the data, and proposes it if it keeps the bound. No
   * other order or evaluation takes the room under the bound in between.
   *
   * @param dryRun whether to propose nothing
   * @param order is made of the view once the view has all that was committed before
   * @throws NamenodeException if the namenode does not answer
   */
  public synchronized Ordered order(boolean dryRun, Supplier<Order> order) {
    OrderedConversion.Plan plan = plan(order);
    boolean proposes = !dryRun && plan.isWithinBound() && !plan.decisions().isEmpty();
    return new Ordered(plan, proposes ? propose(plan) : List.of());
  }

  private OrderedConversion.Plan plan(Supplier<Order> order) {
    List<TransitionView> transitions = SnapshotReader.transitions(namenode);
    follower.catchUp();
    PolicySet rules = applyPolicies();
    view.requireInUse(rules);
    Order made = order.get();
    ClusterSnapshot snapshot =
        workingSet.takeNamed(
            surroundings(clock.millis(), rules, Integer.MAX_VALUE, transitions),
            made.fileIds,
            made.stripeIds);
    if (made.toCode.equals(OrderedRelease.REPLICAS)) {
      return OrderedRelease.plan(
          codes, snapshot, made.rule, made.reason, made.fileIds, made.stripeIds);
    }
    return OrderedConversion.plan(
        codes, snapshot, made.rule, made.toCode, made.reason, made.fileIds, made.stripeIds);
  }

  private List<DecisionProposer.Outcome> propose(OrderedConversion.Plan plan) {
    List<DecisionProposer.Outcome> outcomes = proposer.propose(plan.decisions(), clock.millis());
    outcomes.forEach(outcome -> note(outcome, "operator"));
    return outcomes;
  }

  /** The codes that policies may name. */
  public CodeRegistry codes() {
    return codes;
  }

  private WorkingSet.Surroundings surroundings(
      long nowMillis,
      PolicySet rules,
      int maxPendingTransitions,
      List<TransitionView> transitions) {
    GetClusterResponseProto cluster = namenode.cluster();
    follower.noteChangesLost(cluster.getChangesLost());
    ManagerStore.Counts reads = store.counts(nowMillis, config.heat().halfLives());
    return SnapshotReader.surroundings(
        cluster,
        transitions,
        nowMillis,
        new ClusterSnapshot.Limits(maxPendingTransitions, config.limits().retryFailedAfterMillis()),
        reads.heat(),
        experienceAt(nowMillis, rules, reads.remembered()));
  }

  /**
   * Reads transitions before the view catches up. A transition that ends in between is then counted
   * twice, which cannot exceed the bound. In the other order it would not be counted at all.
   *
   * @param catchUp tells whether the view may be used now
   * @return null if it may not
   */
  private Result run(boolean dryRun, BooleanSupplier catchUp) {
    long begin = clock.millis();
    List<TransitionView> transitions = SnapshotReader.transitions(namenode);
    if (!catchUp.getAsBoolean()) {
      return null;
    }
    PolicySet wanted = applyPolicies();
    if (!view.isSorted()) {
      return null;
    }
    PolicySet rules = new PolicySet(view.policies().rules(), wanted.storageBound());
    boolean proposes = !dryRun && !isPaused();
    budget.noteUnknown(transitions, view::stripe, wanted, begin);
    budget.settle(namenode, transitions, begin);
    WorkingSet.Surroundings around =
        surroundings(
            begin,
            rules,
            config.limits().maxPendingTransitions(),
            refused.beside(transitions, begin - config.limits().retryFailedAfterMillis()));
    ClusterSnapshot snapshot = workingSet.take(around, rules);
    if (refreshLost(snapshot)) {
      snapshot = workingSet.take(around, rules);
    }
    if (proposes) {
      workingSet.nextRun(); // a dry run leaves what it looked at to the run that proposes
    }
    observe(snapshot);
    Evaluation evaluation =
        Policy.decide(codes, snapshot, rules.namesChangedIn(wanted))
            .heldBackBy(rules, wanted, view::file);
    List<DecisionProposer.Outcome> outcomes =
        !proposes || evaluation.decisions().isEmpty()
            ? List.of()
            : proposer.propose(evaluation.decisions(), begin);
    outcomes.forEach(refused::note);
    outcomes.forEach(outcome -> note(outcome, "policy"));
    return new Result(
        evaluation,
        outcomes,
        StateCounts.of(view, snapshot, evaluation),
        readsLookedAt(snapshot),
        clock.millis() - begin);
  }

  private static double readsLookedAt(ClusterSnapshot snapshot) {
    ReadCounts remembered = snapshot.experience().reads();
    ReadCounts reads = remembered.all() > 0 ? remembered : snapshot.heat();
    double all = reads.all();
    double lookedAt = snapshot.files().stream().mapToDouble(file -> reads.of(file.id())).sum();
    return all <= 0 ? 1 : Math.min(1, lookedAt / all);
  }

  /** Stripes that had lost a block when they were read may be whole again. */
  private boolean refreshLost(ClusterSnapshot snapshot) {
    List<Long> lost =
        snapshot.stripes().values().stream()
            .filter(stripe -> !stripe.lostPositions().isEmpty())
            .map(StripeView::id)
            .collect(Collectors.toCollection(ArrayList::new));
    Collections.shuffle(lost); // so that each has its turn, though others stay lost for long
    follower.refreshStripes(lost.subList(0, Math.min(MOST_REFRESHED, lost.size())));
    return !lost.isEmpty();
  }
}
