package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.PolicyOfStripe;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.StripeView;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

  /** The view for an order, which names its files and stripes itself. */
  static PolicyView ofOrder(CodeRegistry codes, ClusterSnapshot snapshot, PolicyRule rule) {
    Map<Long, FileView> files = new HashMap<>();
    snapshot.files().forEach(file -> files.put(file.id(), file));
    return new PolicyView(codes, snapshot, rule, files, List.of(), List.of());
  }

  /** The sums over all files and stripes of the policy, in the snapshot or not. */
  PolicySums sums() {
    return snapshot.sumsOf(rule.name());
  }

  /** Whether a file belongs to this policy. */
  boolean owns(FileView file) {
    return isThis(file.policyOf(snapshot.policies()));
  }

  /** Whether a stripe belongs to this policy. */
  boolean owns(StripeView stripe) {
    return isThis(
        PolicyOfStripe.find(
            snapshot.policies(),
            stripe,
            id ->
                Optional.ofNullable(filesById.get(id))
                    .flatMap(file -> file.policyOf(snapshot.policies()))
                    .orElse(null)));
  }

  private boolean isThis(Optional<PolicyRule> found) {
    return found.filter(other -> other.name().equals(rule.name())).isPresent();
  }

  Temperature temperature() {
    return Temperature.of(this);
  }
}
