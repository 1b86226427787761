package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackingCost;
import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.heat.ReadShares;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Sums up the bytes of one policy. */
final class AccountBuilder {
  private AccountBuilder() {}

  /**
   * @param endOverhead of the encoded data, once all transitions are done
   */
  static PolicyAccount account(PolicyView view, double endOverhead) {
    PolicyRule rule = view.rule();
    return new PolicyAccount(
        rule.name(),
        rule.storageBound(),
        view.stripes().stream().mapToLong(StripeView::liveBytes).sum(),
        view.stripes().stream().mapToLong(StripeView::storedBytes).sum(),
        fastBytes(view),
        view.files().stream().mapToLong(FileView::replicatedBytes).sum(),
        view.files().stream().mapToLong(FileView::replicatedStoredBytes).sum(),
        packing(view),
        endOverhead,
        ReadShares.of(view.snapshot(), rule, view.filesById(), view.files(), view.stripes()));
  }

  private static long fastBytes(PolicyView view) {
    return view.rule().isSingle()
        ? 0
        : view.stripes().stream()
            .filter(stripe -> stripe.code().equals(view.rule().family().fast()))
            .mapToLong(StripeView::liveBytes)
            .sum();
  }

  private static Map<String, PackingCost> packing(PolicyView view) {
    Map<String, PackingCost> costs = new TreeMap<>();
    for (StripeView stripe : view.stripes()) {
      code(view, stripe.code())
          .ifPresent(
              code -> costs.merge(code.name(), packingCost(stripe, code), PackingCost::plus));
    }
    return costs;
  }

  private static PackingCost packingCost(StripeView stripe, ErasureCode code) {
    return PackingCost.of(
        code,
        stripe.dataLengths(code.dataCount()).keySet(),
        stripe.liveBytes(),
        stripe.deadBytes(),
        stripe.parityBytes());
  }

  /** Empty for a code that the namenode knows and this process does not. */
  private static Optional<ErasureCode> code(PolicyView view, String name) {
    try {
      return Optional.of(view.codes().byName(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
