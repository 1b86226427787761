package io.ebbfs.namenode.tasks.scan;

import io.ebbfs.namenode.placement.search.RePlacementPlanner;
import io.ebbfs.namenode.replicas.MemberMove;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPriority;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.namenode.tasks.plan.MergeGroup;
import io.ebbfs.namenode.tasks.plan.NotPlannableException;
import io.ebbfs.namenode.tasks.plan.TargetDiskChooser;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

/**
 * Creates the transitions that move members of misplaced stripes to better disks. A stripe is
 * misplaced if it breaks a rule of placement that the cluster could keep. Example: servers were
 * added, or a repaired block had to go to a server that held enough of its stripe already. A stripe
 * is misplaced as well if a server with one of its blocks is drained. {@link RePlacementPlanner}
 * finds the moves. Only a few stripes are re-placed at a time, and some more if they leave drained
 * servers. Members that move to level disks are part of the same limit. Used by one thread; {@link
 * #violated} by any.
 */
final class RePlacementScheduler {
  /** Stripes that are re-placed at the same time: more would take bandwidth from other work. */
  private static final int MAX_ACTIVE = 8;

  /** With those that leave drained servers. */
  private static final int MAX_ACTIVE_WITH_DRAINS = 64;

  private static final int MAX_WITHOUT_MOVES = 1_000_000;

  /** A stripe that cannot leave a drained server is planned again after this time. */
  private static final long STUCK_MILLIS = 30_000;

  private record Candidate(StripeState stripe, RePlacementPlanner.Moves moves) {
    boolean drains() {
      return moves.leaving() > 0;
    }
  }

  private final TransitionContext context;
  private final StripeManager stripes;
  private final TargetDiskChooser disks;
  private final StripeTally violated = new StripeTally();
  // Stripes for which no better place was found, with the cluster signature of that time.
  private final Map<Long, Integer> withoutMoves = new HashMap<>();
  // Stripes that could not leave a drained server, and when they were planned.
  private final Map<Long, Long> stuckSince = new HashMap<>();
  private final Map<Long, Candidate> candidates = new LinkedHashMap<>();
  // Of this run of the scan; null before its first stripe.
  private TargetDiskChooser.Survey survey;
  private Integer signature;

  RePlacementScheduler(TransitionContext context, StripeManager stripes) {
    this.context = context;
    this.stripes = stripes;
    // A fixed seed is enough: these moves only say that a stripe can improve. The claim searches
    // again with other numbers.
    this.disks = new TargetDiskChooser(context.codes(), context.cluster(), new Random(1));
  }

  /** The misplaced stripes as last seen: how many rules each breaks. */
  StripeTally violated() {
    return violated;
  }

  /** How many re-placements are planned or running. */
  int active() {
    return context.index().activeCount(TransitionKindProto.MOVE);
  }

  /**
   * How many stripes on drained servers are worth a look now; 0 if none may be re-placed. Some of
   * them may be in transitions, or stuck.
   */
  int placesForDrains() {
    return active() < MAX_ACTIVE_WITH_DRAINS ? MAX_ACTIVE_WITH_DRAINS : 0;
  }

  /** How many members may begin to move so that disks are levelled. */
  int placesToLevel() {
    return Math.max(0, MAX_ACTIVE - active());
  }

  /** Moves a member of a whole stripe in no transition to the first disk where it is as safe. */
  void level(StripeState stripe, MemberMove wish) throws IOException {
    if (!List.of(wish.fromStorageUuid()).equals(stripe.locations().get(wish.position()))) {
      return;
    }
    try {
      MergeGroup group = read(stripe);
      if (!isFree(group)) {
        return;
      }
      for (String target : wish.toStorageUuids()) {
        if (disks.staysAsSafe(group, wish.position(), target)) {
          TransitionRow row =
              row(
                      context.ids().transitions().next(),
                      stripe,
                      List.of(wish.position()),
                      "levels disks: from %s to %s".formatted(wish.fromStorageUuid(), target))
                  .setLevelTo(target)
                  .build();
          TransitionRegistrar.register(context, row, stripe.row());
          return;
        }
      }
    } catch (NotPlannableException e) {
      return; // a disk has just gone
    }
  }

  private MergeGroup read(StripeState stripe) throws IOException {
    return context
        .store()
        .transact(
            stripe.id(),
            Durability.RELAXED,
            transaction ->
                MergeGroup.read(transaction, context.codes(), context.cluster(), stripe));
  }

  void forget(long stripeId) {
    violated.remove(stripeId);
    withoutMoves.remove(stripeId);
    stuckSince.remove(stripeId);
    stripes.noteNotStuck(stripeId);
  }

  /** Looks at the placement of a stripe that is whole and in no transition. */
  void consider(StripeState stripe) throws IOException {
    try {
      MergeGroup group = read(stripe);
      if (survey == null) {
        survey = disks.survey();
      }
      int violations = survey.violations(group);
      if (violations == 0) {
        forget(stripe.id());
        return;
      }
      violated.put(stripe.id(), violations);
      if (!stripe.leaving(context.cluster()).isEmpty()) {
        drain(stripe, group);
        return;
      }
      if (mayPlanMore() && isFree(group) && !signature().equals(withoutMoves.get(stripe.id()))) {
        RePlacementPlanner.Moves moves = disks.planMoves(group);
        if (moves.targets().isEmpty()) {
          withoutMoves.put(stripe.id(), signature());
        } else {
          candidates.put(stripe.id(), new Candidate(stripe, moves));
        }
      }
    } catch (NotPlannableException e) {
      return; // a disk has just gone: the stripe is not whole any more
    }
  }

  /** Whether no other stripe of the group gets other places meanwhile. */
  private boolean isFree(MergeGroup group) {
    return !group.inTransition()
        && group.others().values().stream().noneMatch(s -> candidates.containsKey(s.id()));
  }

  /** Plans how blocks of a stripe leave drained servers, or notes why they cannot. */
  private void drain(StripeState stripe, MergeGroup group) {
    long now = context.clock().millis();
    Long since = stuckSince.get(stripe.id());
    if (active() + candidates.size() >= MAX_ACTIVE_WITH_DRAINS
        || !isFree(group)
        || since != null && now - since < STUCK_MILLIS) {
      return;
    }
    try {
      candidates.put(stripe.id(), new Candidate(stripe, disks.planMoves(group)));
      stuckSince.remove(stripe.id());
      stripes.noteNotStuck(stripe.id());
    } catch (NotPlannableException e) {
      if (stuckSince.size() < MAX_WITHOUT_MOVES) {
        stuckSince.put(stripe.id(), now);
      }
      String remedy = e.shortage().map(shortage -> "; " + shortage.remedy()).orElse("");
      stripes.noteStuck(stripe.id(), e.getMessage() + remedy);
    }
  }

  private boolean mayPlanMore() {
    return context.settings().movesMisplaced()
        && active() + candidates.size() < MAX_ACTIVE
        && withoutMoves.size() < MAX_WITHOUT_MOVES;
  }

  private Integer signature() {
    if (signature == null) {
      signature = clusterSignature();
    }
    return signature;
  }

  /** Equal as long as no server or disk comes, goes or changes its rack. */
  private Integer clusterSignature() {
    return context.cluster().liveServers().stream()
        .mapToInt(
            server ->
                Objects.hash(
                    server.uuid(),
                    server.rack(),
                    server.drain(),
                    server.disks().stream().filter(disk -> !disk.failed()).count()))
        .sum();
  }

  /** Creates the collected re-placements, up to the limits. The next scan finds the rest again. */
  void flush() throws IOException {
    int active = active();
    for (Candidate candidate : candidates.values()) {
      int most = candidate.drains() ? MAX_ACTIVE_WITH_DRAINS : MAX_ACTIVE;
      if (active++ < most && context.index().activeCount() < context.settings().maxActive()) {
        TransitionRow row =
            row(
                    context.ids().transitions().next(),
                    candidate.stripe(),
                    candidate.moves().targets().keySet(),
                    reason(candidate))
                .build();
        TransitionRegistrar.register(context, row, candidate.stripe().row());
      }
    }
    candidates.clear();
    survey = null;
    signature = null;
  }

  private TransitionRow.Builder row(
      long id, StripeState state, Collection<Integer> positions, String reason) {
    var stripe = state.row();
    long now = context.clock().millis();
    return TransitionRow.newBuilder()
        .setId(id)
        .setKind(TransitionKindProto.MOVE)
        .setState(TransitionStateProto.PLANNED)
        .setPolicy(stripe.getPolicy())
        .setFromCode(stripe.getCode())
        .setToCode(stripe.getCode())
        .setReason(reason)
        .setCreatedMillis(now)
        .setUpdatedMillis(now)
        .setPriority(TransitionPriority.of(TransitionKindProto.MOVE))
        .setAttempt(0)
        .addStripes(
            TransitionStripeProto.newBuilder()
                .setStripeId(stripe.getId())
                .setGeneration(stripe.getGeneration())
                .addAllPositions(positions));
  }

  private static String reason(Candidate candidate) {
    return (candidate.drains() ? "leaves servers that are drained: placed with " : "placed with ")
        + candidate.moves().violationsInWords();
  }
}
