package io.ebbfs.namespace.transition;

import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.StripeState;
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
 * A stripe and those that it will merge with.
 *
 * @param slot of the stripe itself
 * @param others by slot: those that are still there, in the same code
 */
record Siblings(StripeState stripe, int slot, Map<Integer, StripeState> others) {
  private static final Set<TransitionKindProto> PLACES_ANEW =
      EnumSet.of(TransitionKindProto.REPAIR, TransitionKindProto.MOVE);

  /** Reads them; a stripe that was not placed with others, or in another code, has none. */
  static Siblings read(Transaction transaction, ClusterView cluster, StripeState stripe)
      throws IOException {
    StripeRow row = stripe.row();
    Optional<CodeFamily> family =
        Codes.familyOf(row.getCode()).filter(f -> f.fast().equals(row.getCode()));
    if (!row.hasGroupId() || family.isEmpty()) {
      return new Siblings(stripe, 0, Map.of());
    }
    int together = family.get().groupSize();
    int first = row.getGroupSlot() / together * together;
    Map<Integer, StripeState> others = new TreeMap<>();
    for (int slot = first; slot < first + together; slot++) {
      Optional<StripeRow> other =
          transaction
              .get(Tables.STRIPE, Tables.stripe(row.getGroupId() + slot))
              .filter(r -> r.getGroupId() == row.getGroupId())
              .filter(r -> r.getId() != row.getId() && r.getCode().equals(row.getCode()));
      if (other.isPresent()) {
        StripeState state = StripeState.read(transaction, cluster, other.get());
        others.put(slot - first, withTargets(transaction, cluster, state));
      }
    }
    return new Siblings(stripe, row.getGroupSlot() - first, others);
  }

  /** Blocks that are being repaired or moved count where they will be. */
  private static StripeState withTargets(
      Transaction transaction, ClusterView cluster, StripeState stripe) throws IOException {
    if (!stripe.row().hasTransitionId()) {
      return stripe;
    }
    Optional<TransitionRow> transition =
        transaction.get(Tables.TRANSITION, Tables.transition(stripe.row().getTransitionId()));
    if (transition.isEmpty() || !PLACES_ANEW.contains(transition.get().getKind())) {
      return stripe;
    }
    SortedMap<Integer, List<String>> locations = new TreeMap<>(stripe.locations());
    for (TransitionOutputProto output : transition.get().getOutputsList()) {
      if (cluster.isLive(output.getStorageUuid())) {
        locations.put(output.getPosition(), List.of(output.getStorageUuid()));
      }
    }
    return new StripeState(stripe.row(), stripe.code(), stripe.members(), locations);
  }

  /** Whether one of the others may be placed anew at the same time. */
  boolean inTransition() {
    return others.values().stream().anyMatch(other -> other.row().hasTransitionId());
  }

  /** The number of slots up to the last that is taken. */
  int slots() {
    return 1 + others.keySet().stream().reduce(slot, Math::max);
  }
}
