package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.ClusterAccount;
import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.FileView;
import java.util.List;
import java.util.function.LongFunction;

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

  /**
   * The same evaluation with fewer decisions, while files are still being sorted by edited
   * policies: a decision about a file that belongs to another policy now is held back. The edited
   * policies themselves have decided nothing, see {@link Policy#decide}.
   *
   * @param inUse the policies that have decided
   * @param wanted the edited policies
   * @param files gives a file by its id, or null
   */
  public Evaluation heldBackBy(PolicySet inUse, PolicySet wanted, LongFunction<FileView> files) {
    if (inUse.rules().equals(wanted.rules())) {
      return this;
    }
    List<Decision> kept =
        decisions.stream()
            .filter(
                one -> one.fileIds().stream().allMatch(id -> stays(one, files.apply(id), wanted)))
            .toList();
    return new Evaluation(atMillis, kept, verdicts, accounts, cluster, refusals);
  }

  private static boolean stays(Decision decision, FileView file, PolicySet wanted) {
    return file != null
        && file.policyOf(wanted).filter(rule -> rule.name().equals(decision.policy())).isPresent();
  }

  /** A policy that is not applied. */
  public record Refusal(String policy, String message, String remedy) {}
}
