package io.ebbfs.manager.schedule;

import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.words.TransitionKinds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends decisions to the namenode and keeps the latest answers. Thread-safe. */
public final class DecisionProposer {
  private static final Logger LOG = LoggerFactory.getLogger(DecisionProposer.class);
  private static final int KEPT = 500;

  /**
   * A decision and the answer of the namenode.
   *
   * @param refusal why the namenode refused the decision or a part of it; null if it did not
   */
  public record Outcome(
      long atMillis, Decision decision, List<Long> transitionIds, String refusal) {}

  private final NamenodeGateway namenode;
  private final TransitionLog transitions;
  private final List<Outcome> recent = new ArrayList<>();
  private String lastRefusal;

  public DecisionProposer(NamenodeGateway namenode, TransitionLog transitions) {
    this.namenode = namenode;
    this.transitions = transitions;
  }

  /** Proposes decisions; the outcomes come in the same order. */
  synchronized List<Outcome> propose(List<Decision> decisions, long atMillis) {
    List<DecisionProto> protos = decisions.stream().map(Decision::toProto).toList();
    List<ProposedProto> results = namenode.propose(protos);
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < results.size() && i < decisions.size(); i++) {
      ProposedProto result = results.get(i);
      Decision decision = decisions.get(i);
      String refusal = result.hasRefusal() ? result.getRefusal() : null;
      outcomes.add(
          new Outcome(atMillis, decision, List.copyOf(result.getTransitionIdsList()), refusal));
      transitions.watch(result.getTransitionIdsList());
      log(decision, refusal);
    }
    keep(outcomes);
    return outcomes;
  }

  /** The latest outcomes, newest first. */
  public List<Outcome> recent() {
    synchronized (recent) {
      List<Outcome> newestFirst = new ArrayList<>(recent);
      Collections.reverse(newestFirst);
      return newestFirst;
    }
  }

  /** A refusal that repeats in every evaluation is logged once. */
  private void log(Decision decision, String refusal) {
    if (refusal == null) {
      LOG.info(
          "Proposed for policy {}: {}, code {}: {}",
          decision.policy(),
          TransitionKinds.show(decision.kind()),
          decision.toCode(),
          decision.reason());
    } else if (!refusal.equals(lastRefusal)) {
      lastRefusal = refusal;
      LOG.warn(
          "The namenode refused, at least in part, for policy {}: {}, code {}: {} (proposed because:"
              + " {})",
          decision.policy(),
          TransitionKinds.show(decision.kind()),
          decision.toCode(),
          refusal,
          decision.reason());
    }
  }

  private void keep(List<Outcome> outcomes) {
    synchronized (recent) {
      recent.addAll(outcomes);
      if (recent.size() > KEPT) {
        recent.subList(0, recent.size() - KEPT).clear();
      }
    }
  }
}
