package io.ebbfs.manager.policy;

import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The files and stripes of a policy whose last transition failed after all attempts. They are left
 * alone until limits.retryFailedAfter has passed, or until the cluster has the servers, disks or
 * space that were missing.
 */
final class FailedTransitions {
  private final Map<Long, TransitionView> byFile = new HashMap<>();
  private final Set<Long> stripes = new HashSet<>();
  private final Set<Long> subtractions = new HashSet<>();
  private final Set<Long> releases = new HashSet<>();
  private final Set<Long> groupFiles = new HashSet<>();

  FailedTransitions(ClusterSnapshot snapshot, String policy) {
    for (TransitionView transition : snapshot.transitions()) {
      if (transition.policy().equals(policy)
          && transition.kind() != TransitionKindProto.REPAIR
          && !transition.active()
          && !mayBeRetried(transition, snapshot)) {
        transition.blocks().forEach(block -> byFile.put(block.ownerId(), transition));
        ofKind(transition.kind()).addAll(transition.stripeIds());
        groupFiles.add(transition.groupFileId());
      }
    }
  }

  private Set<Long> ofKind(TransitionKindProto kind) {
    return switch (kind) {
      case SUBTRACT -> subtractions;
      case RELEASE -> releases;
      default -> stripes;
    };
  }

  private static boolean mayBeRetried(TransitionView transition, ClusterSnapshot snapshot) {
    long retryAt = transition.updatedMillis() + snapshot.limits().retryFailedAfterMillis();
    boolean lackIsMet = transition.lack() != null && transition.lack().isMet(snapshot.cluster());
    return snapshot.nowMillis() >= retryAt || lackIsMet;
  }

  /** The transition that failed to encode a file; null if there is none. */
  TransitionView ofFile(long fileId) {
    return byFile.get(fileId);
  }

  /** Whether no dead blocks can be subtracted from a stripe; a rewrite may free them. */
  boolean concernsSubtraction(long stripeId) {
    return subtractions.contains(stripeId);
  }

  /** Whether blocks that were to leave the stripe could not. */
  boolean concernsRelease(long stripeId) {
    return releases.contains(stripeId);
  }

  /** Whether a file that its client has encoded could not become a replicated file. */
  boolean concernsGroupsOf(long fileId) {
    return groupFiles.contains(fileId);
  }

  /** Whether another transition of the stripe than a subtraction or a release failed. */
  boolean concernsStripe(long stripeId) {
    return stripes.contains(stripeId);
  }
}
