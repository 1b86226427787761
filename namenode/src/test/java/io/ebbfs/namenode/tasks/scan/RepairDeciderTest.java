package io.ebbfs.namenode.tasks.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.scan.RepairDecision.Action;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Positions 0 to 5 of the stripe are data, 6 to 8 are parities; any three may be lost. */
class RepairDeciderTest {
  private static final ErasureCode CODE = Codes.byName("RS(6,3)");
  private static final double DEAD_SHARE = 0.33;
  private static final long STRIPE = 17;

  private static StripeState stripe(Set<Integer> lost, Set<Integer> tombstones) {
    StripeRow.Builder row =
        StripeRow.newBuilder().setId(STRIPE).setCode(CODE.name()).setPolicy("p");
    SortedMap<Integer, StripeMemberProto> members = new TreeMap<>();
    SortedMap<Integer, List<String>> locations = new TreeMap<>();
    for (int position = 0; position < CODE.size(); position++) {
      StripeMemberProto.Builder member =
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setBlockId(100 + position)
              .setGenerationStamp(1)
              .setLengthBytes(10)
              .setOwnerId(STRIPE)
              .setOwnerIndex(position);
      if (tombstones.contains(position)) {
        member.setTombstone(true);
      }
      members.put(position, member.build());
      locations.put(position, lost.contains(position) ? List.of() : List.of("disk-" + position));
    }
    return new StripeState(row.buildPartial(), CODE, members, locations);
  }

  private static Optional<TransitionRow> transition(
      TransitionKindProto kind, TransitionStateProto state, int priority) {
    return Optional.of(
        TransitionRow.newBuilder()
            .setId(5)
            .setKind(kind)
            .setState(state)
            .setPriority(priority)
            .buildPartial());
  }

  private static RepairDecision decide(
      Set<Integer> lost, Set<Integer> tombstones, Optional<TransitionRow> transition) {
    return RepairDecider.decide(
        CodeRegistry.builtIn(), stripe(lost, tombstones), transition, DEAD_SHARE, false);
  }

  private static RepairDecision decide(Set<Integer> lost) {
    return decide(lost, Set.of(), Optional.empty());
  }

  @Test
  void aWholeStripeIsLeftWhereItIsUnlessItsPlacementCanImprove() {
    RepairDecision decision = decide(Set.of());
    assertThat(decision.action()).isEqualTo(Action.CHECK_PLACEMENT);
    assertThat(decision.lost()).isEmpty();
  }

  @Test
  void aMostlyDeadStripeIsRewritten() {
    RepairDecision decision = decide(Set.of(), Set.of(0, 1), Optional.empty());
    assertThat(decision.action()).isEqualTo(Action.REWRITE);
    assertThat(decision.reason()).isEqualTo("at least 33% of its data was deleted");
    assertThat(decide(Set.of(), Set.of(0), Optional.empty()).action())
        .isEqualTo(Action.CHECK_PLACEMENT);
    assertThat(
            RepairDecider.decide(
                    CodeRegistry.builtIn(),
                    stripe(Set.of(), Set.of(0, 1, 2, 3, 4)),
                    Optional.empty(),
                    2.0,
                    false)
                .action())
        .as("a share above 1 switches rewriting off")
        .isEqualTo(Action.CHECK_PLACEMENT);
  }

  @Test
  void lostBlocksThatMayComeBackWaitUnlessARepairIsPlanned() {
    Optional<TransitionRow> conversion =
        transition(TransitionKindProto.UPCODE, TransitionStateProto.RUNNING, 0);
    Optional<TransitionRow> repair =
        transition(TransitionKindProto.REPAIR, TransitionStateProto.PLANNED, 7);
    assertThat(decideWaiting(Set.of(0), Optional.empty())).isEqualTo(Action.WAIT_FOR_SERVER);
    assertThat(decideWaiting(Set.of(0), conversion)).isEqualTo(Action.WAIT_FOR_SERVER);
    assertThat(decideWaiting(Set.of(0), repair)).isEqualTo(Action.CHANGE_REPAIR);
    assertThat(decideWaiting(Set.of(), Optional.empty())).isEqualTo(Action.CHECK_PLACEMENT);
  }

  private static Action decideWaiting(Set<Integer> lost, Optional<TransitionRow> transition) {
    return RepairDecider.decide(
            CodeRegistry.builtIn(), stripe(lost, Set.of()), transition, DEAD_SHARE, true)
        .action();
  }

  @Test
  void aWholeStripeDropsARepairThatHasNotStarted() {
    RepairDecision decision =
        decide(
            Set.of(),
            Set.of(),
            transition(TransitionKindProto.REPAIR, TransitionStateProto.PLANNED, 0));
    assertThat(decision.action()).isEqualTo(Action.DROP_REPAIR);
    assertThat(decision.reason()).isEqualTo("every block of the stripe is live again");
    assertThat(
            decide(
                    Set.of(),
                    Set.of(),
                    transition(TransitionKindProto.REPAIR, TransitionStateProto.RUNNING, 0))
                .action())
        .isEqualTo(Action.NOTHING);
  }

  @Test
  void aWholeStripeInATransitionIsLeftAlone() {
    RepairDecision decision =
        decide(
            Set.of(),
            Set.of(0, 1, 2),
            transition(TransitionKindProto.UPCODE, TransitionStateProto.PLANNED, 0));
    assertThat(decision.action()).isEqualTo(Action.NOTHING);
    assertThat(decision.reason()).contains("transition 5 (conversion to compact)");
  }

  @Test
  void lostBlocksAreRepairedTheLargestRiskFirst() {
    RepairDecision oneParity = decide(Set.of(6));
    RepairDecision oneData = decide(Set.of(0));
    RepairDecision two = decide(Set.of(7, 8));
    RepairDecision three = decide(Set.of(6, 7, 8));
    assertThat(List.of(oneParity, oneData, two, three))
        .extracting(RepairDecision::action)
        .containsOnly(Action.REPAIR);
    assertThat(three.priority()).isLessThan(two.priority());
    assertThat(two.priority()).isLessThan(oneData.priority());
    assertThat(oneData.priority()).isLessThan(oneParity.priority());
    assertThat(two.lost()).containsExactly(7, 8);
    assertThat(oneData.reason()).isEqualTo("no live replica of " + CODE.position(0).name());
  }

  @Test
  void aLostTombstoneIsNoLostData() {
    RepairDecision tombstone = decide(Set.of(0), Set.of(0), Optional.empty());
    assertThat(tombstone.action()).isEqualTo(Action.REPAIR);
    assertThat(tombstone.priority()).isEqualTo(decide(Set.of(6)).priority());
  }

  @Test
  void anotherTransitionGivesWayToARepair() {
    RepairDecision decision =
        decide(
            Set.of(2),
            Set.of(),
            transition(TransitionKindProto.DOWNCODE, TransitionStateProto.RUNNING, 0));
    assertThat(decision.action()).isEqualTo(Action.INTERRUPT);
    assertThat(decision.reason())
        .isEqualTo("stripe 17 has lost positions [2]: they are repaired first");
  }

  @Test
  void aRepairChangesWhenItsRiskChanges() {
    int priority = decide(Set.of(2)).priority();
    assertThat(
            decide(
                    Set.of(2),
                    Set.of(),
                    transition(TransitionKindProto.REPAIR, TransitionStateProto.PLANNED, priority))
                .action())
        .isEqualTo(Action.NOTHING);
    RepairDecision decision =
        decide(
            Set.of(2, 3),
            Set.of(),
            transition(TransitionKindProto.REPAIR, TransitionStateProto.PLANNED, priority));
    assertThat(decision.action()).isEqualTo(Action.CHANGE_REPAIR);
    assertThat(decision.lost()).containsExactly(2, 3);
    assertThat(decision.priority()).isLessThan(priority);
  }

  @Test
  void tooManyLostBlocksWaitForAReplica() {
    RepairDecision decision = decide(Set.of(0, 6, 7, 8));
    assertThat(decision.action()).isEqualTo(Action.WAIT_FOR_REPLICA);
    assertThat(decision.lost()).containsExactly(0, 6, 7, 8);
    assertThat(decision.reason()).contains("does not decode");
  }

  @Test
  void liveDataThatNothingProtectsIsRescued() {
    assertThat(decide(Set.of(0, 6, 7, 8), Set.of(0), Optional.empty()).action())
        .isEqualTo(Action.RESCUE);
    assertThat(
            decide(
                    Set.of(0, 6, 7, 8),
                    Set.of(0),
                    transition(TransitionKindProto.REPAIR, TransitionStateProto.PLANNED, 0))
                .action())
        .as("the transition that holds the stripe has to end first")
        .isEqualTo(Action.WAIT_FOR_REPLICA);
  }
}
