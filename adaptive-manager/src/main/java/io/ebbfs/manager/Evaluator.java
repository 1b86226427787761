package io.ebbfs.manager;

import io.ebbfs.manager.cluster.Namenode;
import io.ebbfs.manager.cluster.NamenodeException;
import io.ebbfs.manager.cluster.SnapshotReader;
import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.policy.Policy;
import io.ebbfs.manager.policy.Snapshot;
import io.ebbfs.manager.policy.Verdict;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evaluates the policies: reads a snapshot, asks the policy function, and proposes what it decided.
 * Keeps the last evaluation for everyone to see. Thread-safe; one evaluation at a time.
 */
public final class Evaluator {
  private static final Logger LOG = LoggerFactory.getLogger(Evaluator.class);
  private static final int KEPT_DECISIONS = 500;

  /** A decision and what the namenode made of it; refusal is null if all of it was taken. */
  public record Outcome(
      long atMillis, Decision decision, List<Long> transitionIds, String refusal) {}

  /**
   * An evaluation and what came of it.
   *
   * @param verdicts by file id
   * @param listedMillis when the listing of the files began
   */
  public record Result(
      Evaluation evaluation,
      Map<Long, Verdict> verdicts,
      List<Outcome> outcomes,
      long listedMillis,
      long tookMillis) {}

  private final LivePolicies policies;
  private final ManagerConfig config;
  private final Namenode namenode;
  private final ManagerStore store;
  private final Clock clock;
  private final TransitionLog transitions;
  private volatile Result last;
  private String lastRefusal;
  private volatile String problem = "no evaluation yet";
  private final List<Outcome> recent = new ArrayList<>();

  Evaluator(
      LivePolicies policies,
      ManagerConfig config,
      Namenode namenode,
      ManagerStore store,
      TransitionLog transitions,
      Clock clock) {
    this.policies = policies;
    this.config = config;
    this.namenode = namenode;
    this.store = store;
    this.transitions = transitions;
    this.clock = clock;
  }

  /** The last evaluation; null before the first. */
  public Result last() {
    return last;
  }

  /** Why the last evaluation failed; null if it did not. */
  public String problem() {
    return problem;
  }

  /** What was decided lately, newest first. */
  public List<Outcome> recent() {
    synchronized (recent) {
      List<Outcome> newestFirst = new ArrayList<>(recent);
      java.util.Collections.reverse(newestFirst);
      return newestFirst;
    }
  }

  /**
   * Evaluates now. A dry run proposes nothing.
   *
   * @throws NamenodeException if the namenode cannot be asked; the last evaluation stays
   */
  public synchronized Result evaluate(boolean dryRun) {
    try {
      Result result = run(dryRun);
      last = result;
      problem = null;
      return result;
    } catch (NamenodeException e) {
      if (!e.getMessage().equals(problem)) {
        LOG.warn("Policies cannot be evaluated: {}", e.getMessage());
      }
      problem = e.getMessage();
      throw e;
    }
  }

  /** As a dry run, but what was decided last and what came of it stay visible. */
  Result refresh() {
    return evaluate(true);
  }

  private Result run(boolean dryRun) {
    long begin = clock.millis();
    Snapshot snapshot =
        SnapshotReader.read(
            namenode,
            begin,
            policies.current().policies(),
            new Snapshot.Limits(
                config.limits().maxPendingTransitions(), config.limits().retryFailedAfterMillis()),
            store.heatAt(begin, config.heat().halfLifeMillis()));
    Evaluation evaluation = Policy.decide(snapshot);
    Map<Long, Verdict> verdicts = new HashMap<>();
    evaluation.verdicts().forEach(verdict -> verdicts.put(verdict.fileId(), verdict));
    List<Outcome> outcomes =
        dryRun || evaluation.decisions().isEmpty() ? List.of() : propose(evaluation, begin);
    return new Result(evaluation, verdicts, outcomes, begin, clock.millis() - begin);
  }

  private List<Outcome> propose(Evaluation evaluation, long atMillis) {
    List<DecisionProto> decisions = evaluation.decisions().stream().map(Decision::toProto).toList();
    List<ProposedProto> results = namenode.propose(decisions);
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < results.size() && i < decisions.size(); i++) {
      ProposedProto result = results.get(i);
      Decision decision = evaluation.decisions().get(i);
      String refusal = result.hasRefusal() ? result.getRefusal() : null;
      outcomes.add(
          new Outcome(atMillis, decision, List.copyOf(result.getTransitionIdsList()), refusal));
      transitions.watch(result.getTransitionIdsList());
      log(decision, refusal);
    }
    keep(outcomes);
    return outcomes;
  }

  /** The same refusal, evaluation after evaluation, is logged once. */
  private void log(Decision decision, String refusal) {
    if (refusal == null) {
      LOG.info(
          "{} to {} of policy {}: {}",
          decision.kind(),
          decision.toCode(),
          decision.policy(),
          decision.reason());
    } else if (!refusal.equals(lastRefusal)) {
      lastRefusal = refusal;
      LOG.warn(
          "{} to {} of policy {} was refused, at least in part: {} ({})",
          decision.kind(),
          decision.toCode(),
          decision.policy(),
          refusal,
          decision.reason());
    }
  }

  private void keep(List<Outcome> outcomes) {
    synchronized (recent) {
      recent.addAll(outcomes);
      if (recent.size() > KEPT_DECISIONS) {
        recent.subList(0, recent.size() - KEPT_DECISIONS).clear();
      }
    }
  }
}
