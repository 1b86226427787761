package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.IdGenerators;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.stripe.StripeManager;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.namespace.transition.Proposals.Context;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.time.Clock;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Finds stripes with lost blocks and plans their repair, and stripes that are mostly dead, which
 * are rewritten. Hints come from the stripe manager; a slow scan over all stripes finds the rest.
 * Nothing is concluded while the cluster is in safe mode. Thread-safe; {@link #tick} is called by
 * one thread.
 */
public final class Repairs {
  /**
   * A stripe that is not whole.
   *
   * @param lost positions without a live replica
   * @param decodes whether all of them can be rebuilt
   */
  public record Damage(SortedSet<Integer> lost, boolean decodes) {}

  private final MetadataStore store;
  private final IdGenerators ids;
  private final ClusterView cluster;
  private final StripeManager stripes;
  private final Lifecycle lifecycle;
  private final Clock clock;
  private final TransitionSettings settings;
  private final Rewrites rewrites;
  private final Moves moves;
  private final Map<Long, Damage> damaged = new ConcurrentSkipListMap<>();
  private Key scannedTo;

  public Repairs(
      MetadataStore store,
      IdGenerators ids,
      ClusterView cluster,
      StripeManager stripes,
      Lifecycle lifecycle,
      TransitionIndex index,
      Clock clock,
      TransitionSettings settings) {
    Context context = new Context(store, ids, cluster, lifecycle, index, clock, settings);
    this.rewrites = new Rewrites(context);
    this.moves = new Moves(context);
    this.store = store;
    this.ids = ids;
    this.cluster = cluster;
    this.stripes = stripes;
    this.lifecycle = lifecycle;
    this.clock = clock;
    this.settings = settings;
  }

  /** Stripes that are not whole, as last seen, by id; it changes while it is read. */
  public Map<Long, Damage> damaged() {
    return Collections.unmodifiableMap(damaged);
  }

  /**
   * Stripes that are placed worse than they could be, as last seen, by id: how many rules are
   * broken. It changes while it is read.
   */
  public Map<Long, Integer> misplaced() {
    return moves.violated();
  }

  /** Stripes of which blocks are being copied to better disks, or will be next. */
  public int beingMended() {
    return moves.active();
  }

  /** Checks stripes with hints, and the next stretch of all stripes. Bounded. */
  public void tick() throws IOException {
    if (cluster.inSafeMode()) {
      return;
    }
    for (long stripeId : stripes.takeHints(settings.hintsPerTick())) {
      check(stripeId);
    }
    List<Row<StripeRow>> page = store.scanAll(Tables.STRIPE, scannedTo, settings.scanPerTick());
    for (Row<StripeRow> row : page) {
      check(row.value().getId());
    }
    scannedTo = page.size() < settings.scanPerTick() ? null : page.get(page.size() - 1).key();
    rewrites.flush();
    moves.flush();
    if (scannedTo == null) {
      forgetStripesThatAreGone();
    }
  }

  private void forgetStripesThatAreGone() throws IOException {
    for (long stripeId : List.copyOf(damaged.keySet())) {
      check(stripeId);
    }
    for (long stripeId : moves.violated().keySet()) {
      check(stripeId);
    }
  }

  private record Seen(StripeState state, Optional<TransitionRow> transition) {}

  private void check(long stripeId) throws IOException {
    Optional<Seen> seen = look(stripeId);
    if (seen.isEmpty()) {
      damaged.remove(stripeId);
      moves.forget(stripeId);
      return;
    }
    StripeState stripe = seen.get().state();
    Optional<TransitionRow> transition = seen.get().transition();
    SortedSet<Integer> lost = stripe.lost();
    if (lost.isEmpty()) {
      damaged.remove(stripeId);
      if (transition.isEmpty()) {
        rewrites.consider(stripe);
        moves.consider(stripe);
      }
      if (transition.isPresent()
          && transition.get().getKind() == TransitionKindProto.REPAIR
          && transition.get().getState() == TransitionStateProto.PLANNED) {
        lifecycle.drop(transition.get().getId(), "every block of the stripe is live again");
      }
      return;
    }
    damaged.put(stripeId, new Damage(lost, stripe.code().decodes(lost)));
    if (RepairAttempts.rebuildable(stripe, lost).isEmpty()) {
      if (transition.isEmpty() && stripe.hasAllLiveData()) {
        rewrites.rescue(stripe);
      }
      return; // stays visible as unrecoverable until a block comes back
    }
    int priority = Priorities.ofRepair(stripe, lost);
    if (transition.isEmpty()) {
      plan(stripe, lost, priority);
    } else if (transition.get().getKind() != TransitionKindProto.REPAIR) {
      lifecycle.drop(
          transition.get().getId(),
          "stripe %d has lost positions %s: they are repaired first".formatted(stripeId, lost));
      look(stripeId)
          .filter(again -> again.transition().isEmpty())
          .ifPresent(again -> stripes.check(stripeId));
    } else if (transition.get().getPriority() != priority) {
      update(transition.get().getId(), row(transition.get().getId(), stripe, lost, priority));
    }
  }

  private Optional<Seen> look(long stripeId) throws IOException {
    return store.transact(
        stripeId,
        Durability.RELAXED,
        transaction -> {
          Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(stripeId));
          if (row.isEmpty()) {
            return Optional.empty();
          }
          Optional<TransitionRow> active =
              !row.get().hasTransitionId()
                  ? Optional.empty()
                  : transaction.get(
                      Tables.TRANSITION, Tables.transition(row.get().getTransitionId()));
          return Optional.of(new Seen(StripeState.read(transaction, cluster, row.get()), active));
        });
  }

  private void plan(StripeState stripe, SortedSet<Integer> lost, int priority) throws IOException {
    long id = ids.transitions().next();
    Optional<TransitionRow> row =
        store.transact(
            id,
            transaction -> {
              OwnerLocks.lock(transaction, List.of(), List.of(stripe.id()), List.of(id));
              Key key = Tables.stripe(stripe.id());
              if (!transaction.get(Tables.STRIPE, key).equals(Optional.of(stripe.row()))) {
                return Optional.empty();
              }
              TransitionRow repair = row(id, stripe, lost, priority);
              transaction.put(
                  Tables.STRIPE, key, stripe.row().toBuilder().setTransitionId(id).build());
              transaction.put(Tables.TRANSITION, Tables.transition(id), repair);
              return Optional.of(repair);
            });
    row.ifPresentOrElse(lifecycle::committed, () -> stripes.check(stripe.id()));
  }

  private TransitionRow row(long id, StripeState stripe, SortedSet<Integer> lost, int priority) {
    long now = clock.millis();
    List<String> names = lost.stream().map(p -> stripe.code().position(p).name()).toList();
    return TransitionRow.newBuilder()
        .setId(id)
        .setKind(TransitionKindProto.REPAIR)
        .setState(TransitionStateProto.PLANNED)
        .setPolicy(stripe.row().getPolicy())
        .setFromCode(stripe.row().getCode())
        .setToCode(stripe.row().getCode())
        .setReason("no live replica of " + String.join(", ", names))
        .setCreatedMillis(now)
        .setUpdatedMillis(now)
        .setPriority(priority)
        .setAttempt(0)
        .addStripes(
            TransitionStripeProto.newBuilder()
                .setStripeId(stripe.id())
                .setGeneration(stripe.row().getGeneration())
                .addAllPositions(lost))
        .build();
  }

  /** More or less was lost since it was planned. */
  private void update(long id, TransitionRow wanted) throws IOException {
    Optional<TransitionRow> changed =
        store.transact(
            id,
            Durability.RELAXED,
            transaction -> {
              OwnerLocks.lock(transaction, List.of(), List.of(), List.of(id));
              Optional<TransitionRow> row =
                  transaction
                      .get(Tables.TRANSITION, Tables.transition(id))
                      .filter(r -> r.getState() == TransitionStateProto.PLANNED)
                      .map(
                          r ->
                              r.toBuilder()
                                  .setPriority(wanted.getPriority())
                                  .setReason(wanted.getReason())
                                  .clearStripes()
                                  .addAllStripes(wanted.getStripesList())
                                  .build());
              row.ifPresent(r -> transaction.put(Tables.TRANSITION, Tables.transition(id), r));
              return row;
            });
    changed.ifPresent(lifecycle::committed);
  }
}
