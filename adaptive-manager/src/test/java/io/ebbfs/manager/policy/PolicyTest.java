package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.model.ModelNamenode.ModelFile;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PolicyTest {
  private final PolicyWorld world = new PolicyWorld(PolicyWorld.rule("p", "product", 1.5));

  @Test
  void namesTheStateOfEveryFile() {
    ModelFile open = world.namenode.addFile("/p/open", world.now, 5);
    open.underConstruction = true;
    long fresh = world.namenode.addFile("/p/new", world.now - 9_999, 5).id;
    long stray = world.file("/q/stray", 1, 0);
    long empty = world.file("/p/empty", 0.0);
    long lonely = world.file("/p/lonely", 1, 0);

    assertThat(world.state(open.id)).isEqualTo(FileState.UNDER_CONSTRUCTION);
    assertThat(world.state(fresh)).isEqualTo(FileState.TOO_NEW);
    assertThat(world.state(stray)).isEqualTo(FileState.NO_POLICY);
    assertThat(world.state(empty)).isEqualTo(FileState.TOO_SMALL);
    assertThat(world.state(lonely)).isEqualTo(FileState.WAITING);
    assertThat(world.decide().verdicts().ofSnapshot()).hasSize(5);
  }

  @Test
  void readColdFilesGoStraightToTheCompactCode() {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      ids.add(world.file("/p/" + i, 1, 0.4));
    }
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).hasSize(1);
    Decision decision = evaluation.decisions().get(0);
    assertThat(decision.kind()).isEqualTo(TransitionKindProto.ENCODE);
    assertThat(decision.toCode()).isEqualTo("PC(6x5)");
    assertThat(decision.fileIds()).containsExactlyInAnyOrderElementsOf(ids);
    assertThat(decision.reason()).contains("30 files, 30 MiB").contains("1.40x instead of 3.00x");
    assertThat(world.state(ids.get(0))).isEqualTo(FileState.ENCODING);
    assertThat(world.decide().decisions()).isEmpty();
    world.completeAll();
    assertThat(world.state(ids.get(0))).isEqualTo(FileState.COMPACT);
    assertThat(world.overhead("p")).isEqualTo(1.4);
  }

  @Test
  void blocksWaitToFillAStripeButNotForEver() {
    PolicyWorld patient = new PolicyWorld(PolicyWorld.rule("p", "product", 1.5, 5_000));
    for (int i = 0; i < 20; i++) {
      patient.file("/p/" + i, 1, 0);
    }
    assertThat(patient.propose().decisions()).isEmpty();
    patient.now += 5_000;
    assertThat(patient.propose().decisions()).hasSize(1);
    assertThat(patient.namenode.activeIds()).hasSize(1);
  }

  /** A parity is as long as the longest block, which is too long for a stripe of short blocks. */
  @Test
  void shortBlocksWaitUntilLongBlocksHaveMadeRoom() {
    for (int i = 0; i < 60; i++) {
      world.file("/p/long" + i, 1, 0);
    }
    long shortest = 0;
    for (int i = 0; i < 20; i++) {
      shortest = world.file("/p/short" + i, 0.0, 20_000 - 900 * i);
    }
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions().get(0).longestBlocks()).isEqualTo(60);
    assertThat(world.verdict(evaluation, shortest).reason())
        .contains("the shortest 20 of 80 blocks that are encoded together wait for room");
    world.completeAll();
    assertThat(world.propose().decisions()).hasSize(1);
    world.completeAll();
    assertThat(world.state(shortest)).isEqualTo(FileState.COMPACT);
    assertThat(world.overhead("p")).isLessThan(1.5);
  }

  /** Later blocks may be of nearly their length. Blocks for 40 stripes pack well as they are. */
  @Test
  void blocksThatFillStripesWaitForFurtherBlocksUnlessTheyAreMany() {
    PolicyWorld patient = new PolicyWorld(PolicyWorld.rule("p", "product", 1.5, 5_000));
    for (int i = 0; i < 1_199; i++) {
      patient.file("/p/" + i, 1, 0);
    }
    Evaluation few = patient.propose();
    assertThat(few.decisions()).isEmpty();
    assertThat(few.verdicts().ofSnapshot())
        .allMatch(v -> v.state() == FileState.WAITING)
        .allMatch(v -> v.reason().contains("1199 of 1200 blocks"));
    patient.file("/p/last", 1, 0);
    assertThat(patient.propose().decisions()).isNotEmpty();
  }

  /** The files have been write-cold for 2 s, and gather for half of fillWait, which is 2.5 s. */
  @Test
  void afterGatheringOnlyBlocksThatFillStripesAreEncoded() {
    PolicyWorld patient = new PolicyWorld(PolicyWorld.rule("p", "product", 1.5, 5_000));
    for (int i = 0; i < 31; i++) {
      patient.file("/p/" + i, 1, 0);
    }
    patient.now += 499;
    assertThat(patient.propose().decisions()).isEmpty();
    patient.now += 1;
    Evaluation gathered = patient.propose();
    assertThat(gathered.decisions()).hasSize(1);
    assertThat(gathered.decisions().get(0).fileIds()).hasSize(30);
    assertThat(gathered.verdicts().ofSnapshot())
        .filteredOn(v -> v.reason().startsWith("1 of 30 blocks are there to fill PC(6x5)"))
        .hasSize(1);
  }

  @Test
  void blocksThatWouldStoreMoreThanTheirReplicasStayReplicated() {
    long first = world.file("/p/a", 1, 0);
    world.file("/p/b", 1, 0);
    world.now += 1_000_000;
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, first).reason())
        .contains("too few blocks (2 of 30)")
        .contains("stores less than the replicas");
  }

  /** 30 hot and 90 cold blocks: the fast share of 25% is exactly what a bound of 1.5 allows. */
  @Test
  void hotFilesGoFastAfterColdFilesMadeRoom() {
    for (int i = 0; i < 120; i++) {
      world.file("/p/" + i, 1, i < 30 ? 5 : 0);
    }
    Evaluation first = world.propose();
    assertThat(first.decisions()).allMatch(d -> d.toCode().equals("PC(6x5)"));
    world.completeAll();
    Evaluation second = world.propose();
    assertThat(second.decisions()).hasSize(1);
    assertThat(second.decisions().get(0).toCode()).isEqualTo("PC(2x5)");
    world.completeAll();
    assertThat(world.overhead("p")).isEqualTo(1.5);
    assertThat(world.decide().decisions()).isEmpty();
  }

  @Test
  void withoutRoomHotFilesGoCompact() {
    for (int i = 0; i < 30; i++) {
      world.file("/p/" + i, 1, 5);
    }
    assertThat(world.propose().decisions()).allMatch(d -> d.toCode().equals("PC(6x5)"));
  }

  @Test
  void withoutABoundAllHotFilesGoFast() {
    PolicyWorld free = new PolicyWorld(PolicyWorld.rule("p", "product", null));
    for (int i = 0; i < 30; i++) {
      free.file("/p/" + i, 1, 5);
    }
    assertThat(free.propose().decisions()).allMatch(d -> d.toCode().equals("PC(2x5)"));
  }

  @Test
  void fastGroupsThatAreNoLongerReadGoCompactAndCompactStripesThatAreReadGoFast() {
    PolicyWorld free = new PolicyWorld(PolicyWorld.rule("p", "product", null));
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      ids.add(free.file("/p/" + i, 1, 5));
    }
    free.propose();
    free.completeAll();
    ids.forEach(id -> free.heat.put(id, 0.6));
    assertThat(free.decide().decisions()).as("within the hysteresis").isEmpty();
    ids.forEach(id -> free.heat.put(id, 0.4));
    Decision up = free.propose().decisions().get(0);
    assertThat(up.kind()).isEqualTo(TransitionKindProto.UPCODE);
    assertThat(up.stripeIds()).hasSize(3);
    assertThat(up.reason()).contains("read-cold: 0.400 reads/MiB, below 0.500");
    free.completeAll();
    assertThat(free.state(ids.get(0))).isEqualTo(FileState.COMPACT);
    ids.forEach(id -> free.heat.put(id, 1.5));
    Decision down = free.propose().decisions().get(0);
    assertThat(down.kind()).isEqualTo(TransitionKindProto.DOWNCODE);
    free.completeAll();
    assertThat(free.state(ids.get(0))).isEqualTo(FileState.FAST);
  }

  @Test
  void aBoundThatWasLoweredMakesTheColdestCompactFirst() {
    PolicyWorld lrc = new PolicyWorld(PolicyWorld.rule("p", "lrc", null));
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      ids.add(lrc.file("/p/" + i, 12, 100 * 12 + i * 12));
      lrc.propose();
      lrc.completeAll();
    }
    lrc.policies = new PolicyWorld(PolicyWorld.rule("p", "lrc", 1.4)).policies;
    Evaluation evaluation = lrc.propose();
    // (1.4 - 4/3) / (5/3 - 4/3) = 20% may stay fast.
    assertThat(evaluation.decisions()).hasSize(8);
    assertThat(evaluation.decisions()).allMatch(d -> d.reason().contains("over the bound 1.40x"));
    lrc.completeAll();
    assertThat(lrc.overhead("p")).isLessThanOrEqualTo(1.4);
    assertThat(lrc.state(ids.get(0))).isEqualTo(FileState.COMPACT);
    assertThat(lrc.state(ids.get(9))).isEqualTo(FileState.FAST);
    assertThat(lrc.decide().decisions()).as("no stripe is converted back and forth").isEmpty();
  }

  @Test
  void hotterDataTakesThePlaceOfColderDataByTheHysteresisOnly() {
    PolicyWorld lrc = new PolicyWorld(PolicyWorld.rule("p", "lrc", 1.4));
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      ids.add(lrc.file("/p/" + i, 12, i == 0 ? 10 * 12 : 0));
    }
    for (int i = 0; i < 3; i++) {
      lrc.propose();
      lrc.completeAll();
    }
    assertThat(lrc.state(ids.get(0))).isEqualTo(FileState.FAST);
    lrc.heat.put(ids.get(1), 19 * 12.0);
    assertThat(lrc.decide().decisions()).isEmpty();
    lrc.heat.put(ids.get(1), 21 * 12.0);
    Evaluation swap = lrc.propose();
    assertThat(swap.decisions()).hasSize(1);
    assertThat(swap.decisions().get(0).reason()).startsWith("makes room under the bound 1.40x");
    lrc.completeAll();
    lrc.propose();
    lrc.completeAll();
    assertThat(lrc.state(ids.get(0))).isEqualTo(FileState.COMPACT);
    assertThat(lrc.state(ids.get(1))).isEqualTo(FileState.FAST);
    assertThat(lrc.overhead("p")).isLessThanOrEqualTo(1.4);
  }

  @Test
  void aStripeThatLostABlockIsLeftAlone() {
    PolicyWorld free = new PolicyWorld(PolicyWorld.rule("p", "product", null));
    for (int i = 0; i < 30; i++) {
      free.heat.put(free.file("/p/" + i, 1, 5), 5.0);
    }
    free.propose();
    free.completeAll();
    free.heat.clear();
    free.namenode.stripes.values().iterator().next().lost = true;
    assertThat(free.decide().decisions()).isEmpty();
    free.namenode.stripes.values().iterator().next().lost = false;
    assertThat(free.decide().decisions()).hasSize(1);
  }

  @Test
  void aFailureIsNamedAndTriedAgainLater() {
    long id = 0;
    for (int i = 0; i < 30; i++) {
      id = world.file("/p/" + i, 1, 0);
    }
    world.propose();
    world.namenode.fail(world.namenode.activeIds().get(0), "no space on any disk");
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, id).state()).isEqualTo(FileState.FAILED);
    assertThat(world.verdict(evaluation, id).reason()).contains("no space on any disk");
    world.now += 60_000;
    assertThat(world.propose().decisions()).hasSize(1);
  }

  @Test
  void aTransitionThatLackedSpaceIsTriedAgainOnceThereIsMore() throws Exception {
    for (int i = 0; i < 30; i++) {
      world.file("/p/" + i, 1, 0);
    }
    world.propose();
    long missing = 1_000_000;
    world.namenode.failForLack(
        world.namenode.activeIds().get(0), TransitionStateProto.NO_SPACE, missing);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(evaluation.verdicts().ofSnapshot())
        .anySatisfy(v -> assertThat(v.reason()).contains("no place", "space are added"));
    world.namenode.freedBytes += missing - 1;
    assertThat(world.propose().decisions()).isEmpty();
    world.namenode.freedBytes += 1;
    assertThat(world.propose().decisions()).hasSize(1);
  }

  @Test
  void aTransitionThatLackedServersIsTriedAgainOnceThereAreMore() throws Exception {
    for (int i = 0; i < 30; i++) {
      world.file("/p/" + i, 1, 0);
    }
    world.propose();
    world.namenode.failForLack(
        world.namenode.activeIds().get(0), TransitionStateProto.NO_DOMAINS, 0);
    assertThat(world.propose().decisions()).isEmpty();
    world.namenode.freedBytes += 1L << 40;
    assertThat(world.propose().decisions()).as("servers were missing, not space").isEmpty();
    world.namenode.servers++;
    assertThat(world.propose().decisions()).hasSize(1);
  }

  @Test
  void aClusterThatIsTooSmallOrInSafeModeGetsNoDecisions() {
    for (int i = 0; i < 30; i++) {
      world.file("/p/" + i, 1, 0);
    }
    world.namenode.safeMode = true;
    assertThat(world.decide().decisions()).isEmpty();
    world.namenode.safeMode = false;
    world.namenode.servers = 5;
    Evaluation evaluation = world.decide();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(evaluation.refusals()).hasSize(1);
    assertThat(evaluation.refusals().get(0).message())
        .contains("asks for 6 servers and 42 disks; live are 5 servers and 30 disks");
  }

  @Test
  void hotFilesWaitForRoomEvenWithoutFillWait() {
    PolicyWorld hasty = new PolicyWorld(PolicyWorld.rule("p", "product", 1.5, 0));
    for (int i = 0; i < 150; i++) {
      hasty.file("/p/" + i, 1, i < 30 ? 5 : 0);
    }
    assertThat(hasty.propose().decisions()).allMatch(d -> d.toCode().equals("PC(6x5)"));
    assertThat(hasty.decide().decisions()).as("while the compact encodings run").isEmpty();
    hasty.completeAll();
    assertThat(hasty.propose().decisions()).allMatch(d -> d.toCode().equals("PC(2x5)"));
    hasty.completeAll();
    assertThat(hasty.decide().verdicts().ofSnapshot())
        .filteredOn(v -> v.state() == FileState.FAST)
        .hasSize(30)
        .allMatch(Verdict::hot);
  }

  /** Six cold stripes make room for one hot one, ten for two. */
  @Test
  void hotFilesWithRoomWaitForHotFilesThatWillHaveRoom() {
    PolicyWorld lrc = new PolicyWorld(PolicyWorld.rule("p", "lrc", 1.4, 5_000));
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      ids.add(lrc.file("/p/" + i, 12, i < 2 ? 24 : 0));
    }
    lrc.now += 500;
    assertThat(lrc.propose().decisions()).allMatch(d -> d.toCode().equals("LRC(12,2,2)"));
    lrc.namenode.activeIds().subList(0, 6).forEach(lrc.namenode::complete);
    Evaluation some = lrc.decide();
    assertThat(some.decisions()).isEmpty();
    assertThat(lrc.verdict(some, ids.get(0)).reason()).startsWith("read-hot; waits for compact");

    long compact =
        ids.stream().filter(id -> lrc.state(id) == FileState.COMPACT).findFirst().orElseThrow();
    lrc.heat.put(compact, 20.0);
    assertThat(lrc.decide().decisions()).as("the room is kept from conversions to fast").isEmpty();

    lrc.now += 7_499;
    assertThat(lrc.decide().decisions()).isEmpty();
    lrc.now += 1;
    assertThat(lrc.decide().decisions())
        .as("twice fillWait after the files became write-cold")
        .singleElement()
        .matches(d -> d.toCode().equals("LRC(12,6,2)") && d.fileIds().size() == 1);

    lrc.now -= 1;
    lrc.completeAll();
    assertThat(lrc.propose().decisions())
        .singleElement()
        .matches(d -> d.toCode().equals("LRC(12,6,2)") && d.fileIds().size() == 2);
    lrc.completeAll();
    assertThat(lrc.overhead("p")).isLessThanOrEqualTo(1.4);
  }

  /** Six hot and six cold blocks fill two stripes of RS(6,3): heat makes no difference, ever. */
  @Test
  void aSingleCodeIsKeptWhateverTheHeat() {
    PolicyWorld one = new PolicyWorld(PolicyWorld.single("p", "RS(6,3)"));
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      ids.add(one.file("/p/" + i, 1, i % 2 == 0 ? 50 : 0));
    }
    Evaluation first = one.propose();
    assertThat(first.decisions()).hasSize(1);
    Decision decision = first.decisions().get(0);
    assertThat(decision.toCode()).isEqualTo("RS(6,3)");
    assertThat(decision.single()).isTrue();
    assertThat(decision.fileIds()).containsExactlyInAnyOrderElementsOf(ids);
    assertThat(decision.reason())
        .contains("the only code of the policy; stored 1.50x instead of 3.00x");
    one.completeAll();
    assertThat(one.overhead("p")).isEqualTo(1.5);
    for (double reads : new double[] {0, 1_000}) {
      ids.forEach(id -> one.heat.put(id, reads));
      assertThat(one.decide().decisions()).isEmpty();
    }
    Verdict verdict = one.verdict(one.decide(), ids.get(0));
    assertThat(verdict.state()).isEqualTo(FileState.ENCODED);
    assertThat(verdict.reason()).isEqualTo("RS(6,3), the only code of policy 'p'");
    assertThat(verdict.hot()).isFalse();
    assertThat(one.decide().accounts().get(0).fastBytes()).isZero();
  }

  @Test
  void anySingleCodeWaitsToFillAStripeButNotForEver() {
    for (String code : List.of("RS(10,4)", "LRC(12,2,2)", "XOR(4,1)", "PC(2x5)")) {
      PolicyWorld one = new PolicyWorld(PolicyWorld.single("p", code, 5_000));
      int data = io.ebbfs.coding.code.Codes.byName(code).dataCount();
      for (int i = 0; i < data - 1; i++) {
        one.file("/p/" + i, 1, i);
      }
      assertThat(one.propose().decisions()).as(code).isEmpty();
      one.now += 5_000;
      assertThat(one.propose().decisions()).as(code).allMatch(d -> d.toCode().equals(code));
      one.completeAll();
      assertThat(one.namenode.stripes).as(code).hasSize(1);
      assertThat(one.decide().decisions()).as(code).isEmpty();
    }
  }

  /** A padded stripe takes room that the stripes behind it would make: none may wait for ever. */
  @Test
  void aPaddedStripeThatWaitsMakesTheColdestFastStripesCompact() {
    PolicyWorld lrc = new PolicyWorld(PolicyWorld.rule("p", "lrc", 1.4));
    for (int i = 0; i < 60; i++) {
      lrc.file("/p/cold" + i, 1, 0);
    }
    lrc.propose();
    lrc.completeAll();
    for (int i = 0; i < 12; i++) {
      lrc.file("/p/hot" + i, 1, 5);
    }
    lrc.propose();
    lrc.completeAll();
    assertThat(lrc.overhead("p")).as("with a fast stripe").isBetween(1.38, 1.4);

    List<Long> waiting = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      waiting.add(lrc.file("/p/long" + i, 0.0, i == 0 ? 5 * PolicyWorld.MIB / 2 : PolicyWorld.MIB));
    }
    for (int i = 0; i < 120; i++) {
      long length = PolicyWorld.MIB - 1;
      waiting.add(lrc.file("/p/short" + i, 0.0, length));
    }
    for (int round = 0; round < 5; round++) {
      lrc.propose();
      for (long id : lrc.namenode.activeIds()) {
        lrc.namenode.complete(id);
        assertThat(lrc.overhead("p")).isLessThanOrEqualTo(1.4);
      }
    }
    assertThat(waiting).allSatisfy(id -> assertThat(lrc.state(id)).isEqualTo(FileState.COMPACT));
  }
}
