package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicySet;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Everything that a decision depends on, at one time.
 *
 * @param heat decayed reads by file id; absent means none
 * @param transitions those active, and those failed
 */
public record Snapshot(
    long nowMillis,
    PolicySet policies,
    Limits limits,
    Cluster cluster,
    Collection<FileView> files,
    Map<Long, StripeView> stripes,
    Map<Long, Double> heat,
    List<TransitionView> transitions) {

  /** Of the daemon, not of one policy. */
  public record Limits(int maxPendingTransitions, long retryFailedAfterMillis) {}

  /** What is live. */
  public record Cluster(int liveServers, int liveDisks, long freeBytes, boolean safeMode) {}

  public double heatOf(long fileId) {
    return heat.getOrDefault(fileId, 0.0);
  }
}
