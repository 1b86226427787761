package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.view.Wear;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * Runs one policy in one evaluation: {@link #keepBound}, {@link #encode}, {@link #recode}, {@link
 * #release}, {@link #convert} and {@link #report}, in this order. Each step is run for all policies
 * before the next one, so that no policy takes the room under the bound of the cluster that another
 * policy needs for an earlier step. Not thread-safe.
 */
final class PolicyRun {
  private final PolicyView view;
  private final PolicyRule rule;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final FailedTransitions failed;
  private final ConversionPace pace;
  private final ReclaimChooser reclaims;
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
   * @param bound of the policy, within the bound of the cluster
   * @param transitions what all policies may still propose
   * @param edited whether files are still being sorted by an edit of the policy
   */
  PolicyRun(PolicyView view, StorageBound bound, TransitionQuota transitions, boolean edited) {
    this.view = view;
    this.rule = view.rule();
    this.bound = bound;
    long bytesUnderWay = new TransitionsUnderWay(view, bound).enter();
    this.limit = new ProposalLimit(rule.maxBytesPerRun(), bytesUnderWay, transitions);
    this.failed = new FailedTransitions(view.snapshot(), rule.name());
    this.pace = new ConversionPace(view);
    this.refusal = ClusterFit.check(rule, view.snapshot().cluster());
    this.held = hold(edited);
    this.reclaims = new ReclaimChooser(view, bound, limit, failed, taken);
    this.conversions =
        new ConversionChooser(view, bound, limit, pace, failed, taken, waitingStripes);
  }

  private String hold(boolean edited) {
    if (refusal != null) {
      return refusal.message();
    }
    if (view.snapshot().cluster().safeMode()) {
      return "the namenode is in safe mode";
    }
    return edited ? "files are still being sorted by an edit of the policy" : null;
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

  /**
   * The most bytes to move for each byte of deleted data before fast data of the policy becomes
   * compact: as many as a conversion to compact and back moves.
   */
  double priceOfConversion() {
    return Math.min(Wear.MOST_PRICE, PairCost.of(rule.family()).pricePerFreedByte());
  }

  /**
   * Bytes moved for each byte of deleted data that is freed most cheaply; empty if none may be
   * freed now.
   */
  OptionalDouble priceOfDeletedData() {
    return held == null ? reclaims.cheapest() : OptionalDouble.empty();
  }

  /** Frees deleted data for the sake of the bound of the cluster, unless it turns out dearer. */
  void freeCheapest(StorageBound cluster, double mostPrice, List<Decision> decisions) {
    reclaims.freeCheapest("storage of the cluster", cluster, mostPrice, decisions);
  }

  /** Frees space while the policy is over its own bound. */
  void keepBound(List<Decision> decisions) {
    if (held == null) {
      reclaims.keepBound(priceOfConversion(), decisions);
      conversions.keepBound(decisions);
      reclaims.keepBound(Wear.MOST_PRICE, decisions);
    }
  }

  /** Encodes due files, and makes room for due files that have none under the bound. */
  void encode(List<Decision> decisions) {
    if (held != null) {
      return;
    }
    boolean canMakeRoom = conversions.canMakeRoom();
    double missing =
        new EncodingChooser(view, bound, limit, failed, canMakeRoom, waiting).decide(decisions);
    // Encodings that wait for room count as proposed, so the policy may be over its bound now.
    conversions.keepBound(decisions);
    if (!limit.isUsed()) {
      conversions.makeRoomNow(missing, decisions);
    }
  }

  /** Brings stripes in a code that the policy does not name to a code of the policy. */
  void recode(List<Decision> decisions) {
    if (held == null) {
      new RecodingChooser(view, bound, limit, pace, failed, waitingStripes).decide(decisions);
    }
  }

  /** Turns data that is pinned to replicas into replicas, and data that clients have encoded. */
  void release(List<Decision> decisions) {
    if (held == null) {
      new ReleaseChooser(view, bound, limit, pace, failed, taken, waitingStripes).decide(decisions);
      new ClientStripedChooser(view, limit, pace, failed, waiting).decide(decisions);
    }
  }

  /** Converts stripes for their heat. */
  void convert(List<Decision> decisions) {
    if (held == null) {
      conversions.forHeat(decisions);
    }
  }

  /** Tells the states of the files, once all has been decided. */
  void report(Evaluation result) {
    if (refusal != null) {
      result.refusals().add(refusal);
    }
    result.verdicts().add(rule, new VerdictWriter(view, failed, waiting, waitingStripes, held));
  }

  /** The account of the policy, once all has been decided. */
  PolicyAccount account() {
    return AccountBuilder.account(view, bound.overheadAtEnd());
  }
}
