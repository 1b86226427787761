package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What policies and orders do with files that their clients have encoded. */
class ClientStripedTest {
  private static final long MIB = PolicyWorld.MIB;

  private static PolicyRule leaving(Pace pace) {
    return PolicyWorld.rule(
        "p", CodeRegistry.builtIn().family("product"), null, ReadHot.AUTO, 0, pace);
  }

  private static PolicyWorld converting(Pace pace) {
    return new PolicyWorld(PolicyWorld.convertingClientStriped(leaving(pace)));
  }

  private static long striped(PolicyWorld world, String path, int blocks) {
    long id = world.file(path, blocks, 0);
    world.namenode.files.get(id).clientStriped = true;
    return id;
  }

  @Test
  void aPolicyLeavesThemAloneUnlessItIsToldOtherwise() {
    PolicyWorld world = new PolicyWorld(leaving(Pace.FREE));
    long file = striped(world, "/p/f", 6);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    Verdict verdict = world.verdict(evaluation, file);
    assertThat(verdict.state()).isEqualTo(FileState.CLIENT_STRIPED);
    assertThat(verdict.reason())
        .contains("clientStriped: leave")
        .contains("18 MiB are read and 18 MiB written; 9 MiB are stored now, 18 MiB then")
        .doesNotContain("user.ebbfs.pin");
  }

  @Test
  void aPolicyMakesReplicasOfThemAndEncodesThemLikeAllOthers() {
    PolicyWorld world = converting(Pace.FREE);
    long file = striped(world, "/p/f", 30);
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions())
        .singleElement()
        .satisfies(
            decision -> {
              assertThat(decision.kind()).isEqualTo(TransitionKindProto.RELEASE);
              assertThat(decision.fileIds()).containsExactly(file);
              assertThat(decision.stripeIds()).isEmpty();
              assertThat(decision.isConversion()).isTrue();
              assertThat(decision.dataBytes()).isEqualTo(30 * MIB);
              assertThat(decision.movedBytes()).isEqualTo(2 * 3 * 30 * MIB);
            });
    assertThat(world.verdict(evaluation, file).reason()).contains("becomes replicas");
    evaluation = world.propose();
    assertThat(evaluation.decisions()).as("it is under way").isEmpty();
    assertThat(world.verdict(evaluation, file).reason()).contains("makes replicas of it");
    world.completeAll();
    assertThat(world.state(file)).as("write-cold since then").isEqualTo(FileState.TOO_NEW);
    world.now += 10_000;
    world.propose();
    world.completeAll();
    assertThat(world.state(file)).isEqualTo(FileState.COMPACT);
  }

  @Test
  void aFileIsConvertedOnceItIsWriteCold() {
    PolicyWorld world = converting(Pace.FREE);
    long file = striped(world, "/p/f", 3);
    world.namenode.files.get(file).modifiedMillis = world.now - 1_000;
    assertThat(world.propose().decisions()).isEmpty();
    assertThat(world.state(file)).isEqualTo(FileState.TOO_NEW);
    world.now += 10_000;
    assertThat(world.propose().decisions()).hasSize(1);
  }

  @Test
  void theBudgetOfTheDayAndTheHoursHold() {
    PolicyWorld world = converting(new Pace(0, OptionalLong.of(10 * MIB), Optional.empty()));
    long first = striped(world, "/p/1", 6);
    long second = striped(world, "/p/2", 6);
    world.namenode.files.get(first).modifiedMillis -= 1;
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions())
        .singleElement()
        .matches(decision -> decision.fileIds().equals(List.of(first)));
    assertThat(world.verdict(evaluation, second).reason())
        .contains("18 MiB are read")
        .contains("conversionBytesPerDay");
  }

  @Test
  void aConversionThatHasFailedWaits() {
    PolicyWorld world = converting(Pace.FREE);
    long file = striped(world, "/p/f", 3);
    world.propose();
    TransitionRow row = world.namenode.transitions.values().iterator().next();
    world.namenode.transitions.put(
        row.getId(),
        row.toBuilder()
            .setState(TransitionStateProto.FAILED)
            .setFailure("no quota")
            .setUpdatedMillis(world.now)
            .build());
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, file).reason()).contains("retryFailedAfter");
    world.now += 60_000;
    assertThat(world.propose().decisions()).hasSize(1);
  }

  @Test
  void aReplicationOfOneGivesNoProtection() {
    PolicyWorld world = converting(Pace.FREE);
    long file = striped(world, "/p/f", 3);
    world.namenode.files.get(file).replication = 1;
    Evaluation evaluation = world.propose();
    assertThat(evaluation.decisions()).isEmpty();
    assertThat(world.verdict(evaluation, file).reason()).contains("replication of 2 or more");
  }

  @Test
  void anOrderTellsWhatItCosts() {
    PolicyWorld world = new PolicyWorld(leaving(Pace.FREE));
    long file = striped(world, "/p/f", 6);
    long open = striped(world, "/p/open", 6);
    world.namenode.files.get(open).underConstruction = true;
    OrderedConversion.Plan plan = plan(world, file, open);
    assertThat(plan.decisions())
        .singleElement()
        .matches(decision -> decision.fileIds().equals(List.of(file)));
    assertThat(plan.busy()).isEqualTo(1);
    assertThat(plan.isWithinBound()).isTrue();
    assertThat(plan.clientStripedFiles()).isEqualTo(1);
    assertThat(plan.clientStriped().readBytes()).isEqualTo(18 * MIB);
    assertThat(plan.clientStriped().writtenBytes()).isEqualTo(18 * MIB);
    assertThat(plan.clientStriped().storedBytesNow()).isEqualTo(9 * MIB);
    assertThat(plan.clientStriped().storedBytesThen()).isEqualTo(18 * MIB);
    assertThat(plan.movedBytes()).isEqualTo(36 * MIB);
    assertThat(plan.storedDeltaBytes()).isEqualTo(9 * MIB);
    assertThat(plan.convertedBytes()).isEqualTo(6 * MIB);
  }

  private static OrderedConversion.Plan plan(PolicyWorld world, Long... files) {
    return OrderedRelease.plan(
        CodeRegistry.builtIn(),
        world.snapshot(),
        world.policies.rules().get(0),
        "ordered",
        List.of(files),
        List.of());
  }
}
