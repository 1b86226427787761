package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.model.ModelNamenode.ModelStripe;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an operator orders, under the bound of the cluster. */
class OrderedConversionTest {
  private final PolicyRule product = PolicyWorld.rule("p", "product", null);
  private final PolicyRule lrc = PolicyWorld.rule("q", "lrc", null);
  private final PolicyWorld world = new PolicyWorld(product, lrc);

  /** 60 compact blocks of each policy store 84 + 80 = 164 MiB. A fast stripe takes 12, or 4. */
  @BeforeEach
  void encode() {
    for (int i = 0; i < 60; i++) {
      world.file("/p/" + i, 1, 0);
      world.file("/q/" + i, 1, 0);
    }
    world.propose();
    world.completeAll();
  }

  private void bound(double most) {
    world.policies = new PolicySet(world.policies.rules(), OptionalDouble.of(most));
  }

  private ModelStripe stripeOf(String policy) {
    return world.namenode.stripes.values().stream()
        .filter(stripe -> stripe.policy.equals(policy))
        .findFirst()
        .orElseThrow();
  }

  private OrderedConversion.Plan orderFast() {
    return OrderedConversion.plan(
        CodeRegistry.builtIn(),
        world.snapshot(),
        product,
        "PC(2x5)",
        "ordered",
        List.of(),
        List.of(stripeOf("p").id));
  }

  @Test
  void whatIsUnderWayForOtherPoliciesTakesRoomUnderTheBoundOfTheCluster() {
    bound(1.48); // 177.6 MiB
    OrderedConversion.Plan alone = orderFast();
    assertThat(alone.isWithinBound()).isTrue();
    assertThat(alone.decisions()).hasSize(1);
    world.underWay(TransitionKindProto.DOWNCODE, stripeOf("q"), "LRC(12,6,2)", 1);
    OrderedConversion.Plan beside = orderFast();
    assertThat(beside.isWithinBound()).isFalse();
    assertThat(beside.overheadAtEnd()).as("of the policy itself").isEqualTo(alone.overheadAtEnd());
    bound(1.50); // 180 MiB
    assertThat(orderFast().isWithinBound()).isTrue();
  }
}
