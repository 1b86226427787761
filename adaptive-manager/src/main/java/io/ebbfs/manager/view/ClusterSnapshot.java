package io.ebbfs.manager.view;

import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Everything that a decision depends on, at one time.
 *
 * @param stripes by stripe id
 * @param heat decayed reads by file id; a file that is absent was not read
 * @param repairedBlocks blocks of stripes that were rebuilt since the cluster was made
 * @param experience remembered reads and failures, for policies that weigh conversions
 * @param transitions planned, running and failed transitions
 */
public record ClusterSnapshot(
    long nowMillis,
    PolicySet policies,
    Limits limits,
    Cluster cluster,
    Collection<FileView> files,
    Map<Long, StripeView> stripes,
    Map<Long, Double> heat,
    long repairedBlocks,
    Experience experience,
    List<TransitionView> transitions) {

  /** Limits of the manager that all policies share. */
  public record Limits(int maxPendingTransitions, long retryFailedAfterMillis) {}

  /** The live servers and disks, and their free bytes. */
  public record Cluster(int liveServers, int liveDisks, long freeBytes, boolean safeMode) {}

  public double heatOf(long fileId) {
    return heat.getOrDefault(fileId, 0.0);
  }
}
