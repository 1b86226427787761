package io.ebbfs.manager.policy;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.PackingCost;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** One policy in one evaluation: its account, then encodings and conversions. Not thread-safe. */
final class PolicyRun {
  final Snapshot snapshot;
  final PolicyRule rule;
  final Temperature temperature;
  final Map<Long, FileView> filesById;
  final List<FileView> files;
  final List<StripeView> stripes;
  final Ledger ledger;
  final Budget budget;

  /** Failed for good a short while ago, by file and by stripe. */
  final Map<Long, TransitionView> failedFiles = new HashMap<>();

  final Set<Long> failedStripes = new HashSet<>();

  PolicyRun(
      Snapshot snapshot,
      PolicyRule rule,
      Temperature temperature,
      Map<Long, FileView> filesById,
      List<FileView> files,
      List<StripeView> stripes,
      long transitionsLeft) {
    this.snapshot = snapshot;
    this.rule = rule;
    this.temperature = temperature;
    this.filesById = filesById;
    this.files = files;
    this.stripes = stripes;
    this.ledger =
        new Ledger(
            rule.storageBound(),
            stripes.stream().mapToLong(StripeView::storedBytes).sum(),
            stripes.stream().mapToLong(StripeView::liveBytes).sum());
    this.budget = new Budget(rule.maxBytesPerRun(), enterTransitions(), transitionsLeft);
  }

  long transitionsLeft() {
    return budget.transitionsLeft();
  }

  void decide(Evaluation result) {
    Map<Long, String> waiting = new HashMap<>();
    Evaluation.Refusal refusal = ClusterFit.check(rule, snapshot.cluster());
    if (refusal != null) {
      result.refusals().add(refusal);
    } else if (!snapshot.cluster().safeMode()) {
      adapt(waiting, result.decisions());
    }
    String held =
        refusal != null
            ? refusal.message()
            : snapshot.cluster().safeMode() ? "the namenode is in safe mode" : null;
    Verdicts verdicts = new Verdicts(this, waiting, held);
    files.forEach(file -> result.verdicts().add(verdicts.of(file)));
    result.accounts().add(account());
  }

  private void adapt(Map<Long, String> waiting, List<Decision> decisions) {
    if (rule.isSingle()) {
      new Encodings(this, false, waiting).decide(decisions);
      return;
    }
    Conversions conversions = new Conversions(this);
    conversions.keepBound(decisions);
    new Encodings(this, conversions.canMakeRoom(), waiting).decide(decisions);
    conversions.keepBound(decisions);
    conversions.ebb(decisions);
    conversions.rise(decisions);
  }

  /** Enters what is under way into the ledger; returns its logical bytes. */
  private long enterTransitions() {
    long pending = 0;
    Map<Long, StripeView> byId = snapshot.stripes();
    for (TransitionView transition : snapshot.transitions()) {
      if (!transition.policy().equals(rule.name())
          || transition.kind() == TransitionKindProto.REPAIR) {
        continue;
      }
      if (!transition.active()) {
        enterFailure(transition);
      } else if (transition.kind() == TransitionKindProto.ENCODE) {
        pending += enterEncoding(transition);
      } else {
        List<StripeView> concerned =
            transition.stripeIds().stream()
                .map(byId::get)
                .filter(s -> s != null && !s.code().equals(transition.toCode()))
                .toList();
        ledger.add(parityDelta(transition.kind(), concerned), 0);
        pending += concerned.stream().mapToLong(StripeView::liveBytes).sum();
      }
    }
    return pending;
  }

  private void enterFailure(TransitionView transition) {
    long retryAt = transition.updatedMillis() + snapshot.limits().retryFailedAfterMillis();
    boolean more = transition.lack() != null && transition.lack().isMet(snapshot.cluster());
    if (snapshot.nowMillis() < retryAt && !more) {
      transition.blocks().forEach(block -> failedFiles.put(block.ownerId(), transition));
      failedStripes.addAll(transition.stripeIds());
    }
  }

  private long enterEncoding(TransitionView transition) {
    ErasureCode code = Codes.byName(transition.toCode());
    Map<Integer, Map<Integer, Long>> lengths = new TreeMap<>();
    long data = 0;
    for (TransitionView.Block block : transition.blocks()) {
      FileView file = filesById.get(block.ownerId());
      if (file != null && file.looseBlocks() > 0) {
        long length = file.blockLengthBytes(block.ownerIndex());
        lengths
            .computeIfAbsent(block.stripeIndex(), index -> new TreeMap<>())
            .put(block.position(), length);
        data += length;
      }
    }
    long parity =
        lengths.values().stream()
            .mapToLong(stripe -> StripeSize.reckonedParityBytes(code, stripe))
            .sum();
    ledger.add(data + parity, data);
    return data;
  }

  /**
   * How many parity bytes a conversion of these stripes adds; negative if it saves. What is there
   * now is exact, what comes is scaled by the estimate of both.
   */
  double parityDelta(TransitionKindProto kind, List<StripeView> concerned) {
    if (rule.isSingle()) {
      return 0;
    }
    ErasureCode compact = rule.family().compactCode();
    ErasureCode fast = rule.family().fastCode();
    Map<Integer, Long> merged = new TreeMap<>();
    long now = 0;
    for (StripeView stripe : concerned) {
      now += stripe.parityBytes();
      boolean isFast = stripe.code().equals(fast.name());
      int offset = isFast ? stripe.groupSlot() * fast.dataCount() : 0;
      StripeSize.dataLengths(stripe, (isFast ? fast : compact).dataCount())
          .forEach((position, length) -> merged.put(offset + position, length));
    }
    boolean fits = merged.keySet().stream().allMatch(p -> p < compact.dataCount());
    if (!fits || merged.isEmpty()) {
      return 0;
    }
    double asCompact = StripeSize.parityBytes(compact, merged);
    double asFast = StripeSize.fastParityBytes(rule.family(), merged);
    return switch (kind) {
      case UPCODE -> asFast == 0 ? 0 : now * (asCompact / asFast - 1);
      case DOWNCODE -> asCompact == 0 ? 0 : now * (asFast / asCompact - 1);
      default -> 0;
    };
  }

  private Account account() {
    Optional<String> fast = rule.isSingle() ? Optional.empty() : Optional.of(rule.family().fast());
    long replicated = files.stream().mapToLong(FileView::replicatedBytes).sum();
    return new Account(
        rule.name(),
        rule.storageBound(),
        stripes.stream().mapToLong(StripeView::liveBytes).sum(),
        stripes.stream().mapToLong(StripeView::storedBytes).sum(),
        stripes.stream()
            .filter(s -> fast.isPresent() && s.code().equals(fast.get()))
            .mapToLong(StripeView::liveBytes)
            .sum(),
        replicated,
        files.stream().mapToLong(FileView::replicatedStoredBytes).sum(),
        packing(),
        ledger.endOverhead());
  }

  private Map<String, PackingCost> packing() {
    Map<String, PackingCost> costs = new TreeMap<>();
    for (StripeView stripe : stripes) {
      code(stripe.code())
          .ifPresent(
              code ->
                  costs.merge(
                      code.name(),
                      PackingCost.of(
                          code,
                          StripeSize.dataLengths(stripe, code.dataCount()).keySet(),
                          stripe.liveBytes(),
                          stripe.deadBytes(),
                          stripe.parityBytes()),
                      PackingCost::plus));
    }
    return costs;
  }

  /** Empty for a code that the namenode knows and this process does not: no reason to stop. */
  private static Optional<ErasureCode> code(String name) {
    try {
      return Optional.of(Codes.byName(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
