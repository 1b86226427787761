package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.model.ModelNamenode.ModelStripe;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What is encoded already follows a change of the policy's code or family. */
class RecodingTest {
  private static final ReadHot HOT = new ReadHot(ReadHot.Unit.PER_MIB, 1);

  private final List<Long> files = new ArrayList<>();

  /** 60 blocks of 1 MiB, encoded by this policy. */
  private PolicyWorld encodedBy(PolicyRule rule, double reads) {
    PolicyWorld world = new PolicyWorld(rule);
    for (int i = 0; i < 60; i++) {
      files.add(world.file("/p/" + i, 1, reads));
    }
    for (int run = 0; run < 2; run++) {
      world.propose();
      world.completeAll();
    }
    return world;
  }

  private static PolicyRule family(String name, Double bound, Pace pace) {
    return PolicyWorld.rule("p", CodeRegistry.builtIn().family(name), bound, HOT, 0, pace);
  }

  private static void edit(PolicyWorld world, PolicyRule rule) {
    world.policies = new PolicySet(List.of(rule));
  }

  private static long settle(PolicyWorld world) {
    long decisions = 0;
    for (int run = 0; run < 20; run++) {
      Evaluation evaluation = world.propose();
      if (evaluation.decisions().isEmpty()) {
        return decisions;
      }
      decisions += evaluation.decisions().size();
      world.completeAll();
    }
    throw new AssertionError("data is converted back and forth");
  }

  @Test
  void dataIsEncodedAgainWhereNoConversionLeadsToTheNewCode() {
    PolicyWorld world = encodedBy(PolicyWorld.rule("p", "product", 1.5), 0);
    assertThat(world.overhead("p")).isEqualTo(1.4);
    edit(world, PolicyWorld.rule("p", "lrc", 1.4));
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).hasSize(1);
    Decision decision = evaluation.decisions().get(0);
    assertThat(decision.kind()).isEqualTo(TransitionKindProto.REWRITE);
    assertThat(decision.isConversion()).as("it counts for the budget of the day").isTrue();
    assertThat(decision.stripeIds()).as("60 blocks fill 5 stripes of 12").hasSize(2);
    assertThat(decision.reason())
        .isEqualTo(
            "PC(6x5) is no code of the policy (LRC(12,6,2), LRC(12,2,2)); 60 MiB, stored 1.33x"
                + " instead of 1.40x");
    world.completeAll();
    assertThat(settle(world)).isZero();
    assertThat(files).allMatch(id -> world.state(id) == FileState.COMPACT);
    assertThat(world.overhead("p")).isEqualTo(16.0 / 12);
  }

  @Test
  void onlyParitiesAreConvertedWhereTheTwoCodesAreAPair() {
    PolicyWorld world = encodedBy(PolicyWorld.rule("p", "product", null), 5);
    assertThat(world.overhead("p")).isEqualTo(1.8);
    edit(world, PolicyWorld.single("p", "PC(6x5)"));
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions())
        .hasSize(2)
        .allMatch(d -> d.kind() == TransitionKindProto.UPCODE && d.stripeIds().size() == 3);
    world.completeAll();
    assertThat(settle(world)).isZero();
    assertThat(world.overhead("p")).isEqualTo(1.4);
    edit(world, PolicyWorld.single("p", "PC(2x5)"));
    assertThat(world.propose().decisions())
        .hasSize(2)
        .allMatch(d -> d.kind() == TransitionKindProto.DOWNCODE);
    world.completeAll();
    assertThat(settle(world)).isZero();
    assertThat(files).allMatch(id -> world.state(id) == FileState.ENCODED);
    assertThat(world.overhead("p")).isEqualTo(1.8);
  }

  @Test
  void hotDataBecomesFastAfterwards() {
    PolicyWorld world = encodedBy(PolicyWorld.single("p", "RS(6,3)"), 5);
    edit(world, PolicyWorld.rule("p", "product", null));
    assertThat(world.propose().decisions()).hasSize(2).allMatch(d -> d.stripeIds().size() == 5);
    world.completeAll();
    settle(world);
    assertThat(files).allMatch(id -> world.state(id) == FileState.FAST);
  }

  /**
   * The budget is 40 MiB a day. The ten stripes hold 60 MiB: five of them are encoded again today,
   * and five wait.
   */
  @Test
  void theBudgetOfTheDayHoldsItAndTheVerdictSaysSo() {
    PolicyWorld world = encodedBy(PolicyWorld.single("p", "RS(6,3)"), 0);
    Pace pace = new Pace(0, OptionalLong.of(40 << 20), Optional.empty());
    edit(world, family("product", null, pace));
    Evaluation first = world.propose();
    assertThat(first.decisions()).hasSize(1);
    assertThat(first.verdicts().ofSnapshot())
        .filteredOn(
            v ->
                v.reason()
                    .contains(
                        "encoded as RS(6,3), which policy 'p' does not name; its conversion to"
                            + " PC(6x5) is due and waits for the budget: 10 MiB of 40 MiB"))
        .hasSize(30);
    world.completeAll();
    world.experience =
        new Experience(
            FailureRates.PRIOR,
            Experience.WEEK_MILLIS,
            365,
            ReadCounts.NONE,
            Map.of("p", 30L << 20));
    assertThat(world.decide().decisions()).isEmpty();
    world.experience = Experience.NONE;
    assertThat(settle(world)).isEqualTo(1);
    assertThat(files).allMatch(id -> world.state(id) == FileState.COMPACT);
  }

  /** A new family may store more than the old one, but never more than its bound. */
  @Test
  void whatTheBoundAsksForDoesNotWaitForTheBudget() {
    PolicyWorld world = encodedBy(PolicyWorld.single("p", "RS(6,3)"), 0);
    Pace pace = new Pace(0, OptionalLong.of(1 << 20), Optional.empty());
    edit(world, family("product", 1.45, pace));
    assertThat(world.propose().decisions())
        .hasSize(1)
        .first()
        .satisfies(d -> assertThat(d.reason()).contains("stored 1.40x instead of 1.50x"));
    world.completeAll();
    assertThat(world.overhead("p")).isEqualTo(1.45);
    converted(world, 1 << 20);
    assertThat(world.decide().decisions()).as("the bound holds").isEmpty();
    edit(world, family("product", 1.41, pace));
    assertThat(settle(world)).isEqualTo(1);
  }

  @Test
  void aRestThatFillsNoStripeIsEncodedLast() {
    PolicyWorld world = new PolicyWorld(PolicyWorld.single("p", "RS(6,3)"));
    for (int i = 0; i < 42; i++) {
      files.add(world.file("/p/" + i, 1, 0));
    }
    world.propose();
    world.completeAll();
    edit(world, PolicyWorld.rule("p", "product", null));
    Evaluation first = world.propose();
    assertThat(first.decisions()).hasSize(1);
    assertThat(first.decisions().get(0).stripeIds()).hasSize(5);
    assertThat(first.verdicts().ofSnapshot())
        .filteredOn(
            v -> v.reason().contains("waits for further stripes that fill a stripe of PC(6x5)"))
        .hasSize(12);
    assertThat(world.propose().decisions()).as("while the others are under way").isEmpty();
    world.completeAll();
    assertThat(world.propose().decisions()).hasSize(1);
    world.completeAll();
    assertThat(files).allMatch(id -> world.state(id) == FileState.COMPACT);
  }

  /** Each unit holds 30 MiB, and the budget of the day 10 MiB. */
  @Test
  void aUnitLargerThanTheBudgetIsEncodedAloneOnceTheBudgetIsFull() {
    PolicyWorld world = encodedBy(PolicyWorld.single("p", "RS(6,3)"), 0);
    edit(world, family("product", null, new Pace(0, OptionalLong.of(10 << 20), Optional.empty())));
    converted(world, 1);
    assertThat(world.decide().decisions()).as("the budget is not full").isEmpty();
    converted(world, 0);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions())
        .singleElement()
        .matches(decision -> decision.dataBytes() == 30 * PolicyWorld.MIB);
    assertThat(evaluation.verdicts().ofSnapshot())
        .filteredOn(v -> v.reason().contains("of 10 MiB are left within 24 hours"))
        .hasSize(30);
    world.completeAll();
    converted(world, 10 << 20);
    assertThat(world.decide().decisions()).as("its debt").isEmpty();
    converted(world, 0);
    assertThat(settle(world)).isEqualTo(1);
  }

  private static void converted(PolicyWorld world, long bytes) {
    world.experience =
        new Experience(
            FailureRates.PRIOR, Experience.WEEK_MILLIS, 365, ReadCounts.NONE, Map.of("p", bytes));
  }

  /** A rewrite of the namenode runs last, so a recoding that waited for it would wait for long. */
  @Test
  void aRestWaitsForNoRewriteOfTheNamenode() {
    assertThat(restIsEncodedBesideRewriteOf(2_000_000)).isTrue();
    assertThat(restIsEncodedBesideRewriteOf(CodingProtocol.PRIORITY_FOR_BOUND)).isFalse();
  }

  /** Two stripes of RS(6,3) fill no stripe of PC(6x5), beside a stripe that is rewritten. */
  private static boolean restIsEncodedBesideRewriteOf(int priority) {
    PolicyWorld world = new PolicyWorld(PolicyWorld.single("p", "RS(6,3)"));
    for (int i = 0; i < 12; i++) {
      world.file("/p/" + i, 1, 0);
    }
    world.propose();
    world.completeAll();
    edit(world, PolicyWorld.rule("p", "product", null));
    world.file("/p/new", 30, 0);
    new NamenodeGateway(() -> world.namenode, 7)
        .propose(
            world.decide().decisions().stream()
                .filter(decision -> decision.kind() == TransitionKindProto.ENCODE)
                .map(Decision::toProto)
                .toList());
    world.completeAll();
    ModelStripe full =
        world.namenode.stripes.values().stream()
            .filter(stripe -> stripe.code.name().equals("PC(6x5)"))
            .findFirst()
            .orElseThrow();
    world.underWay(TransitionKindProto.REWRITE, full, "PC(6x5)", priority);
    return !world.decide().decisions().isEmpty();
  }
}
