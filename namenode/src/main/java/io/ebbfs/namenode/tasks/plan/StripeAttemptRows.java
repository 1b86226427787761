package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.Collection;

/**
 * Reads the stripe of a repair or a re-placement and updates the row of the transition. Stateless.
 */
final class StripeAttemptRows {
  private StripeAttemptRows() {}

  /** The stripe of the transition, with its members on their disks. */
  static StripeState stripe(
      Transaction transaction, CodeRegistry codes, ClusterView cluster, TransitionRow row)
      throws IOException, NotPlannableException {
    StripeRow stripe =
        transaction
            .get(Tables.STRIPE, Tables.stripe(row.getStripes(0).getStripeId()))
            .filter(s -> s.getTransitionId() == row.getId())
            .orElseThrow(() -> NotPlannableException.ever("its stripe is gone or was converted"));
    return StripeState.read(transaction, codes, cluster, stripe);
  }

  /** The row of the transition with the generation that was read and the positions to write. */
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
