package io.ebbfs.namenode.stripes;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.CannotPlanException;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.DecodeSources;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds the servers that hold the sources of a degraded read. The block locations of a file name
 * proxies for a block; a proxy near the sources is the better one. Reads rows, takes no locks.
 */
final class DecodeSourceFinder {
  private DecodeSourceFinder() {}

  /**
   * The sources of the cheapest plan that decodes a block without its own replicas; {@link
   * DecodeSources#NONE} if its stripe cannot decode it.
   */
  static DecodeSources find(
      Transaction transaction, CodeRegistry codes, ClusterView cluster, BlockRow block)
      throws IOException {
    Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(block.getStripeId()));
    if (row.isEmpty()) {
      return DecodeSources.NONE;
    }
    StripeState stripe = StripeState.read(transaction, codes, cluster, row.get());
    int wanted = block.getStripePosition();
    if (!stripe.occupied().contains(wanted)) {
      return DecodeSources.NONE; // another transaction has converted or rewritten the stripe
    }
    Set<Integer> unreadable = new TreeSet<>(stripe.lost());
    unreadable.add(wanted);
    ReadCostEstimator costs = new ReadCostEstimator(cluster, "");
    try {
      return count(
          cluster,
          stripe,
          Planner.readPlan(
                  stripe.code(),
                  stripe.occupied(),
                  unreadable,
                  wanted,
                  position -> costs.of(stripe.locations().get(position)))
              .inputPositions());
    } catch (CannotPlanException e) {
      return DecodeSources.NONE;
    }
  }

  private static DecodeSources count(
      ClusterView cluster, StripeState stripe, List<Integer> positions) {
    Map<String, Integer> byServer = new HashMap<>();
    for (int position : positions) {
      cluster
          .serversOf(stripe.locations().get(position))
          .forEach(server -> byServer.merge(server, 1, Integer::sum));
    }
    return new DecodeSources(positions.size(), byServer);
  }
}
