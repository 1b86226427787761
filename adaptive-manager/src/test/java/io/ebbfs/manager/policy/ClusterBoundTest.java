package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.FileState;
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
}
