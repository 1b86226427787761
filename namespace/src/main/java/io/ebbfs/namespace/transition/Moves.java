package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.placement.Mending;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.namespace.transition.Proposals.Context;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Finds stripes that are placed worse than the servers in service allow, since servers joined or
 * left or a block was repaired to a poor place, and plans copies to better disks, a few stripes at
 * a time. Used by one thread; {@link #violated} by any.
 */
final class Moves {
  /** So many stripes are mended at once: copies are to leave bandwidth for everything else. */
  private static final int MAX_ACTIVE = 8;

  private static final int MAX_HOPELESS = 1_000_000;

  private record Candidate(StripeState stripe, Mending.Found found) {}

  private final Context context;
  private final DiskChoice disks;
  private final Map<Long, Integer> violated = new ConcurrentSkipListMap<>();
  // Stripes for which nothing better was found on the servers of then.
  private final Map<Long, Integer> hopeless = new HashMap<>();
  private final Map<Long, Candidate> candidates = new LinkedHashMap<>();

  Moves(Context context) {
    this.context = context;
    // Only what is found, not what is done, depends on these numbers: a claim looks again.
    this.disks = new DiskChoice(context.cluster(), new Random(1));
  }

  /** Stripes with violations, as last seen: how many; it changes while it is read. */
  Map<Long, Integer> violated() {
    return Collections.unmodifiableMap(violated);
  }

  int active() {
    return context.index().activeCount(TransitionKindProto.MOVE);
  }

  void forget(long stripeId) {
    violated.remove(stripeId);
    hopeless.remove(stripeId);
  }

  /** Looks at a whole stripe that is in no transition. */
  void consider(StripeState stripe) throws IOException {
    try {
      Siblings siblings =
          context
              .store()
              .transact(
                  stripe.id(),
                  Durability.RELAXED,
                  transaction -> Siblings.read(transaction, context.cluster(), stripe));
      int violations = disks.violations(siblings);
      if (violations == 0) {
        forget(stripe.id());
        return;
      }
      violated.put(stripe.id(), violations);
      if (mayPlanMore()
          && !siblings.inTransition()
          && siblings.others().values().stream().noneMatch(s -> candidates.containsKey(s.id()))
          && !clusterSignature().equals(hopeless.get(stripe.id()))) {
        Mending.Found found = disks.lookAt(siblings);
        if (found.moves().isEmpty()) {
          hopeless.put(stripe.id(), clusterSignature());
        } else {
          candidates.put(stripe.id(), new Candidate(stripe, found));
        }
      }
    } catch (NotPlannableException e) {
      return; // a disk went away just now: the stripe is not whole any more
    }
  }

  private boolean mayPlanMore() {
    return context.settings().mendPlacements()
        && active() + candidates.size() < MAX_ACTIVE
        && hopeless.size() < MAX_HOPELESS;
  }

  /** Equal as long as no server or disk comes or goes or changes its rack. */
  private Integer clusterSignature() {
    return context.cluster().liveServers().stream()
        .mapToInt(
            server ->
                Objects.hash(
                    server.uuid(),
                    server.rack(),
                    server.disks().stream().filter(disk -> !disk.failed()).count()))
        .sum();
  }

  /** Plans what was collected, as far as not too much is under way. */
  void flush() throws IOException {
    int room = MAX_ACTIVE - active();
    for (Candidate candidate : candidates.values()) {
      if (room-- > 0 && context.index().activeCount() < context.settings().maxActive()) {
        plan(candidate);
      }
    }
    candidates.clear(); // the others are found again
  }

  private void plan(Candidate candidate) throws IOException {
    StripeState stripe = candidate.stripe();
    long id = context.ids().transitions().next();
    Optional<TransitionRow> row =
        context
            .store()
            .transact(
                id,
                transaction -> {
                  OwnerLocks.lock(transaction, List.of(), List.of(stripe.id()), List.of(id));
                  var key = Tables.stripe(stripe.id());
                  if (!transaction.get(Tables.STRIPE, key).equals(Optional.of(stripe.row()))) {
                    return Optional.empty();
                  }
                  TransitionRow move = row(id, candidate);
                  transaction.put(
                      Tables.STRIPE, key, stripe.row().toBuilder().setTransitionId(id).build());
                  transaction.put(Tables.TRANSITION, Tables.transition(id), move);
                  return Optional.of(move);
                });
    row.ifPresent(context.lifecycle()::committed);
  }

  private TransitionRow row(long id, Candidate candidate) {
    var stripe = candidate.stripe().row();
    long now = context.clock().millis();
    return TransitionRow.newBuilder()
        .setId(id)
        .setKind(TransitionKindProto.MOVE)
        .setState(TransitionStateProto.PLANNED)
        .setPolicy(stripe.getPolicy())
        .setFromCode(stripe.getCode())
        .setToCode(stripe.getCode())
        .setReason("placed with " + candidate.found().what())
        .setCreatedMillis(now)
        .setUpdatedMillis(now)
        .setPriority(Priorities.of(TransitionKindProto.MOVE))
        .setAttempt(0)
        .addStripes(
            TransitionStripeProto.newBuilder()
                .setStripeId(stripe.getId())
                .setGeneration(stripe.getGeneration())
                .addAllPositions(candidate.found().moves().keySet()))
        .build();
  }
}
