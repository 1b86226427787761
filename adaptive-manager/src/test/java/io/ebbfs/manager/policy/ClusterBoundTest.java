package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.model.ModelNamenode.ModelStripe;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** A bound for all policies together. */
class ClusterBoundTest {
  private final PolicyWorld world =
      new PolicyWorld(PolicyWorld.rule("p", "product", null), PolicyWorld.rule("q", "lrc", null));

  /** 60 blocks of 1 MiB each. */
  private List<Long> files(String policy, double reads) {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      ids.add(world.file("/" + policy + "/" + i, 1, reads));
    }
    return ids;
  }

  private void run(int times) {
    for (int i = 0; i < times; i++) {
      world.propose();
      world.completeAll();
    }
  }

  private void bound(double most) {
    world.policies = new PolicySet(world.policies.rules(), OptionalDouble.of(most));
  }

  private double overhead() {
    return world.decide().cluster().encodedOverhead();
  }

  /** Fast: 60 x 1.8 + 60 x 1.667 = 208 of 120. The product policy frees 0.4, lrc 0.333 a byte. */
  @Test
  void fastDataOfLeastBenefitForEachStoredByteGivesWay() {
    List<Long> product = files("p", 10);
    List<Long> lrc = files("q", 10);
    run(1);
    assertThat(overhead()).isCloseTo(208.0 / 120, within(1e-9));
    bound(1.70);
    Evaluation evaluation = world.propose();
    // A read saves 3 blocks / 0.4 of product, 4 blocks / 0.333 of lrc.
    assertThat(evaluation.decisions())
        .hasSize(1)
        .allMatch(d -> d.kind() == TransitionKindProto.UPCODE && d.policy().equals("p"));
    assertThat(evaluation.decisions().get(0).reason())
        .startsWith("storage of the cluster 1.733x is over its bound 1.70x; fast stripes");
    assertThat(evaluation.cluster().isOverBound()).isTrue();
    world.completeAll();
    assertThat(overhead()).isCloseTo(196.0 / 120, within(1e-9));
    assertThat(world.decide().decisions()).as("nothing is converted back").isEmpty();

    product.forEach(id -> world.heat.put(id, 20.0));
    bound(1.60);
    assertThat(world.propose().decisions())
        .as("the reads of the product policy are worth more now")
        .isNotEmpty()
        .allMatch(d -> d.policy().equals("q"));
    world.completeAll();
    assertThat(overhead()).isLessThanOrEqualTo(1.60);
    assertThat(world.decide().decisions()).isEmpty();
    assertThat(lrc).anyMatch(id -> world.state(id) == FileState.COMPACT);
  }

  /** 60 compact blocks of each policy: 84 + 80 = 164 of 120, 1.367. */
  @Test
  void dataBecomesFastOnlyWithRoomUnderBothBounds() {
    List<Long> hot = files("p", 0);
    files("q", 0);
    run(1);
    hot.forEach(id -> world.heat.put(id, 10.0));
    bound(1.45);
    assertThat(world.decide().decisions())
        .as("30 blocks take 12 more, which 1.45 x 120 = 174 does not have twice")
        .isEmpty();
    bound(1.48);
    assertThat(world.propose().decisions())
        .hasSize(1)
        .allMatch(d -> d.kind() == TransitionKindProto.DOWNCODE);
    world.completeAll();
    assertThat(world.decide().decisions()).isEmpty();
    bound(1.60);
    assertThat(world.propose().decisions()).hasSize(1);
  }

  /** Encodings do not wait for each other's policies; fast data gives way for them. */
  @Test
  void encodingsMakeFastDataOfAnotherPolicyGiveWay() {
    files("p", 10);
    run(1);
    bound(1.55);
    run(1);
    assertThat(overhead()).isCloseTo(1.4, within(1e-9));
    List<Long> cold = files("q", 0);
    run(1);
    assertThat(cold).allMatch(id -> world.state(id) == FileState.COMPACT);
    assertThat(overhead()).isLessThanOrEqualTo(1.55);
  }

  // ---- deleted data -----------------------------------------------------------------------------

  /** Deletes the files at the first positions of each stripe of a policy. */
  private void deleteOfEachStripe(String policy, int positions) {
    for (ModelStripe stripe : List.copyOf(world.namenode.stripes.values())) {
      for (int position = 0; stripe.policy.equals(policy) && position < positions; position++) {
        world.namenode.deleteAt(stripe.id, position);
      }
    }
  }

  private static List<TransitionKindProto> kinds(Evaluation evaluation) {
    return evaluation.decisions().stream().map(Decision::kind).distinct().toList();
  }

  /**
   * 40 live blocks store 84, and 60 fast ones 100. A subtraction of two whole rows moves less than
   * 2 bytes for each freed, and a conversion of lrc and back 6.
   */
  @Test
  void deletedDataIsFreedBeforeFastDataThatIsDearer() {
    files("p", 0);
    List<Long> fast = files("q", 10);
    run(1);
    deleteOfEachStripe("p", 10);
    assertThat(world.decide().decisions()).as("without a bound").isEmpty();
    bound(1.65);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions())
        .isNotEmpty()
        .allMatch(d -> d.kind() == TransitionKindProto.SUBTRACT && d.policy().equals("p"));
    assertThat(evaluation.decisions().get(0).reason())
        .startsWith("storage of the cluster 1.840x is over the bound 1.65x; frees");
    world.completeAll();
    assertThat(overhead()).isLessThanOrEqualTo(1.65);
    assertThat(fast).allMatch(id -> world.state(id) == FileState.FAST);
    assertThat(world.decide().decisions()).isEmpty();
  }

  /** A subtraction of one block moves 7 bytes for each, and a conversion of lrc and back 6. */
  @Test
  void deletedDataThatIsDearerThanFastDataIsFreedLast() {
    files("p", 0);
    List<Long> fast = files("q", 10);
    run(1);
    deleteOfEachStripe("p", 1);
    bound(1.53);
    assertThat(kinds(world.propose())).containsExactly(TransitionKindProto.UPCODE);
    world.completeAll();
    assertThat(overhead()).isLessThanOrEqualTo(1.53);
    bound(1.38);
    assertThat(kinds(world.propose()))
        .containsExactly(TransitionKindProto.UPCODE, TransitionKindProto.REWRITE);
    world.completeAll();
    assertThat(fast).allMatch(id -> world.state(id) == FileState.COMPACT);
    assertThat(overhead()).isLessThanOrEqualTo(1.38);
  }

  @Test
  void deletedDataOfAPolicyWithASingleCodeIsFreed() {
    world.policies = new PolicySet(List.of(PolicyWorld.single("p", "RS(6,3)")));
    files("p", 0);
    run(1);
    deleteOfEachStripe("p", 2);
    bound(1.6);
    assertThat(kinds(world.propose())).containsExactly(TransitionKindProto.REWRITE);
    world.completeAll();
    assertThat(overhead()).isLessThanOrEqualTo(1.6);
  }

  /**
   * The lrc policy frees 3 of 80 MiB for its own bound, at 7 bytes for each. So the cluster stores
   * 185 of 186.3 MiB, and no product data gives way, which would move 5.3 bytes for each.
   */
  @Test
  void whatPoliciesFreeForTheirOwnBoundsCountsForTheCluster() {
    PolicyRule lrc = PolicyWorld.rule("q", "lrc", 1.4);
    world.policies = new PolicySet(List.of(PolicyWorld.rule("p", "product", null), lrc));
    List<Long> product = files("p", 10);
    files("q", 0);
    run(1);
    deleteOfEachStripe("q", 1);
    bound(1.62);
    assertThat(world.propose().decisions())
        .isNotEmpty()
        .allMatch(d -> d.kind() == TransitionKindProto.SUBTRACT && d.policy().equals("q"));
    world.completeAll();
    assertThat(overhead()).isLessThanOrEqualTo(1.62);
    assertThat(product).allMatch(id -> world.state(id) == FileState.FAST);
  }

  // ---- pins -------------------------------------------------------------------------------------

  @Test
  void dataThatIsPinnedFastGivesWayLast() {
    List<Long> pinned = files("p", 0);
    List<Long> read = files("q", 1_000);
    world.namenode.pins.put(world.namenode.directories.get("/p"), PinProto.FAST);
    run(1);
    assertThat(pinned).allMatch(id -> world.state(id) == FileState.FAST);
    bound(1.60);
    assertThat(world.propose().decisions())
        .isNotEmpty()
        .allMatch(d -> d.kind() == TransitionKindProto.UPCODE && d.policy().equals("q"));
    world.completeAll();
    assertThat(overhead()).isLessThanOrEqualTo(1.60);
    assertThat(pinned).allMatch(id -> world.state(id) == FileState.FAST);
    bound(1.39);
    run(2);
    assertThat(read).allMatch(id -> world.state(id) == FileState.COMPACT);
    assertThat(overhead()).as("the bound goes before a pin").isLessThanOrEqualTo(1.39);
  }

  /** Dear deleted data is freed before data that is pinned fast gives way. */
  @Test
  void deletedDataIsFreedBeforeDataThatIsPinnedFast() {
    List<Long> pinned = files("p", 0);
    files("q", 0);
    world.namenode.pins.put(world.namenode.directories.get("/p"), PinProto.FAST);
    run(1);
    deleteOfEachStripe("q", 1);
    bound(1.60);
    assertThat(kinds(world.propose()))
        .isNotEmpty()
        .doesNotContain(TransitionKindProto.UPCODE, TransitionKindProto.DOWNCODE);
    world.completeAll();
    assertThat(overhead()).isLessThanOrEqualTo(1.60);
    assertThat(pinned).allMatch(id -> world.state(id) == FileState.FAST);
  }

  // ---- room -------------------------------------------------------------------------------------

  /**
   * Three blocks in RS(6,3) store 2 bytes for each, which takes 1.6 MiB of the room. So the room
   * for a stripe that becomes fast is too small, and nothing else has to give way for it.
   */
  @Test
  void roomThatEncodingsNeedGoesToNoConversionOfAnotherPolicy() {
    world.policies =
        new PolicySet(
            List.of(
                PolicyWorld.rule("p", "product", null), PolicyWorld.single("q", "RS(6,3)", 1_000)));
    List<Long> product = files("p", 0);
    run(1);
    product.forEach(id -> world.heat.put(id, 10.0));
    bound(1.61);
    assertThat(kinds(world.decide()))
        .as("there is room for one")
        .containsExactly(TransitionKindProto.DOWNCODE);
    world.file("/q/short", 3, 0);
    assertThat(kinds(world.propose())).containsExactly(TransitionKindProto.ENCODE);
    world.completeAll();
    assertThat(overhead()).isLessThanOrEqualTo(1.61);
  }
}
