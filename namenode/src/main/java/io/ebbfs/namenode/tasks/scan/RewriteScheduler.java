package io.ebbfs.namenode.tasks.scan;

import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPriority;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Creates the transitions that rewrite mostly dead stripes: the live blocks of several stripes
 * become one new group, and the old parities and tombstones are deleted. {@link RepairDecider}
 * decides which stripes are rewritten. Used by one thread.
 */
final class RewriteScheduler {
  private static final int MAX_CANDIDATES = 1_000;

  /** Stripes with equal keys may share a new group. */
  private record Key(String code, String policy, boolean single) {}

  private final TransitionContext context;
  private final Map<Long, StripeState> candidates = new LinkedHashMap<>();

  RewriteScheduler(TransitionContext context) {
    this.context = context;
  }

  /**
   * Notes a stripe whose live data is to be rewritten. The stripe is in no transition, and all its
   * live data has a replica. Beyond a limit stripes are dropped: a later scan finds them again.
   */
  void add(StripeState stripe) {
    if (candidates.size() < MAX_CANDIDATES) {
      candidates.put(stripe.id(), stripe);
    }
  }

  /** Creates the rewrites: as many stripes with equal keys together as fill a new group. */
  void flush() throws IOException {
    Map<Key, List<StripeState>> byKey = new LinkedHashMap<>();
    for (StripeState stripe : candidates.values()) {
      StripeRow row = stripe.row();
      byKey
          .computeIfAbsent(
              new Key(stripe.code().name(), row.getPolicy(), row.getSingle()),
              key -> new ArrayList<>())
          .add(stripe);
    }
    candidates.clear();
    for (List<StripeState> stripes : byKey.values()) {
      for (List<StripeState> batch : batches(stripes)) {
        create(batch);
      }
    }
  }

  /** Splits stripes so that the live blocks of each part fit into one new group. */
  private List<List<StripeState>> batches(List<StripeState> stripes) {
    StripeState any = stripes.get(0);
    int together = any.row().getSingle() ? 1 : context.codes().stripesPerGroup(any.code());
    int room = any.code().dataCount() * together;
    List<List<StripeState>> batches = new ArrayList<>();
    int blocks = 0;
    for (StripeState stripe : stripes) {
      int live = liveBlocks(stripe);
      if (batches.isEmpty() || blocks + live > room) {
        batches.add(new ArrayList<>());
        blocks = 0;
      }
      batches.get(batches.size() - 1).add(stripe);
      blocks += live;
    }
    return batches;
  }

  private static int liveBlocks(StripeState stripe) {
    return (int)
        stripe.members().values().stream()
            .filter(member -> StripeState.isLiveData(stripe.code(), member))
            .count();
  }

  private void create(List<StripeState> stripes) throws IOException {
    if (context.index().activeCount() >= context.settings().maxActive()) {
      return; // a later scan finds the stripes again
    }
    long id = context.ids().transitions().next();
    List<Long> stripeIds = stripes.stream().map(StripeState::id).toList();
    Optional<TransitionRow> row =
        context
            .store()
            .transact(
                id,
                transaction -> {
                  TransitionRegistrar.lock(transaction, id, stripeIds);
                  TransitionRow.Builder built = row(id, stripes);
                  for (StripeState stripe : stripes) {
                    if (TransitionRegistrar.mark(transaction, id, stripe.row())) {
                      built.addStripes(
                          TransitionStripeProto.newBuilder()
                              .setStripeId(stripe.id())
                              .setGeneration(stripe.row().getGeneration()));
                    }
                  }
                  if (built.getStripesCount() == 0) {
                    return Optional.empty();
                  }
                  transaction.put(Tables.TRANSITION, Tables.transition(id), built.build());
                  return Optional.of(built.build());
                });
    row.ifPresent(context.lifecycle()::committed);
  }

  private TransitionRow.Builder row(long id, List<StripeState> stripes) {
    StripeRow stripe = stripes.get(0).row();
    boolean rescue = stripes.stream().anyMatch(s -> !s.lost().isEmpty());
    long now = context.clock().millis();
    TransitionRow.Builder row =
        TransitionRow.newBuilder()
            .setId(id)
            .setKind(TransitionKindProto.REWRITE)
            .setState(TransitionStateProto.PLANNED)
            .setPolicy(stripe.getPolicy())
            .setFromCode(stripe.getCode())
            .setToCode(stripe.getCode())
            .setReason(
                rescue
                    ? RepairDecider.RESCUE_REASON
                    : RepairDecider.mostlyDead(context.settings().rewriteDeadShare()))
            .setCreatedMillis(now)
            .setUpdatedMillis(now)
            .setPriority(
                rescue
                    ? TransitionPriority.RESCUE
                    : TransitionPriority.of(TransitionKindProto.REWRITE))
            .setAttempt(0);
    return stripe.getSingle() ? row.setSingle(true) : row;
  }
}
