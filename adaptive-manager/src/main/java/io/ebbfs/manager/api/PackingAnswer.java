package io.ebbfs.manager.api;

import io.ebbfs.coding.packing.PackingCost;
import io.ebbfs.manager.bound.PolicyAccount;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * The cost of the packing of stripes, in bytes and in overhead; see {@link PackingCost}. The
 * stripes store liveBytes + ownBytes + paddingBytes + unfilledBytes + deadBytes.
 */
record PackingAnswer(
    long liveBytes,
    long ownBytes,
    long paddingBytes,
    long unfilledBytes,
    long deadBytes,
    double ownOverhead,
    double paddingOverhead,
    double unfilledOverhead,
    double deadOverhead) {
  static PackingAnswer of(PackingCost cost) {
    return new PackingAnswer(
        cost.liveBytes(),
        cost.ownBytes(),
        cost.paddingBytes(),
        cost.unfilledBytes(),
        cost.deadBytes(),
        cost.perLiveByte(cost.liveBytes() + cost.ownBytes()),
        cost.perLiveByte(cost.paddingBytes()),
        cost.perLiveByte(cost.unfilledBytes()),
        cost.perLiveByte(cost.deadBytes()));
  }

  static PackingAnswer total(Collection<PackingCost> costs) {
    return of(costs.stream().reduce(PackingCost.NONE, PackingCost::plus));
  }

  /** The packing of the stripes of all these policies. */
  static PackingAnswer ofAll(Collection<PolicyAccount> accounts) {
    return total(accounts.stream().flatMap(a -> a.packing().values().stream()).toList());
  }

  static Map<String, PackingAnswer> byCode(PolicyAccount account) {
    Map<String, PackingAnswer> answers = new TreeMap<>();
    account.packing().forEach((code, cost) -> answers.put(code, of(cost)));
    return answers;
  }
}
