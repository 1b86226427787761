package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.ClusterAccount;
import io.ebbfs.manager.bound.PolicyAccount;
import java.util.List;

/**
 * The result of one evaluation.
 *
 * @param verdicts the state of each file
 * @param refusals policies that the cluster is too small for, with reason and remedy
 */
public record Evaluation(
    long atMillis,
    List<Decision> decisions,
    Verdicts verdicts,
    List<PolicyAccount> accounts,
    ClusterAccount cluster,
    List<Refusal> refusals) {

  /** A policy that is not applied. */
  public record Refusal(String policy, String message, String remedy) {}
}
