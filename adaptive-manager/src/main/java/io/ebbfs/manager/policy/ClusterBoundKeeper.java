package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.ClusterAccount;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.Wear;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * Keeps the storage bound of the whole cluster. While it is exceeded, deleted data is freed, first
 * where the fewest bytes move for each byte freed, and that fast data of all policies becomes
 * compact whose fast code is worth least for each stored byte. Deleted data goes first as long as
 * it is not dearer than the conversion. Data that is pinned fast becomes compact last. Not
 * thread-safe.
 */
final class ClusterBoundKeeper {
  private final OptionalDouble limit;
  private final long storedBytes;
  private final long liveBytes;
  private final StorageBound bound;

  ClusterBoundKeeper(ClusterSnapshot snapshot) {
    this.limit = snapshot.policies().storageBound();
    this.storedBytes = snapshot.sums().values().stream().mapToLong(PolicySums::storedBytes).sum();
    this.liveBytes = snapshot.sums().values().stream().mapToLong(PolicySums::liveBytes).sum();
    this.bound = new StorageBound(limit, storedBytes, liveBytes);
  }

  /** The bound of a policy within the bound of the cluster. */
  StorageBound boundOf(PolicyView view) {
    PolicySums sums = view.sums();
    return bound.within(view.rule().storageBound(), sums.storedBytes(), sums.liveBytes());
  }

  /**
   * Enters what is under way for all policies into the bound of the cluster, for an order.
   *
   * @param own the policy of the order
   * @param ownBound of this policy; it receives what is under way for the policy, too
   */
  void enterUnderWay(PolicyView own, StorageBound ownBound) {
    new TransitionsUnderWay(own, ownBound).enter();
    for (PolicyRule other : own.snapshot().policies().rules()) {
      if (!other.name().equals(own.rule().name())) {
        PolicyView view =
            new PolicyView(
                own.codes(), own.snapshot(), other, own.filesById(), List.of(), List.of());
        new TransitionsUnderWay(view, boundOf(view)).enter();
      }
    }
  }

  /** Frees space until the bound holds, as far as the limits of the run allow. */
  void keep(List<PolicyRun> runs, List<Decision> decisions) {
    while (bound.isExceededAtEnd()) {
      Optional<PolicyRun> cheapest = least(runs, PolicyRun::priceOfDeletedData);
      Optional<PolicyRun> coldest = least(runs, PolicyRun::benefitOfColdest);
      double most = coldest.map(ClusterBoundKeeper::priceOfConversion).orElse(Wear.MOST_PRICE);
      if (cheapest.isPresent() && cheapest.get().priceOfDeletedData().getAsDouble() <= most) {
        cheapest.get().freeCheapest(bound, most, decisions);
      } else if (coldest.isPresent()) {
        coldest.get().giveWay(bound, decisions);
      } else {
        return;
      }
    }
  }

  /** The policy with the least value; a policy without a value is left out. */
  private static Optional<PolicyRun> least(
      List<PolicyRun> runs, Function<PolicyRun, OptionalDouble> value) {
    return runs.stream()
        .filter(run -> value.apply(run).isPresent())
        .min(Comparator.comparingDouble(run -> value.apply(run).getAsDouble()));
  }

  /** The most bytes to move for a deleted byte before fast data of this policy gives way. */
  private static double priceOfConversion(PolicyRun run) {
    boolean pinned = run.benefitOfColdest().getAsDouble() == Double.POSITIVE_INFINITY;
    return pinned ? Wear.MOST_PRICE : run.priceOfConversion();
  }

  ClusterAccount account() {
    return new ClusterAccount(limit, liveBytes, storedBytes, bound.overheadAtEnd());
  }
}
