package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.placement.Packing;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.namespace.transition.Proposals.Context;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
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
 * Stripes with many tombstones are written anew: the live blocks of several of them become one new
 * group, the old parities and tombstones go. Collected by one thread, which also calls {@link
 * #flush}.
 */
final class Rewrites {
  private static final int MAX_CANDIDATES = 1_000;

  private final Context context;
  private final Map<Long, StripeState> candidates = new LinkedHashMap<>();

  Rewrites(Context context) {
    this.context = context;
  }

  /** Notes a whole stripe, in no transition, if enough of its data is dead. */
  void consider(StripeState stripe) {
    long dead = 0;
    long data = 0;
    for (StripeMemberProto member : stripe.members().values()) {
      if (stripe.code().position(member.getPosition()).isData()) {
        data += member.getLengthBytes();
        dead += member.getTombstone() ? member.getLengthBytes() : 0;
      }
    }
    if (dead > 0
        && dead >= context.settings().rewriteDeadShare() * data
        && candidates.size() < MAX_CANDIDATES) {
      candidates.put(stripe.id(), stripe);
    }
  }

  /**
   * Notes a stripe whose lost blocks cannot be rebuilt, but which are all tombstones and parities:
   * its live data is whole and gets new parities.
   */
  void rescue(StripeState stripe) {
    if (candidates.size() < MAX_CANDIDATES) {
      candidates.put(stripe.id(), stripe);
    }
  }

  /** Plans what was collected: as many stripes of one kind together as fill a new group. */
  void flush() throws IOException {
    Map<List<Object>, List<StripeState>> alike = new LinkedHashMap<>();
    for (StripeState stripe : candidates.values()) {
      alike
          .computeIfAbsent(
              List.of(stripe.code().name(), stripe.row().getPolicy(), stripe.row().getSingle()),
              ignored -> new ArrayList<>())
          .add(stripe);
    }
    candidates.clear();
    for (List<StripeState> stripes : alike.values()) {
      StripeState any = stripes.get(0);
      int together = any.row().getSingle() ? 1 : Packing.stripesPerGroup(any.code());
      int room = any.code().dataCount() * together;
      List<StripeState> batch = new ArrayList<>();
      int blocks = 0;
      for (StripeState stripe : stripes) {
        int live = liveBlocks(stripe);
        if (blocks + live > room && !batch.isEmpty()) {
          plan(batch);
          batch.clear();
          blocks = 0;
        }
        batch.add(stripe);
        blocks += live;
      }
      plan(batch);
    }
  }

  private static int liveBlocks(StripeState stripe) {
    return (int)
        stripe.members().values().stream()
            .filter(member -> StripeState.isLiveData(stripe.code(), member))
            .count();
  }

  private void plan(List<StripeState> stripes) throws IOException {
    if (context.index().activeCount() >= context.settings().maxActive()) {
      return; // found again by a later scan
    }
    long id = context.ids().transitions().next();
    List<Long> stripeIds = stripes.stream().map(StripeState::id).toList();
    Optional<TransitionRow> row =
        context
            .store()
            .transact(
                id,
                transaction -> {
                  OwnerLocks.lock(transaction, List.of(), stripeIds, List.of(id));
                  TransitionRow.Builder built = row(id, stripes);
                  for (StripeState stripe : stripes) {
                    var key = Tables.stripe(stripe.id());
                    if (transaction.get(Tables.STRIPE, key).equals(Optional.of(stripe.row()))) {
                      transaction.put(
                          Tables.STRIPE, key, stripe.row().toBuilder().setTransitionId(id).build());
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
                    ? "blocks of it cannot be rebuilt, but its live data is whole"
                    : "at least %.0f%% of its data was deleted"
                        .formatted(100 * context.settings().rewriteDeadShare()))
            .setCreatedMillis(now)
            .setUpdatedMillis(now)
            .setPriority(rescue ? Priorities.RESCUE : Priorities.of(TransitionKindProto.REWRITE))
            .setAttempt(0);
    return stripe.getSingle() ? row.setSingle(true) : row;
  }
}
