package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.Wear;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * Runs one policy in one evaluation: what frees space of deleted data, encodings, conversions, then
 * the states of the files. Not thread-safe.
 */
final class PolicyRun {
  private final PolicyView view;
  private final PolicyRule rule;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final FailedTransitions failed;
  private final ConversionPace pace;
  private final ConversionChooser conversions;
  private final Evaluation.Refusal refusal;

  /** Why nothing is decided; null if the policy is applied. */
  private final String held;

  private final Map<Long, String> waiting = new HashMap<>();
  private final Map<Long, String> waitingStripes = new HashMap<>();

  /** The stripes that are in a decision. */
  private final Set<Long> taken = new HashSet<>();

  /**
   * Enters what is under way into the bounds.
   *
   * @param cluster the bound of the whole cluster
   * @param transitions what all policies may still propose
   */
  PolicyRun(PolicyView view, StorageBound cluster, TransitionQuota transitions) {
    this.view = view;
    this.rule = view.rule();
    PolicySums sums = view.sums();
    this.bound = cluster.within(rule.storageBound(), sums.storedBytes(), sums.liveBytes());
    long bytesUnderWay = new TransitionsUnderWay(view, bound).enter();
    this.limit = new ProposalLimit(rule.maxBytesPerRun(), bytesUnderWay, transitions);
    this.failed = new FailedTransitions(view.snapshot(), rule.name());
    this.pace = new ConversionPace(view);
    this.refusal = ClusterFit.check(rule, view.snapshot().cluster());
    this.held =
        refusal != null
            ? refusal.message()
            : view.snapshot().cluster().safeMode() ? "the namenode is in safe mode" : null;
    this.conversions =
        new ConversionChooser(view, bound, limit, pace, failed, taken, waitingStripes);
  }

  /**
   * What the fast code is worth for each stored byte of the coldest fast stripes that may become
   * compact now; empty if there are none.
   */
  OptionalDouble benefitOfColdest() {
    return held == null ? conversions.benefitOfColdest() : OptionalDouble.empty();
  }

  /** Converts the coldest fast stripes to compact for the sake of the bound of the cluster. */
  void giveWay(StorageBound cluster, List<Decision> decisions) {
    conversions.giveWay(cluster, decisions);
  }

  void decide(Evaluation result) {
    if (refusal != null) {
      result.refusals().add(refusal);
    }
    if (held == null) {
      adapt(result.decisions());
    }
    result.verdicts().add(rule, new VerdictWriter(view, failed, waiting, waitingStripes, held));
  }

  /** The account of the policy, once all has been decided. */
  PolicyAccount account() {
    return AccountBuilder.account(view, bound.overheadAtEnd());
  }

  private void adapt(List<Decision> decisions) {
    RecodingChooser recodings =
        new RecodingChooser(view, bound, limit, pace, failed, waitingStripes);
    if (rule.isSingle()) {
      new EncodingChooser(view, bound, limit, failed, false, waiting).decide(decisions);
      recodings.decide(decisions);
      return;
    }
    ReclaimChooser reclaims = new ReclaimChooser(view, bound, limit, failed, taken);
    reclaims.keepBound(PairCost.of(rule.family()).pricePerFreedByte(), decisions);
    conversions.leaveTaken();
    conversions.keepBound(decisions);
    reclaims.keepBound(Wear.MOST_PRICE, decisions);
    conversions.leaveTaken();
    boolean canMakeRoom = conversions.canMakeRoom();
    double missing =
        new EncodingChooser(view, bound, limit, failed, canMakeRoom, waiting).decide(decisions);
    // Encodings that wait for room count as proposed, so the policy may be over its bound now.
    conversions.keepBound(decisions);
    if (!limit.isUsed()) {
      conversions.makeRoomNow(missing, decisions);
    }
    recodings.decide(decisions);
    conversions.forHeat(decisions);
  }
}
