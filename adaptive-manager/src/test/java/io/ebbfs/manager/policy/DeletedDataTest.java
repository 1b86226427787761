package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.model.ModelNamenode.ModelFile;
import io.ebbfs.manager.model.ModelNamenode.ModelStripe;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bound holds although files are deleted and appended to. */
class DeletedDataTest {
  private static final double DEAD_SHARE = 0.33;

  // ---- a history --------------------------------------------------------------------------------

  /** A fifth of the files is deleted and a tenth appended to, in ten steps. */
  @ParameterizedTest
  @CsvSource({"lrc, 1.40", "product, 1.50", "rs, 1.35"})
  void theBoundHoldsAfterDeletionsAndAppends(String family, double bound) {
    History with = new History(family, bound, true);
    History without = new History(family, bound, false);
    with.run();
    without.run();
    System.out.printf(
        "%s, bound %.2f: %.3f before; at the end %.3f, at most %.3f after a step; by the namenode's"
            + " rewrites alone %.3f; moved for each logical byte: %s%n",
        family,
        bound,
        with.before,
        with.overhead(),
        with.most,
        without.overhead(),
        with.showMoved());
    assertThat(with.before).isLessThanOrEqualTo(bound);
    assertThat(with.overhead()).isLessThanOrEqualTo(bound);
    assertThat(with.most).isLessThanOrEqualTo(bound);
    assertThat(without.overhead()).isGreaterThan(bound);
  }

  private static final class History {
    private final Random random = new Random(7);
    private final String family;
    private final boolean reclaims;
    private final PolicyWorld world;
    private final Map<TransitionKindProto, Long> moved = new EnumMap<>(TransitionKindProto.class);
    private double before;
    private double most;

    History(String family, double bound, boolean reclaims) {
      this.family = family;
      this.reclaims = reclaims;
      this.world = new PolicyWorld(PolicyWorld.rule(family, family, bound));
    }

    double overhead() {
      return world.overhead(family);
    }

    void run() {
      for (int i = 0; i < 400; i++) {
        long[] lengths = new long[1 + random.nextInt(12)];
        java.util.Arrays.fill(lengths, PolicyWorld.MIB);
        lengths[lengths.length - 1] = 1 + random.nextInt((int) PolicyWorld.MIB);
        world.file("/" + family + "/f" + i, random.nextInt(8) == 0 ? 1_000 : 0, lengths);
      }
      settle();
      before = overhead();
      for (int step = 0; step < 10; step++) {
        some(8).forEach(world.namenode::delete);
        some(4).forEach(id -> world.namenode.append(id, PolicyWorld.MIB / 4));
        settle();
        most = Math.max(most, overhead());
      }
    }

    private List<Long> some(int count) {
      List<Long> ids = new ArrayList<>(world.namenode.files.keySet());
      java.util.Collections.shuffle(ids, random);
      return ids.subList(0, count);
    }

    private void settle() {
      for (int round = 0; round < 40; round++) {
        world.now += 100_000;
        Evaluation evaluation = world.decide();
        List<Decision> decisions =
            evaluation.decisions().stream().filter(d -> reclaims || !frees(d)).toList();
        for (Decision decision : decisions) {
          moved.merge(decision.kind(), decision.movedBytes(), Long::sum);
        }
        List<DecisionProto> protos = new ArrayList<>();
        decisions.forEach(decision -> protos.add(decision.toProto()));
        protos.addAll(mostlyDead(decisions));
        if (protos.isEmpty()) {
          return;
        }
        new NamenodeGateway(() -> world.namenode, 7).propose(protos);
        world.completeAll();
      }
      throw new AssertionError("the policy does not come to rest");
    }

    private static boolean frees(Decision decision) {
      return decision.kind() == TransitionKindProto.REWRITE
          || decision.kind() == TransitionKindProto.SUBTRACT;
    }

    /** What the namenode rewrites without being told. */
    private List<DecisionProto> mostlyDead(List<Decision> decisions) {
      Map<String, List<Long>> byCode = new TreeMap<>();
      for (ModelStripe stripe : world.namenode.stripes.values()) {
        boolean taken = decisions.stream().anyMatch(d -> d.stripeIds().contains(stripe.id));
        if (!taken && stripe.dead() >= DEAD_SHARE * (stripe.dead() + stripe.live())) {
          byCode.computeIfAbsent(stripe.code.name(), code -> new ArrayList<>()).add(stripe.id);
        }
      }
      List<DecisionProto> rewrites = new ArrayList<>();
      byCode.forEach(
          (code, ids) ->
              rewrites.add(
                  DecisionProto.newBuilder()
                      .setKind(TransitionKindProto.REWRITE)
                      .addAllStripeIds(ids)
                      .setToCode(code)
                      .setPolicy(family)
                      .setReason("mostly dead")
                      .build()));
      return rewrites;
    }

    private String showMoved() {
      long live = world.namenode.stripes.values().stream().mapToLong(ModelStripe::live).sum();
      return "subtractions %.2f, rewrites %.2f"
          .formatted(
              (double) moved.getOrDefault(TransitionKindProto.SUBTRACT, 0L) / live,
              (double) moved.getOrDefault(TransitionKindProto.REWRITE, 0L) / live);
    }
  }

  // ---- what is chosen ---------------------------------------------------------------------------

  /** So many full compact stripes, of each of which the first blocks are deleted. */
  private static PolicyWorld compact(String family, double bound, int stripes, int dead) {
    PolicyWorld world = new PolicyWorld(PolicyWorld.rule(family, family, bound));
    int k = world.policies.rules().get(0).family().compactCode().dataCount();
    for (int i = 0; i < stripes * k; i++) {
      world.file("/" + family + "/f" + i, 1, 0);
    }
    world.propose();
    world.completeAll();
    for (ModelStripe stripe : List.copyOf(world.namenode.stripes.values())) {
      assertThat(stripe.data).hasSize(k);
      for (int position = 0; position < dead; position++) {
        world.namenode.deleteAt(stripe.id, position);
      }
    }
    return world;
  }

  private static List<TransitionKindProto> kinds(Evaluation evaluation) {
    return evaluation.decisions().stream().map(Decision::kind).distinct().toList();
  }

  @Test
  void nothingIsFreedUnderTheBound() {
    PolicyWorld world = compact("product", 1.5, 10, 1);
    assertThat(world.overhead("product")).isLessThan(1.5);
    assertThat(world.decide().decisions()).isEmpty();
  }

  @Test
  void fewDeadBlocksAreSubtractedAndNoMoreThanTheBoundNeeds() {
    PolicyWorld world = compact("product", 1.5, 10, 3);
    Evaluation evaluation = world.propose();
    assertThat(kinds(evaluation)).containsExactly(TransitionKindProto.SUBTRACT);
    assertThat(evaluation.decisions()).hasSizeBetween(1, 9);
    assertThat(evaluation.decisions().get(0).reason())
        .contains("storage 1.556x is over the bound 1.50x", "frees 3 MiB of deleted data");
    world.completeAll();
    assertThat(world.overhead("product")).isBetween(1.48, 1.5);
    assertThat(world.decide().decisions()).isEmpty();
  }

  @Test
  void manyDeadBlocksAreRewrittenTogether() {
    PolicyWorld world = compact("product", 1.45, 10, 6);
    Evaluation evaluation = world.propose();
    assertThat(kinds(evaluation)).containsExactly(TransitionKindProto.REWRITE);
    assertThat(evaluation.decisions().get(0).stripeIds()).hasSize(5);
    assertThat(evaluation.decisions()).as("for the day's budget").noneMatch(Decision::isConversion);
    world.completeAll();
    assertThat(world.overhead("product")).isLessThanOrEqualTo(1.45);
  }

  /** LRC(12,2,2) with 11 blocks stores 15 / 11 = 1.364 after a subtraction. */
  @Test
  void aSubtractionThatWouldLeaveItsStripeOverTheBoundIsNoChoice() {
    PolicyWorld world = compact("lrc", 1.35, 12, 1);
    assertThat(kinds(world.propose())).containsExactly(TransitionKindProto.REWRITE);
    world.completeAll();
    assertThat(world.overhead("lrc")).isLessThanOrEqualTo(1.35);
  }

  @Test
  void stripesWithTheMostDeadDataGoFirst() {
    PolicyWorld world = compact("lrc", 1.45, 12, 1);
    List<Long> ids = List.copyOf(world.namenode.stripes.keySet());
    for (long id : ids.subList(3, 6)) {
      for (int position = 1; position < 5; position++) {
        world.namenode.deleteAt(id, position);
      }
    }
    Evaluation evaluation = world.decide();
    assertThat(evaluation.decisions().get(0).stripeIds()).isSubsetOf(ids.subList(3, 6));
  }

  /** Hot data stays fast if dead data can be freed at a lower price than a conversion and back. */
  @Test
  void hotDataStaysFastWhereDeadDataMakesRoom() {
    PolicyWorld world = new PolicyWorld(PolicyWorld.rule("lrc", "lrc", 1.5));
    for (int i = 0; i < 60; i++) {
      world.file("/lrc/hot" + i, 1, 1_000);
      world.file("/lrc/cold" + i, 1, 0);
      world.file("/lrc/doomed" + i, 1, 0);
    }
    world.propose();
    world.completeAll();
    world.propose();
    world.completeAll();
    long fast = fastStripes(world);
    assertThat(fast).isPositive();
    for (ModelFile file : List.copyOf(world.namenode.files.values())) {
      if (file.path.contains("doomed")) {
        world.namenode.delete(file.id);
      }
    }
    assertThat(world.overhead("lrc")).isGreaterThan(1.5);
    assertThat(kinds(world.propose())).doesNotContain(TransitionKindProto.UPCODE);
    world.completeAll();
    assertThat(world.overhead("lrc")).isLessThanOrEqualTo(1.5);
    assertThat(fastStripes(world)).isEqualTo(fast);
  }

  private static long fastStripes(PolicyWorld world) {
    return world.namenode.stripes.values().stream()
        .filter(stripe -> stripe.code.name().equals("LRC(12,6,2)"))
        .count();
  }

  /** The namenode's own rewrites run last, so encodings would wait for them for long. */
  @Test
  void aRewriteOfTheNamenodeHoldsUpNoEncoding() {
    assertThat(encodesBesideRewriteOf(2_000_000)).isTrue();
    assertThat(encodesBesideRewriteOf(CodingProtocol.PRIORITY_FOR_BOUND)).isFalse();
  }

  private static boolean encodesBesideRewriteOf(int priority) {
    PolicyWorld world = compact("product", 1.5, 1, 3);
    world.policies = new PolicySet(List.of(PolicyWorld.withBytesPerRun(10, rule("product"))));
    world.maxPending = 1;
    ModelStripe stripe = world.namenode.stripes.values().iterator().next();
    world.underWay(TransitionKindProto.REWRITE, stripe, stripe.code.name(), priority);
    world.file("/product/new", 30, 0);
    return kinds(world.decide()).contains(TransitionKindProto.ENCODE);
  }

  private static PolicyRule rule(String family) {
    return PolicyWorld.rule(family, family, 1.5);
  }

  @Test
  void aTransitionToACodeThatTheManagerDoesNotKnowStopsNoPolicy() {
    for (TransitionKindProto kind : TransitionKindProto.values()) {
      PolicyWorld world = compact("product", 1.5, 2, 5);
      ModelStripe stripe = world.namenode.stripes.values().iterator().next();
      world.underWay(kind, stripe, "OURS(4,2)", 2_000_000);
      assertThat(kinds(world.decide())).as(kind.name()).contains(TransitionKindProto.SUBTRACT);
    }
  }

  /** A subtraction of three blocks of PC(6x5) moves 17 MiB or so, not 27 MiB of live data. */
  @Test
  void aSubtractionTakesWhatItMovesOfTheLimit() {
    PolicyWorld world = compact("product", 1.45, 6, 3);
    long moved = world.decide().decisions().get(0).movedBytes();
    assertThat(moved).isLessThan(27 * PolicyWorld.MIB);
    world.policies = new PolicySet(List.of(limited(2 * moved)));
    assertThat(world.propose().decisions()).hasSize(2);
    assertThat(world.decide().decisions()).as("the limit is used up").isEmpty();
    world.policies = new PolicySet(List.of(limited(3 * moved)));
    assertThat(world.decide().decisions()).hasSize(1);
  }

  private static PolicyRule limited(long bytes) {
    return PolicyWorld.withBytesPerRun(bytes, PolicyWorld.rule("product", "product", 1.45));
  }

  @Test
  void whatIsUnderWayIsNotProposedAgain() {
    PolicyWorld world = compact("product", 1.45, 10, 6);
    assertThat(world.propose().decisions()).isNotEmpty();
    assertThat(world.propose().decisions()).isEmpty();
  }

  @Test
  void aStripeWhoseSubtractionFailedIsRewritten() {
    PolicyWorld world = compact("product", 1.5, 1, 3);
    assertThat(kinds(world.propose())).containsExactly(TransitionKindProto.SUBTRACT);
    world.namenode.activeIds().forEach(id -> world.namenode.fail(id, "too crowded"));
    assertThat(kinds(world.propose())).containsExactly(TransitionKindProto.REWRITE);
    world.namenode.activeIds().forEach(id -> world.namenode.fail(id, "a server stalled"));
    assertThat(world.decide().decisions()).isEmpty();
  }

  @Test
  void aStripeWhoseRewriteFailedIsLeftAlone() {
    PolicyWorld world = compact("product", 1.45, 10, 6);
    world.propose();
    world.namenode.activeIds().forEach(id -> world.namenode.fail(id, "a server stalled"));
    List<Long> failed = new ArrayList<>();
    world.namenode.transitions.values().stream()
        .filter(t -> t.getKind() == TransitionKindProto.REWRITE)
        .forEach(t -> t.getStripesList().forEach(s -> failed.add(s.getStripeId())));
    assertThat(failed).isNotEmpty();
    assertThat(world.decide().decisions())
        .allSatisfy(d -> assertThat(d.stripeIds()).doesNotContainAnyElementsOf(failed));
  }
}
