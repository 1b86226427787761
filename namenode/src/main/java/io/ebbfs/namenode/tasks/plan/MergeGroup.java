package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A stripe and the stripes that it will merge with when it is converted to the compact code. The
 * group is placed so that the merged stripe follows the rules of placement, too.
 *
 * @param slot the slot of the stripe
 * @param others by slot: the other stripes that still exist and have the same code
 */
public record MergeGroup(StripeState stripe, int slot, Map<Integer, StripeState> others) {
  private static final Set<TransitionKindProto> CHANGES_PLACES =
      EnumSet.of(
          TransitionKindProto.REPAIR,
          TransitionKindProto.MOVE,
          TransitionKindProto.SUBTRACT,
          TransitionKindProto.RELEASE);

  /** Reads the group. A stripe that was placed alone, or is in no fast code, has no others. */
  public static MergeGroup read(
      Transaction transaction, CodeRegistry codes, ClusterView cluster, StripeState stripe)
      throws IOException {
    StripeRow row = stripe.row();
    if (!row.hasGroupId() || codes.mergesInto(stripe.code()).isEmpty()) {
      return new MergeGroup(stripe, 0, Map.of());
    }
    int together = codes.stripesPerGroup(stripe.code());
    int first = row.getGroupSlot() / together * together;
    Map<Integer, StripeState> others = new TreeMap<>();
    for (int slot = first; slot < first + together; slot++) {
      Optional<StripeRow> other =
          transaction
              .get(Tables.STRIPE, Tables.stripe(row.getGroupId() + slot))
              .filter(r -> r.getGroupId() == row.getGroupId())
              .filter(r -> r.getId() != row.getId() && r.getCode().equals(row.getCode()));
      if (other.isPresent()) {
        StripeState state = StripeState.read(transaction, codes, cluster, other.get());
        others.put(slot - first, withTargets(transaction, cluster, state));
      }
    }
    return new MergeGroup(stripe, row.getGroupSlot() - first, others);
  }

  /**
   * The stripe with its blocks that are being repaired, moved or replaced on their target disks.
   */
  private static StripeState withTargets(
      Transaction transaction, ClusterView cluster, StripeState stripe) throws IOException {
    if (!stripe.row().hasTransitionId()) {
      return stripe;
    }
    Optional<TransitionRow> transition =
        transaction.get(Tables.TRANSITION, Tables.transition(stripe.row().getTransitionId()));
    if (transition.isEmpty() || !CHANGES_PLACES.contains(transition.get().getKind())) {
      return stripe;
    }
    SortedMap<Integer, List<String>> locations = new TreeMap<>(stripe.locations());
    for (TransitionOutputProto output : transition.get().getOutputsList()) {
      // The copy of a block that leaves is no member of the stripe.
      boolean leaves =
          transition.get().getKind() == TransitionKindProto.RELEASE
              && stripe.code().position(output.getPosition()).isData();
      if (!leaves && cluster.isLive(output.getStorageUuid())) {
        locations.put(output.getPosition(), List.of(output.getStorageUuid()));
      }
    }
    return new StripeState(stripe.row(), stripe.code(), stripe.members(), locations);
  }

  /** Whether a transition of another stripe may change the placement of the group meanwhile. */
  public boolean inTransition() {
    return others.values().stream().anyMatch(other -> other.row().hasTransitionId());
  }

  /** The number of slots up to the last one with a stripe. */
  int slots() {
    return 1 + others.keySet().stream().reduce(slot, Math::max);
  }
}
