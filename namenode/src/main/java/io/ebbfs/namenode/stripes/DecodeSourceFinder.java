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
import java.util.function.ToIntFunction;

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
    Optional<StripeState> stripe = stripeOf(transaction, codes, cluster, block);
    if (stripe.isEmpty()) {
      return DecodeSources.NONE;
    }
    ReadCostEstimator costs = new ReadCostEstimator(cluster, "");
    return inputs(stripe.get(), block, costs::of)
        .map(positions -> count(cluster, stripe.get(), positions))
        .orElse(DecodeSources.NONE);
  }

  /** Whether the stripe of a block decodes the block, at whatever cost. */
  static boolean decodes(
      Transaction transaction, CodeRegistry codes, ClusterView cluster, BlockRow block)
      throws IOException {
    return stripeOf(transaction, codes, cluster, block)
        .flatMap(stripe -> inputs(stripe, block, disks -> 1))
        .isPresent();
  }

  /** Empty if another transaction has converted or rewritten the stripe. */
  private static Optional<StripeState> stripeOf(
      Transaction transaction, CodeRegistry codes, ClusterView cluster, BlockRow block)
      throws IOException {
    Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(block.getStripeId()));
    if (row.isEmpty()) {
      return Optional.empty();
    }
    StripeState stripe = StripeState.read(transaction, codes, cluster, row.get());
    return stripe.occupied().contains(block.getStripePosition())
        ? Optional.of(stripe)
        : Optional.empty();
  }

  /**
   * The positions that the cheapest plan reads; empty if no plan decodes the block.
   *
   * @param cost of a block with replicas on these disks
   */
  private static Optional<List<Integer>> inputs(
      StripeState stripe, BlockRow block, ToIntFunction<List<String>> cost) {
    Set<Integer> unreadable = new TreeSet<>(stripe.lost());
    unreadable.add(block.getStripePosition());
    try {
      return Optional.of(
          Planner.readPlan(
                  stripe.code(),
                  stripe.occupied(),
                  unreadable,
                  block.getStripePosition(),
                  position -> cost.applyAsInt(stripe.locations().get(position)))
              .inputPositions());
    } catch (CannotPlanException e) {
      return Optional.empty();
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
