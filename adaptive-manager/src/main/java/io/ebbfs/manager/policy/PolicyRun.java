package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.view.Wear;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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

  PolicyRun(PolicyView view, long transitionsLeft) {
    this.view = view;
    this.rule = view.rule();
    this.bound =
        new StorageBound(rule.storageBound(), view.sums().storedBytes(), view.sums().liveBytes());
    long bytesUnderWay = new TransitionsUnderWay(view, bound).enter();
    this.limit = new ProposalLimit(rule.maxBytesPerRun(), bytesUnderWay, transitionsLeft);
    this.failed = new FailedTransitions(view.snapshot(), rule.name());
  }

  long transitionsLeft() {
    return limit.transitionsLeft();
  }

  void decide(Evaluation result) {
    Map<Long, String> waiting = new HashMap<>();
    Map<Long, String> waitingStripes = new HashMap<>();
    Evaluation.Refusal refusal = ClusterFit.check(rule, view.snapshot().cluster());
    String held = null;
    if (refusal != null) {
      result.refusals().add(refusal);
      held = refusal.message();
    } else if (view.snapshot().cluster().safeMode()) {
      held = "the namenode is in safe mode";
    } else {
      adapt(waiting, waitingStripes, result.decisions());
    }
    result.verdicts().add(rule, new VerdictWriter(view, failed, waiting, waitingStripes, held));
    result.accounts().add(AccountBuilder.account(view, bound.overheadAtEnd()));
  }

  private void adapt(
      Map<Long, String> waiting, Map<Long, String> waitingStripes, List<Decision> decisions) {
    ConversionPace pace = new ConversionPace(view);
    RecodingChooser recodings =
        new RecodingChooser(view, bound, limit, pace, failed, waitingStripes);
    if (rule.isSingle()) {
      new EncodingChooser(view, bound, limit, failed, false, waiting).decide(decisions);
      recodings.decide(decisions);
      return;
    }
    Set<Long> taken = new HashSet<>();
    ReclaimChooser reclaims = new ReclaimChooser(view, bound, limit, failed, taken);
    reclaims.keepBound(PairCost.of(rule.family()).pricePerFreedByte(), decisions);
    ConversionChooser conversions =
        new ConversionChooser(view, bound, limit, pace, failed, taken, waitingStripes);
    conversions.keepBound(decisions);
    reclaims.keepBound(Wear.MOST_PRICE, decisions);
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
