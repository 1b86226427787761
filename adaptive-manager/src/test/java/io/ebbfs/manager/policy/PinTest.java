package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the policies do with files that their users have pinned to a code. */
class PinTest {
  private static final double READ = 1_000;

  static Stream<ReadHot> readHots() {
    return Stream.of(ReadHot.AUTO, new ReadHot(ReadHot.Unit.PER_MIB, 1));
  }

  private static PolicyWorld world(ReadHot readHot, Double bound) {
    return world(readHot, bound, Pace.FREE);
  }

  private static PolicyWorld world(ReadHot readHot, Double bound, Pace pace) {
    PolicyRule rule =
        PolicyWorld.rule("p", CodeRegistry.builtIn().family("product"), bound, readHot, 0, pace);
    return new PolicyWorld(rule);
  }

  private static List<Long> files(PolicyWorld world, String directory, double reads) {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      ids.add(world.file(directory + "/" + i, 1, reads));
    }
    world.experience = Experience.of(Map.copyOf(world.heat));
    return ids;
  }

  private static void pin(PolicyWorld world, String directory, PinProto pin) {
    world.namenode.pins.put(world.namenode.directories.get(directory), pin);
  }

  private static void run(PolicyWorld world) {
    for (int i = 0; i < 5; i++) {
      world.propose();
      world.completeAll();
    }
  }

  @ParameterizedTest
  @MethodSource("readHots")
  void pinnedFilesGoIntoTheirCodeWhateverIsRead(ReadHot readHot) {
    PolicyWorld world = world(readHot, null);
    List<Long> unread = files(world, "/p/fast/below", 0);
    List<Long> read = files(world, "/p/compact/below", READ);
    pin(world, "/p/fast", PinProto.FAST);
    pin(world, "/p/compact", PinProto.COMPACT);
    run(world);
    assertThat(unread).allMatch(id -> world.state(id) == FileState.FAST);
    assertThat(read).allMatch(id -> world.state(id) == FileState.COMPACT);
  }

  @ParameterizedTest
  @MethodSource("readHots")
  void whatIsEncodedIsConvertedToItsPin(ReadHot readHot) {
    PolicyWorld world = world(readHot, null);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    assertThat(ids).allMatch(id -> world.state(id) == FileState.COMPACT);
    pin(world, "/p", PinProto.FAST);
    assertThat(world.propose().decisions())
        .singleElement()
        .matches(decision -> decision.kind() == TransitionKindProto.DOWNCODE)
        .matches(decision -> decision.reason().contains("pinned fast"));
    world.completeAll();
    run(world);
    assertThat(ids).allMatch(id -> world.state(id) == FileState.FAST);
    pin(world, "/p/d", PinProto.COMPACT);
    run(world);
    assertThat(ids).allMatch(id -> world.state(id) == FileState.COMPACT);
  }

  @Test
  void filesThatArePinnedToReplicasAreNotEncoded() {
    PolicyWorld world = world(ReadHot.AUTO, null);
    List<Long> ids = files(world, "/p/d", 0);
    pin(world, "/p/d", PinProto.REPLICAS);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    Verdict verdict = world.verdict(evaluation, ids.get(0));
    assertThat(verdict.state()).isEqualTo(FileState.PINNED);
    assertThat(verdict.pin()).isEqualTo(Pin.REPLICAS);
    assertThat(verdict.reason()).contains("user.ebbfs.pin: replicas");
    world.namenode.pins.clear();
    run(world);
    assertThat(ids).allMatch(id -> world.state(id) == FileState.COMPACT);
    pin(world, "/p/d", PinProto.REPLICAS);
    assertThat(world.propose().decisions()).isNotEmpty();
    world.completeAll();
    assertThat(ids).allMatch(id -> world.state(id) == FileState.PINNED);
    assertThat(world.namenode.stripes).isEmpty();
    assertThat(world.propose().decisions()).as("they are not encoded again").isEmpty();
  }

  /** A stripe of 30 blocks, a third of which is pinned: one release takes them out. */
  @ParameterizedTest
  @MethodSource("readHots")
  void blocksThatArePinnedToReplicasLeaveTheirStripe(ReadHot readHot) {
    PolicyWorld world = world(readHot, null);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    List<Long> pinned = ids.subList(0, 10);
    pinned.forEach(id -> world.namenode.files.get(id).pin = PinProto.REPLICAS);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions())
        .singleElement()
        .matches(decision -> decision.kind() == TransitionKindProto.RELEASE)
        .matches(decision -> decision.fileIds().equals(pinned))
        .matches(decision -> decision.stripeIds().size() == 1)
        .matches(decision -> decision.dataBytes() == 10 * PolicyWorld.MIB)
        .matches(decision -> decision.reason().contains("pinned to replicas"));
    assertThat(world.verdict(evaluation, ids.get(0)).reason())
        .contains("becomes replicas by this evaluation")
        .contains("user.ebbfs.pin: replicas");
    assertThat(world.propose().decisions()).as("it is under way").isEmpty();
    world.completeAll();
    run(world);
    assertThat(pinned).allMatch(id -> world.state(id) == FileState.PINNED);
    assertThat(ids.subList(10, 30)).allMatch(id -> world.state(id) == FileState.COMPACT);
    assertThat(world.namenode.transitions.values())
        .filteredOn(row -> row.getKind() == TransitionKindProto.RELEASE)
        .hasSize(1);
  }

  /** It knows no RELEASE, and could not read a proposal with one. */
  @Test
  void nothingIsReleasedIfTheNamenodeDoesNotTellTheReplication() {
    PolicyWorld world = world(ReadHot.AUTO, null);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    ids.forEach(id -> world.namenode.files.get(id).replication = 0);
    pin(world, "/p/d", PinProto.REPLICAS);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, ids.get(0)).reason())
        .contains("the namenode did not tell its replication", "upgrade all namenodes");
  }

  /** The transitions are read before the view catches up, so a release may commit in between. */
  @Test
  void aReleaseThatCommitsWhileTheSnapshotIsTakenEntersNothing() {
    PolicyWorld world = world(ReadHot.AUTO, 1.5);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    ids.subList(0, 10).forEach(id -> world.namenode.files.get(id).pin = PinProto.REPLICAS);
    world.propose();
    List<TransitionView> before = world.snapshot().transitions();
    assertThat(before)
        .filteredOn(TransitionView::active)
        .singleElement()
        .matches(release -> release.leaving().size() == 10);
    world.completeAll();
    Evaluation after = world.decide();
    assertThat(
            Policy.decide(
                    CodeRegistry.builtIn(), PolicyWorld.withTransitions(before, world.snapshot()))
                .accounts())
        .isEqualTo(after.accounts());
    world.namenode.delete(ids.get(20));
    assertThat(
            Policy.decide(
                    CodeRegistry.builtIn(), PolicyWorld.withTransitions(before, world.snapshot()))
                .accounts())
        .as("a block of the stripe is deleted")
        .isEqualTo(world.decide().accounts());
  }

  @Test
  void aFileWithReplicationOneStaysInItsStripe() {
    PolicyWorld world = world(ReadHot.AUTO, null);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    ids.forEach(id -> world.namenode.files.get(id).replication = 1);
    pin(world, "/p/d", PinProto.REPLICAS);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, ids.get(0)).reason())
        .contains("its replication is 1, so its blocks stay in their stripes");
    world.namenode.files.get(ids.get(0)).replication = 2;
    assertThat(world.propose().decisions())
        .singleElement()
        .matches(decision -> decision.fileIds().equals(ids.subList(0, 1)));
  }

  /** PC(6x5) with 30 blocks stores 1.4 bytes per byte; with 29, still 12 parities: 1.414. */
  @Test
  void theBoundGoesBeforeAPinToReplicas() {
    PolicyWorld world = world(ReadHot.AUTO, 1.41);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    world.namenode.files.get(ids.get(0)).pin = PinProto.REPLICAS;
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, ids.get(0)).reason())
        .contains("its release to replicas is due and waits for room under the bound 1.41x");
    pin(world, "/p/d", PinProto.REPLICAS);
    assertThat(world.propose().decisions())
        .as("a stripe that ends leaves nothing over the bound")
        .singleElement()
        .matches(decision -> decision.kind() == TransitionKindProto.RELEASE);
    world.completeAll();
    assertThat(world.namenode.stripes).isEmpty();
  }

  @Test
  void releasesKeepTheBudgetOfTheDay() {
    Pace pace = new Pace(0, OptionalLong.of(40 * PolicyWorld.MIB), Optional.empty());
    PolicyWorld world = world(ReadHot.AUTO, null, pace);
    files(world, "/p/a", 0);
    List<Long> second = files(world, "/p/b", 0);
    run(world);
    pin(world, "/p", PinProto.REPLICAS);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions())
        .singleElement()
        .matches(Decision::isConversion)
        .matches(decision -> decision.dataBytes() == 30 * PolicyWorld.MIB);
    assertThat(world.verdict(evaluation, second.get(0)).reason())
        .contains("its release to replicas is due and waits for the budget");
  }

  @Test
  void aReleaseThatFailedWaitsAndHoldsNoOtherTransitionUp() {
    PolicyWorld world = world(ReadHot.AUTO, null);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    world.namenode.files.get(ids.get(0)).pin = PinProto.REPLICAS;
    world.propose();
    world.namenode.fail(world.namenode.activeIds().get(0), "no servers");
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, ids.get(0)).reason()).contains("retryFailedAfter");
    ids.subList(1, 30).forEach(id -> world.namenode.files.get(id).pin = PinProto.FAST);
    assertThat(world.propose().decisions())
        .singleElement()
        .matches(decision -> decision.kind() == TransitionKindProto.DOWNCODE);
    world.completeAll();
    world.now += 60_001;
    assertThat(world.propose().decisions())
        .singleElement()
        .matches(decision -> decision.kind() == TransitionKindProto.RELEASE);
  }

  @Test
  void dataThatIsWrittenAgainBecomesReplicasIfItsPolicySaysSo() {
    for (boolean releases : List.of(false, true)) {
      PolicyRule rule = PolicyWorld.rule("p", "product", null);
      PolicyWorld world = new PolicyWorld(releases ? PolicyWorld.releasing(rule) : rule);
      long file = world.file("/p/f", 30, 0);
      run(world);
      assertThat(world.state(file)).isEqualTo(FileState.COMPACT);
      world.now += 60_000;
      world.namenode.nowMillis = world.now;
      world.namenode.append(file, 1);
      Evaluation evaluation = world.propose();
      if (!releases) {
        assertThat(evaluation.decisions()).isEmpty();
        continue;
      }
      assertThat(evaluation.decisions())
          .singleElement()
          .matches(decision -> decision.kind() == TransitionKindProto.RELEASE)
          .matches(decision -> decision.dataBytes() == 29 * PolicyWorld.MIB)
          .matches(decision -> decision.reason().contains("written again"));
      world.completeAll();
      assertThat(world.namenode.stripes).isEmpty();
      assertThat(world.propose().decisions()).as("it is not write-cold").isEmpty();
      world.now += 20_000;
      run(world);
      assertThat(world.state(file)).isEqualTo(FileState.COMPACT);
      assertThat(world.propose().decisions()).as("it was encoded after its write").isEmpty();
    }
  }

  @Test
  void dataThatIsWriteColdAgainStaysEncoded() {
    PolicyRule rule = PolicyWorld.releasing(PolicyWorld.rule("p", "product", null));
    PolicyWorld world = new PolicyWorld(rule);
    long file = world.file("/p/f", 30, 0);
    run(world);
    world.now += 60_000;
    world.namenode.nowMillis = world.now;
    world.namenode.append(file, 1);
    world.now += 10_000; // writeColdAfter
    assertThat(world.propose().decisions())
        .noneMatch(decision -> decision.kind() == TransitionKindProto.RELEASE);
  }

  /** The pin is taken back: the file is encoded once it has been write-cold since its release. */
  @Test
  void aFileIsEncodedAgainOnceItIsWriteColdSinceItsRelease() {
    PolicyWorld world = world(ReadHot.AUTO, null);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    pin(world, "/p/d", PinProto.REPLICAS);
    world.propose();
    world.completeAll();
    world.namenode.pins.clear();
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, ids.get(0)).state()).isEqualTo(FileState.TOO_NEW);
    world.now += 10_000;
    run(world);
    assertThat(ids).allMatch(id -> world.state(id) == FileState.COMPACT);
  }

  /** PC(2x5) stores 1.8 bytes per byte, and PC(6x5) 1.4. */
  @ParameterizedTest
  @MethodSource("readHots")
  void theBoundGoesBeforeAPin(ReadHot readHot) {
    PolicyWorld world = world(readHot, 1.5);
    List<Long> ids = files(world, "/p/d", 0);
    run(world);
    pin(world, "/p", PinProto.FAST);
    run(world);
    assertThat(ids).allMatch(id -> world.state(id) == FileState.COMPACT);
    assertThat(world.verdict(world.decide(), ids.get(0)).reason())
        .contains("waits for room under the bound")
        .contains("user.ebbfs.pin: fast");
  }

  /** Room for one of two groups: reads alone would give it to the other one. */
  @ParameterizedTest
  @MethodSource("readHots")
  void pinnedDataGetsItsRoomFromDataThatIsRead(ReadHot readHot) {
    PolicyWorld world = world(readHot, 1.61);
    List<Long> read = files(world, "/p/read", READ);
    List<Long> pinned = files(world, "/p/pinned", 0);
    run(world);
    assertThat(read).allMatch(id -> world.state(id) == FileState.FAST);
    assertThat(pinned).allMatch(id -> world.state(id) == FileState.COMPACT);
    pin(world, "/p/pinned", PinProto.FAST);
    run(world);
    assertThat(pinned).allMatch(id -> world.state(id) == FileState.FAST);
    assertThat(read).allMatch(id -> world.state(id) == FileState.COMPACT);
    assertThat(world.overhead("p")).isLessThan(1.62);
  }

  @Test
  void aFilesOwnPinIsTheNearest() {
    PolicyWorld world = world(ReadHot.AUTO, null);
    List<Long> ids = files(world, "/p/d", 0);
    pin(world, "/p/d", PinProto.COMPACT);
    world.namenode.files.get(ids.get(0)).pin = PinProto.REPLICAS;
    run(world);
    assertThat(world.state(ids.get(0))).isEqualTo(FileState.PINNED);
    assertThat(world.state(ids.get(1))).isEqualTo(FileState.COMPACT);
  }
}
