package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.heat.ReadShares;
import io.ebbfs.manager.view.PolicySums;

/** Sums up the bytes of one policy. */
final class AccountBuilder {
  private AccountBuilder() {}

  /**
   * @param endOverhead of the encoded data, once all transitions are done
   */
  static PolicyAccount account(PolicyView view, double endOverhead) {
    PolicyRule rule = view.rule();
    PolicySums sums = view.sums();
    return new PolicyAccount(
        rule.name(),
        rule.storageBound(),
        sums.liveBytes(),
        sums.storedBytes(),
        sums.fastBytes(),
        sums.replicatedBytes(),
        sums.replicatedStoredBytes(),
        sums.packing(),
        endOverhead,
        ReadShares.of(view.snapshot(), rule, view.files(), view.stripes()));
  }
}
