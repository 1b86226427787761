package io.ebbfs.namespace.stripe;

import io.ebbfs.coding.CannotPlanException;
import io.ebbfs.coding.Planner;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
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
 * Which servers hold what a block of a stripe is decoded from: one of them that decodes it reads so
 * much less over its link.
 *
 * @param count blocks that the cheapest plan reads; 0 if there is none
 * @param byServer how many of them each server holds
 */
public record DecodeSources(int count, Map<String, Integer> byServer) {
  public static final DecodeSources NONE = new DecodeSources(0, Map.of());

  public DecodeSources {
    byServer = Map.copyOf(byServer);
  }

  /** Those of a block that is to be read without its own replicas. Takes no locks. */
  public static DecodeSources of(Transaction transaction, ClusterView cluster, BlockRow block)
      throws IOException {
    Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(block.getStripeId()));
    if (row.isEmpty()) {
      return NONE;
    }
    StripeState stripe = StripeState.read(transaction, cluster, row.get());
    int wanted = block.getStripePosition();
    if (!stripe.occupied().contains(wanted)) {
      return NONE; // the stripe is converted or rewritten just now
    }
    Set<Integer> unreadable = new TreeSet<>(stripe.lost());
    unreadable.add(wanted);
    SourceCosts costs = new SourceCosts(cluster, "");
    try {
      return of(
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
      return NONE;
    }
  }

  private static DecodeSources of(
      ClusterView cluster, StripeState stripe, List<Integer> positions) {
    Map<String, Integer> byServer = new HashMap<>();
    for (int position : positions) {
      cluster
          .serversOf(stripe.locations().get(position))
          .forEach(server -> byServer.merge(server, 1, Integer::sum));
    }
    return new DecodeSources(positions.size(), byServer);
  }

  /** Blocks that this server has to fetch from others in order to decode. */
  public int remoteFor(String serverUuid) {
    return count - byServer.getOrDefault(serverUuid, 0);
  }

  /** Whether this server holds one of them. */
  public boolean isOn(String serverUuid) {
    return byServer.containsKey(serverUuid);
  }
}
