package io.ebbfs.manager.view;

import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.ReadCounts;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Everything that a decision depends on, at one time. A snapshot of a large cluster holds those
 * files and stripes that a decision may concern, and the sums over all.
 *
 * @param files the files that may be encoded now, those that were read most, and those of
 *     transitions
 * @param stripes by stripe id: the stripes of these files, fast stripes that may become compact,
 *     and those of transitions
 * @param sums over all files and stripes, by policy
 * @param heat decayed reads of files
 * @param repairedBlocks blocks of stripes that were rebuilt since the cluster was made
 * @param lostBlocks blocks of stripes without a live replica
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
    Map<String, PolicySums> sums,
    ReadCounts heat,
    long repairedBlocks,
    long lostBlocks,
    Experience experience,
    List<TransitionView> transitions) {

  private static final PolicySums NOTHING = new PolicySums();

  /** Limits of the manager that all policies share. */
  public record Limits(int maxPendingTransitions, long retryFailedAfterMillis) {}

  /** The live servers and disks, and their free bytes. */
  public record Cluster(int liveServers, int liveDisks, long freeBytes, boolean safeMode) {}

  /** The sums over what one policy has. */
  public PolicySums sumsOf(String policy) {
    return sums.getOrDefault(policy, NOTHING);
  }

  public double heatOf(long fileId) {
    return heat.of(fileId);
  }
}
