package io.ebbfs.manager.web;

import io.ebbfs.coding.PackingCost;
import io.ebbfs.manager.policy.Account;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the packing of stripes costs, in bytes and in what each share adds to the overhead; see
 * {@link PackingCost}. liveBytes + ownBytes + paddingBytes + unfilledBytes + deadBytes is what the
 * stripes store.
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

  /** Of the stripes of all these policies. */
  static PackingAnswer ofAll(Collection<Account> accounts) {
    return total(accounts.stream().flatMap(a -> a.packing().values().stream()).toList());
  }

  static Map<String, PackingAnswer> byCode(Account account) {
    Map<String, PackingAnswer> answers = new TreeMap<>();
    account.packing().forEach((code, cost) -> answers.put(code, of(cost)));
    return answers;
  }
}
