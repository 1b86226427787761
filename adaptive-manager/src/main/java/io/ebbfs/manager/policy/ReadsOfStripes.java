package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;

/**
 * Reads of a block of stripes, comparable between policies: remembered reads if some policy weighs
 * them, else decayed reads. Thread-safe.
 */
final class ReadsOfStripes {
  private final ClusterSnapshot snapshot;
  private final boolean remembered;

  ReadsOfStripes(ClusterSnapshot snapshot) {
    this.snapshot = snapshot;
    this.remembered =
        snapshot.policies().rules().stream()
            .anyMatch(rule -> rule.readHot().unit() == ReadHot.Unit.AUTO);
  }

  /** The mean of the files' reads, weighted by their bytes in the stripes. */
  double ofStripes(Collection<StripeView> stripes) {
    double reads = 0;
    long bytes = 0;
    for (StripeView stripe : stripes) {
      for (StripeView.Member member : stripe.members()) {
        if (member.isOwnedByFile(stripe.id())) {
          reads += ofFile(member.ownerId()) * member.lengthBytes();
          bytes += member.lengthBytes();
        }
      }
    }
    return reads / Math.max(1, bytes);
  }

  private double ofFile(long fileId) {
    return remembered ? snapshot.experience().readsOf(fileId) : snapshot.heatOf(fileId);
  }
}
