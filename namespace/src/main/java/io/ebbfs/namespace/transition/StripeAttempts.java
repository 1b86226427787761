package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.Collection;

/** What attempts have in common that write some blocks of one stripe, which stays. Stateless. */
final class StripeAttempts {
  private StripeAttempts() {}

  /** The stripe of the transition as it is now. */
  static StripeState stripe(Transaction transaction, ClusterView cluster, TransitionRow row)
      throws IOException, NotPlannableException {
    StripeRow stripe =
        transaction
            .get(Tables.STRIPE, Tables.stripe(row.getStripes(0).getStripeId()))
            .filter(s -> s.getTransitionId() == row.getId())
            .orElseThrow(() -> NotPlannableException.ever("its stripe is gone or was converted"));
    return StripeState.read(transaction, cluster, stripe);
  }

  /** The transition's row with the generation that was read and the positions to be written. */
  static TransitionRow planned(
      TransitionRow row, StripeState stripe, Collection<Integer> positions) {
    return row.toBuilder()
        .clearStripes()
        .addStripes(
            TransitionStripeProto.newBuilder()
                .setStripeId(stripe.id())
                .setGeneration(stripe.row().getGeneration())
                .addAllPositions(positions))
        .build();
  }
}
