package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.ClusterAccount;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.PolicySums;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Keeps the storage bound of the whole cluster: while it is exceeded, that fast data of all
 * policies becomes compact whose fast code is worth least for each stored byte. Not thread-safe.
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

  /** The bound that the bounds of all policies lie within. */
  StorageBound bound() {
    return bound;
  }

  /** Converts fast data to compact until the bound holds, as far as the limits of the run allow. */
  void keep(List<PolicyRun> runs, List<Decision> decisions) {
    while (bound.isExceededAtEnd()) {
      PolicyRun least =
          runs.stream()
              .filter(run -> run.benefitOfColdest().isPresent())
              .min(Comparator.comparingDouble(run -> run.benefitOfColdest().getAsDouble()))
              .orElse(null);
      if (least == null) {
        return;
      }
      least.giveWay(bound, decisions);
    }
  }

  ClusterAccount account() {
    return new ClusterAccount(limit, liveBytes, storedBytes, bound.overheadAtEnd());
  }
}
