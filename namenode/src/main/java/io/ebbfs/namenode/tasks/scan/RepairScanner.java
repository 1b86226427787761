package io.ebbfs.namenode.tasks.scan;

import io.ebbfs.namenode.replicas.MemberMove;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OwnerLocks;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.ScanCursor;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds stripes that need a repair, a rewrite or a re-placement, and creates the transitions.
 * {@link RepairDecider} decides about each stripe; this class reads the stripe and carries the
 * decision out. Stripes come as hints from the {@link StripeManager} (a replica was lost, or is to
 * leave a drained server), and from a slow scan over all stripes. While the cluster is in safe
 * mode, nothing is looked at. Thread-safe; {@link #tick} is called by one thread.
 */
public final class RepairScanner {
  /**
   * A stripe as read.
   *
   * @param atRisk whether the next failure would lose blocks of it
   * @param mayWait whether it is not at risk, and its lost blocks may come back soon
   * @param corrupt whether it is of a block group, and a bad replica is in the place of a block
   */
  private record Seen(
      StripeState stripe,
      Optional<TransitionRow> transition,
      boolean atRisk,
      boolean mayWait,
      boolean corrupt) {}

  /** Stripes for which clients wait. */
  private static final int MAX_WANTED = 10_000;

  private final TransitionContext context;
  private final StripeManager stripes;
  // Stripes that are repaired though their lost blocks may come back soon. An id stays until the
  // repair is registered, or the stripe is whole or gone.
  private final Set<Long> wanted = ConcurrentHashMap.newKeySet();
  private final RewriteScheduler rewrites;
  private final RePlacementScheduler rePlacements;
  private final StripeTally damaged = new StripeTally();
  private final StripeTally unrecoverable = new StripeTally();
  private final GroupDamage groups = new GroupDamage();
  private final ScanCursor cursor;

  public RepairScanner(TransitionContext context, StripeManager stripes) {
    this.context = context;
    this.cursor = new ScanCursor(context.store(), "stripeScan", context.clock());
    this.stripes = stripes;
    this.rewrites = new RewriteScheduler(context);
    this.rePlacements = new RePlacementScheduler(context, stripes);
  }

  /** The stripes that were not whole when last seen: how many lost positions each has. */
  public StripeTally damaged() {
    return damaged;
  }

  /** Those of them whose lost positions cannot be rebuilt: how many each has. */
  public StripeTally unrecoverable() {
    return unrecoverable;
  }

  /** The stripes of block groups among them. */
  public GroupDamage groups() {
    return groups;
  }

  /**
   * The stripes that were placed worse than the cluster allows when last seen: how many rules of
   * placement each breaks.
   */
  public StripeTally misplaced() {
    return rePlacements.violated();
  }

  /** How many stripes have a re-placement planned or running. */
  public int beingRePlaced() {
    return rePlacements.active();
  }

  /**
   * Has a stripe repaired soon, also if its lost blocks may come back: a client waits for it. The
   * request is in memory and may be dropped: the caller repeats it.
   */
  public void repairNow(long stripeId) {
    boolean isNew = wanted.size() < MAX_WANTED && wanted.add(stripeId);
    boolean isTaken = (isNew || wanted.contains(stripeId)) && stripes.offer(stripeId, false);
    if (isNew && !isTaken) {
      wanted.remove(stripeId);
    }
  }

  /** Checks the stripes with hints, and the next stretch of all stripes. The work is bounded. */
  public void tick() throws IOException {
    cursor.open();
    if (context.cluster().inSafeMode()) {
      return;
    }
    checkHinted(true, context.settings().hintsPerTick());
    checkHinted(false, Math.min(context.settings().hintsPerTick(), roomForRepairs(false)));
    checkLeaving();
    level();
    scan();
    rewrites.flush();
    rePlacements.flush();
    cursor.save();
  }

  /** Checks the next stretch of all stripes. A namenode goes on where an earlier one stood. */
  private void scan() throws IOException {
    if (!cursor.isUnderWay()) {
      cursor.begin();
    }
    int limit = context.settings().scanPerTick();
    List<Row<StripeRow>> page = context.store().scanAll(Tables.STRIPE, cursor.after(), limit);
    for (Row<StripeRow> row : page) {
      check(row.value().getId());
    }
    forgetStripesThatAreGone(page, page.size() < limit);
    cursor.visited(page, limit);
  }

  /**
   * How far the scan of all stripes is. What it has found is counted in memory: so the end of a
   * pass is told once this process has visited as many stripes itself. Thread-safe.
   */
  public ScanCursor.Progress progress() {
    ScanCursor.Progress now = cursor.progress();
    return cursor.hasVisitedAll()
        ? now
        : new ScanCursor.Progress(
            now.startedMillis(), now.visited(), OptionalLong.empty(), now.rows());
  }

  private void checkHinted(boolean onlyAtRisk, int limit) throws IOException {
    List<Long> hinted = stripes.takeHints(onlyAtRisk, limit);
    int done = 0;
    try {
      for (long stripeId : hinted) {
        check(stripeId, onlyAtRisk);
        stripes.checked(stripeId);
        done++;
      }
    } finally {
      // The store has failed: the next tick goes on.
      for (long stripeId : hinted.subList(done, hinted.size())) {
        stripes.offer(stripeId, onlyAtRisk);
        stripes.checked(stripeId);
      }
    }
  }

  /** Looks at stripes that are to leave drained servers, if another one may begin to. */
  private void checkLeaving() throws IOException {
    int limit = Math.min(context.settings().hintsPerTick(), rePlacements.placesForDrains());
    for (long stripeId : stripes.takeLeaving(limit)) {
      check(stripeId);
    }
  }

  /** Carries out wishes to level disks, if more stripes may be re-placed. */
  private void level() throws IOException {
    List<MemberMove> wishes = stripes.takeLevelWishes(rePlacements.placesToLevel());
    try {
      for (MemberMove wish : wishes) {
        Optional<Seen> seen = read(wish.stripeId());
        if (seen.isPresent()
            && seen.get().transition().isEmpty()
            && seen.get().stripe().lost().isEmpty()) {
          rePlacements.level(seen.get().stripe(), wish);
        }
      }
    } finally {
      stripes.levelled(wishes); // the rebalance sees that no transition has come of the others
    }
  }

  /** How many more repairs may be planned; stripes at risk have room of their own. */
  private int roomForRepairs(boolean atRisk) {
    int repairs = context.index().activeCount(TransitionKindProto.REPAIR);
    long most = (atRisk ? 2L : 1L) * context.settings().maxActive();
    return (int) Math.max(0, Math.min(Integer.MAX_VALUE, most - repairs));
  }

  /** A page has all stripes from the one before to its last, or to the end of the table. */
  private void forgetStripesThatAreGone(List<Row<StripeRow>> page, boolean last) {
    long after = cursor.after() == null ? 0 : cursor.after().partition();
    long upTo = last ? Long.MAX_VALUE : page.get(page.size() - 1).key().partition();
    List<Long> present = page.stream().map(row -> row.key().partition()).toList();
    for (StripeTally tally : List.of(damaged, unrecoverable, rePlacements.violated())) {
      tally.retain(after, upTo, present);
    }
    groups.retain(after, upTo, present);
    Set<Long> there = new HashSet<>(present);
    wanted.removeIf(id -> id > after && id <= upTo && !there.contains(id));
  }

  private void check(long stripeId) throws IOException {
    check(stripeId, false);
  }

  private void check(long stripeId, boolean onlyAtRisk) throws IOException {
    Optional<Seen> seen = read(stripeId);
    if (seen.isEmpty()) {
      damaged.remove(stripeId);
      unrecoverable.remove(stripeId);
      groups.remove(stripeId);
      rePlacements.forget(stripeId);
      wanted.remove(stripeId);
      return;
    }
    StripeState stripe = seen.get().stripe();
    RepairDecision decision =
        RepairDecider.decide(
            context.codes(),
            stripe,
            seen.get().transition(),
            context.settings().rewriteDeadShare(),
            seen.get().mayWait() && !wanted.contains(stripeId));
    if (decision.lost().isEmpty()) {
      wanted.remove(stripeId);
    }
    note(stripe, decision.lost());
    groups.note(stripe, seen.get().corrupt());
    if (!onlyAtRisk || seen.get().atRisk()) {
      carryOut(decision, seen.get());
    }
    groups.noteMisplaced(stripe, rePlacements.violated().contains(stripeId));
  }

  private void note(StripeState stripe, SortedSet<Integer> lost) {
    if (lost.isEmpty()) {
      damaged.remove(stripe.id());
    } else {
      damaged.put(stripe.id(), lost.size());
    }
    if (stripe.code().decodes(lost)) {
      unrecoverable.remove(stripe.id());
    } else {
      unrecoverable.put(stripe.id(), lost.size());
    }
  }

  private Optional<Seen> read(long stripeId) throws IOException {
    return context
        .store()
        .transact(
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
              StripeState state =
                  StripeState.read(transaction, context.codes(), context.cluster(), row.get());
              boolean atRisk =
                  !state.lost().isEmpty() && state.isLostWithNextServer(context.cluster());
              return Optional.of(
                  new Seen(
                      state,
                      active,
                      atRisk,
                      !atRisk && mayWait(transaction, state),
                      row.get().hasGroupFileId() && GroupDamage.hasCorrupt(transaction, state)));
            });
  }

  private boolean mayWait(Transaction transaction, StripeState stripe) throws IOException {
    long since = context.settings().lostLongAgoMillis(context.clock().millis());
    return !stripe.lost().isEmpty() && stripe.isLostSince(transaction, context.cluster(), since);
  }

  /** The effects of a decision. The transition is present where the decision is about one. */
  private void carryOut(RepairDecision decision, Seen seen) throws IOException {
    StripeState stripe = seen.stripe();
    Optional<Long> transition = seen.transition().map(TransitionRow::getId);
    switch (decision.action()) {
      case NOTHING, WAIT_FOR_SERVER, WAIT_FOR_REPLICA -> noteWaiting(decision, seen);
      case CHECK_PLACEMENT -> rePlacements.consider(stripe);
      case REWRITE -> {
        rewrites.add(stripe);
        // A rewrite may have to wait for its turn: until then the placement counts.
        rePlacements.consider(stripe);
      }
      case RESCUE -> rewrites.add(stripe);
      case REPAIR -> createRepair(decision, seen);
      case CHANGE_REPAIR -> changeRepair(repair(transition.orElseThrow(), decision, stripe));
      case DROP_REPAIR -> context.lifecycle().drop(transition.orElseThrow(), decision.reason());
      case INTERRUPT -> {
        context.lifecycle().drop(transition.orElseThrow(), decision.reason());
        if (read(stripe.id()).filter(again -> again.transition().isEmpty()).isPresent()) {
          lookAgain(seen);
        }
      }
    }
  }

  /** Notes why blocks of a stripe stay on a drained server meanwhile. */
  private void noteWaiting(RepairDecision decision, Seen seen) {
    boolean moves =
        seen.transition().filter(row -> row.getKind() == TransitionKindProto.MOVE).isPresent();
    if (!moves && !seen.stripe().leaving(context.cluster()).isEmpty()) {
      String state =
          seen.transition()
              .filter(row -> row.getState() == TransitionStateProto.PLANNED)
              .map(row -> " and has not begun; the blocks leave once it has ended")
              .orElse("");
      stripes.noteStuck(seen.stripe().id(), decision.reason() + state);
    } else {
      stripes.noteNotStuck(seen.stripe().id());
    }
  }

  /** Without room for more repairs, the stripe is looked at again. */
  private void createRepair(RepairDecision decision, Seen seen) throws IOException {
    StripeState stripe = seen.stripe();
    if (roomForRepairs(seen.atRisk()) == 0) {
      lookAgain(seen);
      return;
    }
    TransitionRow row = repair(context.ids().transitions().next(), decision, stripe);
    if (TransitionRegistrar.register(context, row, stripe.row())) {
      wanted.remove(stripe.id());
    } else {
      lookAgain(seen);
    }
  }

  /** The hint for a stripe at risk has a place of its own; the stripe may be safer by then. */
  private void lookAgain(Seen seen) {
    if (seen.atRisk()) {
      stripes.offer(seen.stripe().id(), true);
    }
    stripes.check(seen.stripe().id());
  }

  private TransitionRow repair(long id, RepairDecision decision, StripeState stripe) {
    long now = context.clock().millis();
    return TransitionRow.newBuilder()
        .setId(id)
        .setKind(TransitionKindProto.REPAIR)
        .setState(TransitionStateProto.PLANNED)
        .setPolicy(stripe.row().getPolicy())
        .setFromCode(stripe.row().getCode())
        .setToCode(stripe.row().getCode())
        .setReason(decision.reason())
        .setCreatedMillis(now)
        .setUpdatedMillis(now)
        .setPriority(decision.priority())
        .setAttempt(0)
        .addStripes(
            TransitionStripeProto.newBuilder()
                .setStripeId(stripe.id())
                .setGeneration(stripe.row().getGeneration())
                .addAllPositions(decision.lost()))
        .build();
  }

  /** Gives a repair that has not started its new positions, priority and reason. */
  private void changeRepair(TransitionRow wanted) throws IOException {
    long id = wanted.getId();
    Optional<TransitionRow> changed =
        context
            .store()
            .transact(
                id,
                Durability.RELAXED,
                transaction -> {
                  OwnerLocks.lock(transaction, List.of(), List.of(), List.of(id));
                  Optional<TransitionRow> row =
                      transaction
                          .get(Tables.TRANSITION, Tables.transition(id))
                          .filter(r -> r.getState() == TransitionStateProto.PLANNED)
                          .map(r -> changed(r, wanted));
                  row.ifPresent(r -> transaction.put(Tables.TRANSITION, Tables.transition(id), r));
                  return row;
                });
    changed.ifPresent(context.lifecycle()::committed);
  }

  private static TransitionRow changed(TransitionRow row, TransitionRow wanted) {
    return row.toBuilder()
        .setPriority(wanted.getPriority())
        .setReason(wanted.getReason())
        .clearStripes()
        .addAllStripes(wanted.getStripesList())
        .build();
  }
}
