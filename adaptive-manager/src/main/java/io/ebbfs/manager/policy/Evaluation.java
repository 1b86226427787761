package io.ebbfs.manager.policy;

import java.util.List;

/**
 * What came out of one evaluation.
 *
 * @param refusals policies that cannot work on the cluster as it is, and why, with the remedy
 */
public record Evaluation(
    long atMillis,
    List<Decision> decisions,
    List<Verdict> verdicts,
    List<Account> accounts,
    List<Refusal> refusals) {

  /** A policy that is not carried out. */
  public record Refusal(String policy, String message, String remedy) {}
}
