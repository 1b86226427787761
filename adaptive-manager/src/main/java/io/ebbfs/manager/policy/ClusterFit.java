package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.ClusterSnapshot;
import java.util.List;
import java.util.Objects;

/** Checks whether the live cluster has the servers and disks that a policy asks for. */
public final class ClusterFit {
  private ClusterFit() {}

  /** A refusal for every policy that the cluster is too small for. */
  public static List<Evaluation.Refusal> check(
      PolicySet policies, ClusterSnapshot.Cluster cluster) {
    return policies.rules().stream()
        .map(rule -> check(rule, cluster))
        .filter(Objects::nonNull)
        .toList();
  }

  /** Returns null if the cluster suffices. */
  static Evaluation.Refusal check(PolicyRule rule, ClusterSnapshot.Cluster cluster) {
    if (cluster.liveServers() >= rule.minServers() && cluster.liveDisks() >= rule.minDisks()) {
      return null;
    }
    return new Evaluation.Refusal(
        rule.name(),
        String.format(
            "policy '%s' (%s) asks for %d servers and %d disks; live are %d servers and %d"
                + " disks",
            rule.name(),
            rule.showCodes(),
            rule.minServers(),
            rule.minDisks(),
            cluster.liveServers(),
            cluster.liveDisks()),
        "start more chunk servers or disks, or give the policy codes with shorter stripes");
  }
}
