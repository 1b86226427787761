package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.StripeView;
import java.util.List;
import java.util.Map;

/**
 * The part of a snapshot that one policy decides about.
 *
 * @param filesById the files of all policies in the snapshot
 * @param files those of this policy
 * @param stripes those of this policy
 */
record PolicyView(
    CodeRegistry codes,
    ClusterSnapshot snapshot,
    PolicyRule rule,
    Map<Long, FileView> filesById,
    List<FileView> files,
    List<StripeView> stripes) {

  /** The sums over all files and stripes of the policy, in the snapshot or not. */
  PolicySums sums() {
    return snapshot.sumsOf(rule.name());
  }

  Temperature temperature() {
    return Temperature.of(this);
  }
}
