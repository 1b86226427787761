package io.ebbfs.manager.schedule;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.policy.Policy;
import io.ebbfs.manager.policy.Verdict;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.NamenodeException;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.SnapshotReader;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evaluates the policies: reads a snapshot, asks the policy function, and lets its decisions be
 * proposed. Keeps the last evaluation for the API. Thread-safe; one evaluation runs at a time.
 */
public final class Evaluator {
  private static final Logger LOG = LoggerFactory.getLogger(Evaluator.class);

  /**
   * An evaluation and its outcomes.
   *
   * @param verdicts by file id
   * @param outcomes of the decisions, in their order; empty in a dry run
   * @param listedMillis when the listing of the files began
   */
  public record Result(
      Evaluation evaluation,
      Map<Long, Verdict> verdicts,
      List<DecisionProposer.Outcome> outcomes,
      long listedMillis,
      long tookMillis) {}

  private final LivePolicies policies;
  private final CodeRegistry codes;
  private final ManagerConfig config;
  private final NamenodeGateway namenode;
  private final ManagerStore store;
  private final DecisionProposer proposer;
  private final Clock clock;
  private volatile Result last;
  private volatile FailureMeter failures;
  private String problem;

  public Evaluator(
      LivePolicies policies,
      CodeRegistry codes,
      ManagerConfig config,
      NamenodeGateway namenode,
      ManagerStore store,
      DecisionProposer proposer,
      Clock clock) {
    this.policies = policies;
    this.codes = codes;
    this.config = config;
    this.namenode = namenode;
    this.store = store;
    this.proposer = proposer;
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
   * Evaluates now. A dry run proposes nothing.
   *
   * @throws NamenodeException if the namenode does not answer; the last evaluation stays
   */
  public synchronized Result evaluate(boolean dryRun) {
    try {
      last = run(dryRun);
      problem = null;
      return last;
    } catch (NamenodeException e) {
      if (!e.getMessage().equals(problem)) {
        LOG.warn("Policies cannot be evaluated: {}", e.getMessage());
      }
      problem = e.getMessage();
      throw e;
    }
  }

  /** Remembered reads are left out if no policy asks for them. */
  private Experience experienceAt(long nowMillis, PolicySet rules) {
    long halfLife = config.heat().memoryMillis();
    boolean weighs =
        rules.rules().stream().anyMatch(rule -> rule.readHot().unit() == ReadHot.Unit.AUTO);
    return new Experience(
        failures().rates(),
        halfLife,
        countedDays(nowMillis),
        weighs ? store.rememberedAt(nowMillis, halfLife) : Map.of(),
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

  /** Adds what is converted to the budget of its day. */
  private void note(DecisionProposer.Outcome outcome) {
    Decision decision = outcome.decision();
    if (decision.kind() == TransitionKindProto.ENCODE || outcome.transitionIds().isEmpty()) {
      return;
    }
    try {
      store.addConversion(outcome.atMillis(), decision.policy(), decision.dataBytes());
    } catch (RocksDBException e) {
      LOG.warn("A conversion is missing in the budget of the day: {}", e.getMessage());
    }
  }

  private void observe(ClusterSnapshot snapshot) {
    try {
      store.putFailureRates(failures().observe(snapshot));
    } catch (RocksDBException e) {
      LOG.warn("The measured failure rates cannot be kept: {}", e.getMessage());
    }
  }

  /**
   * What policies that are not in force would decide now, if nothing limited how much is under way
   * at once. Nothing is proposed, and the last evaluation stays.
   *
   * @throws NamenodeException if the namenode does not answer
   */
  public synchronized Evaluation preview(PolicySet edited) {
    PolicySet unlimited =
        new PolicySet(edited.rules().stream().map(PolicyRule::withoutRunLimit).toList());
    return Policy.decide(codes, snapshot(clock.millis(), unlimited, Integer.MAX_VALUE));
  }

  /** The codes that policies may name. */
  public CodeRegistry codes() {
    return codes;
  }

  private ClusterSnapshot snapshot(long nowMillis, PolicySet rules, int maxPendingTransitions) {
    return SnapshotReader.read(
        namenode,
        nowMillis,
        rules,
        new ClusterSnapshot.Limits(maxPendingTransitions, config.limits().retryFailedAfterMillis()),
        store.heatAt(nowMillis, config.heat().halfLifeMillis()),
        experienceAt(nowMillis, rules));
  }

  private Result run(boolean dryRun) {
    long begin = clock.millis();
    ClusterSnapshot snapshot =
        snapshot(begin, policies.current().policies(), config.limits().maxPendingTransitions());
    observe(snapshot);
    Evaluation evaluation = Policy.decide(codes, snapshot);
    Map<Long, Verdict> verdicts = new HashMap<>();
    evaluation.verdicts().forEach(verdict -> verdicts.put(verdict.fileId(), verdict));
    List<DecisionProposer.Outcome> outcomes =
        dryRun || evaluation.decisions().isEmpty()
            ? List.of()
            : proposer.propose(evaluation.decisions(), begin);
    outcomes.forEach(this::note);
    return new Result(evaluation, verdicts, outcomes, begin, clock.millis() - begin);
  }
}
