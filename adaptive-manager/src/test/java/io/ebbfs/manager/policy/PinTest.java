package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
    evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, ids.get(0)).reason())
        .contains("what is encoded stays encoded");
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
