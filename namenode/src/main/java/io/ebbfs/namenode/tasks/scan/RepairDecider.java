package io.ebbfs.namenode.tasks.scan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPriority;
import io.ebbfs.namenode.tasks.plan.RepairAttemptPlanner;
import io.ebbfs.namenode.tasks.scan.RepairDecision.Action;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.words.TransitionKinds;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;

/** Decides whether a stripe is repaired, rewritten or left alone, and how urgent it is. Pure. */
final class RepairDecider {
  static final String RESCUE_REASON = "blocks of it cannot be rebuilt, but its live data is whole";

  private RepairDecider() {}

  /**
   * Decides about a stripe.
   *
   * @param transition the transition that the stripe is in, if any
   * @param rewriteDeadShare share of dead bytes of the data from which the stripe is rewritten
   * @param mayWait whether the lost blocks may come back soon, and the stripe survives the next
   *     failure
   */
  static RepairDecision decide(
      CodeRegistry codes,
      StripeState stripe,
      Optional<TransitionRow> transition,
      double rewriteDeadShare,
      boolean mayWait) {
    return stripe.lost().isEmpty()
        ? decideWhole(stripe, transition, rewriteDeadShare)
        : decideDamaged(codes, stripe, transition, mayWait);
  }

  private static RepairDecision decideWhole(
      StripeState stripe, Optional<TransitionRow> transition, double rewriteDeadShare) {
    if (transition.isPresent()) {
      boolean needless =
          transition.get().getKind() == TransitionKindProto.REPAIR
              && transition.get().getState() == TransitionStateProto.PLANNED;
      return needless
          ? whole(Action.DROP_REPAIR, "every block of the stripe is live again")
          : whole(
              Action.NOTHING,
              "transition %d (%s) works on the stripe"
                  .formatted(
                      transition.get().getId(), TransitionKinds.show(transition.get().getKind())));
    }
    return isMostlyDead(stripe, rewriteDeadShare)
        ? whole(Action.REWRITE, mostlyDead(rewriteDeadShare))
        : whole(Action.CHECK_PLACEMENT, "every block of the stripe is live");
  }

  private static RepairDecision whole(Action action, String reason) {
    return new RepairDecision(action, Collections.emptySortedSet(), 0, reason);
  }

  static String mostlyDead(double rewriteDeadShare) {
    return "at least %.0f%% of its data was deleted".formatted(100 * rewriteDeadShare);
  }

  /** Whether at least this share of the data bytes belonged to files that are deleted by now. */
  private static boolean isMostlyDead(StripeState stripe, double rewriteDeadShare) {
    long dead = 0;
    long data = 0;
    for (StripeMemberProto member : stripe.members().values()) {
      if (stripe.code().position(member.getPosition()).isData()) {
        data += member.getLengthBytes();
        dead += member.getTombstone() ? member.getLengthBytes() : 0;
      }
    }
    return dead > 0 && dead >= rewriteDeadShare * data;
  }

  private static RepairDecision decideDamaged(
      CodeRegistry codes, StripeState stripe, Optional<TransitionRow> transition, boolean mayWait) {
    SortedSet<Integer> lost = stripe.lost();
    if (RepairAttemptPlanner.rebuildable(stripe, lost).isEmpty()) {
      boolean rescue = transition.isEmpty() && stripe.hasAllLiveData();
      return rescue
          ? new RepairDecision(Action.RESCUE, lost, 0, RESCUE_REASON)
          : new RepairDecision(
              Action.WAIT_FOR_REPLICA, lost, 0, RepairAttemptPlanner.unrecoverable(stripe, lost));
    }
    boolean inRepair =
        transition.filter(row -> row.getKind() == TransitionKindProto.REPAIR).isPresent();
    if (mayWait && !inRepair) {
      return new RepairDecision(
          Action.WAIT_FOR_SERVER,
          lost,
          0,
          noReplica(stripe, lost) + "; their servers or disks may come back soon");
    }
    int priority = TransitionPriority.ofRepair(codes, stripe, lost);
    if (transition.isEmpty()) {
      return new RepairDecision(Action.REPAIR, lost, priority, noReplica(stripe, lost));
    }
    if (!inRepair) {
      return new RepairDecision(
          Action.INTERRUPT,
          lost,
          0,
          "stripe %d has lost positions %s: they are repaired first".formatted(stripe.id(), lost));
    }
    return transition.get().getPriority() != priority
        ? new RepairDecision(Action.CHANGE_REPAIR, lost, priority, noReplica(stripe, lost))
        : new RepairDecision(
            Action.NOTHING,
            lost,
            0,
            "repair %d works on the stripe".formatted(transition.get().getId()));
  }

  private static String noReplica(StripeState stripe, SortedSet<Integer> lost) {
    List<String> names = lost.stream().map(p -> stripe.code().position(p).name()).toList();
    return "no live replica of " + String.join(", ", names);
  }
}
