package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.List;
import java.util.Map;

/**
 * The part of a snapshot that one policy decides about.
 *
 * @param filesById the files of all policies
 * @param files the files of this policy
 * @param stripes the stripes of this policy
 */
record PolicyView(
    CodeRegistry codes,
    ClusterSnapshot snapshot,
    PolicyRule rule,
    Map<Long, FileView> filesById,
    List<FileView> files,
    List<StripeView> stripes) {

  Temperature temperature() {
    return Temperature.of(this);
  }
}
