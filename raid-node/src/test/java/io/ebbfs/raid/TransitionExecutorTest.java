package io.ebbfs.raid;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineFailureProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TransitionExecutorTest {
  private static final ClaimedTransitionProto REPAIR =
      FakeNamenode.transition(5, TransitionKindProto.REPAIR, 1, 1000);

  private final FakeNamenode namenode = new FakeNamenode();
  private final FakeChunks chunks = new FakeChunks();
  private final List<Long> pauses = new ArrayList<>();
  private final TransitionExecutor executor =
      new TransitionExecutor(
          "me",
          namenode,
          chunks,
          new Throttle(0, () -> 0, pauses::add),
          new CombineLimits(2, 2),
          pauses::add);

  @Test
  void everyStepIsRunInOrderAndCommittedOnce() throws Exception {
    ClaimedTransitionProto twoSteps =
        REPAIR.toBuilder()
            .addSteps(
                REPAIR.getSteps(0).toBuilder()
                    .setCombine(REPAIR.getSteps(0).getCombine().toBuilder().setId("second")))
            .build();
    Outcome outcome = executor.run(twoSteps, id -> false);
    assertThat(outcome.result()).isEqualTo(Outcome.Result.COMMITTED);
    assertThat(outcome.work().bytesRead()).isEqualTo(2000);
    assertThat(chunks.combined).containsExactly("t5", "second");
    assertThat(namenode.commits).hasSize(1);
    assertThat(namenode.commits.get(0).getAttempt()).isEqualTo(3);
    assertThat(namenode.commits.get(0).getResultsCount()).isEqualTo(2);
  }

  @Test
  void aCommitWithoutAnswerIsRepeated() throws Exception {
    namenode.commitsWithoutAnswer = 2;
    assertThat(executor.run(REPAIR, id -> false).result()).isEqualTo(Outcome.Result.COMMITTED);
    assertThat(namenode.commits).hasSize(3);
  }

  @Test
  void aCommitThatNeverAnswersIsGivenUp() throws Exception {
    namenode.commitsWithoutAnswer = 1000;
    assertThat(executor.run(REPAIR, id -> false).result()).isEqualTo(Outcome.Result.ABANDONED);
    assertThat(namenode.commits).hasSize(7);
  }

  @Test
  void onlyReplicasThatTheirServerFindsBadAreReported() throws Exception {
    chunks.answers.add(
        CombineResponseProto.newBuilder()
            .setStatus(CombineStatusProto.COMBINE_SOURCE_FAILED)
            .addFailedSources(CombineFailureProto.newBuilder().setIndex(0).setMessage("no luck"))
            .build());
    chunks.health = new BlockHealthProto[] {null, BlockHealthProto.BLOCK_CORRUPT, null};
    Outcome outcome = executor.run(REPAIR, id -> false);
    assertThat(outcome.result()).isEqualTo(Outcome.Result.FAILED);
    assertThat(outcome.detail()).contains("source 0 no luck");
    assertThat(namenode.commits).isEmpty();
    assertThat(namenode.failures.get(0).getBadBlocksList())
        .singleElement()
        .satisfies(bad -> assertThat(bad.getLocation().getStorageUuid()).isEqualTo("disk-1"));
  }

  @Test
  void aFullDiskIsReportedAsSuchAndNoOtherFailure() throws Exception {
    chunks.answers.add(targetFailed(true));
    chunks.answers.add(targetFailed(false));
    assertThat(executor.run(REPAIR, id -> false).result()).isEqualTo(Outcome.Result.FAILED);
    assertThat(executor.run(REPAIR, id -> false).result()).isEqualTo(Outcome.Result.FAILED);
    assertThat(namenode.failures.get(0).getFullTargetsList())
        .containsExactly(REPAIR.getSteps(0).getCombine().getTargets(0));
    assertThat(namenode.failures.get(1).getFullTargetsList()).isEmpty();
  }

  private static CombineResponseProto targetFailed(boolean noSpace) {
    return CombineResponseProto.newBuilder()
        .setStatus(CombineStatusProto.COMBINE_TARGET_FAILED)
        .addFailedTargets(
            CombineFailureProto.newBuilder().setIndex(0).setMessage("no").setNoSpace(noSpace))
        .build();
  }

  @Test
  void aBusyServerIsAskedAgainButNotForEver() throws Exception {
    CombineResponseProto busy =
        CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_BUSY).build();
    chunks.answers.add(busy);
    assertThat(executor.run(REPAIR, id -> false).result()).isEqualTo(Outcome.Result.COMMITTED);
    for (int i = 0; i < 20; i++) {
      chunks.answers.add(busy);
    }
    assertThat(executor.run(REPAIR, id -> false).result()).isEqualTo(Outcome.Result.FAILED);
    assertThat(chunks.answers).hasSize(11);
  }

  @Test
  void anAnswerThatDoesNotFitIsNotCommitted() throws Exception {
    CombineResponseProto.Builder wrong =
        FakeChunks.done(REPAIR.getSteps(0).getCombine()).toBuilder();
    wrong.getTargetsBuilder(0).setLengthBytes(999);
    chunks.answers.add(wrong.build());
    Outcome outcome = executor.run(REPAIR, id -> false);
    assertThat(outcome.result()).isEqualTo(Outcome.Result.FAILED);
    assertThat(outcome.detail()).contains("target 0 has 999 bytes, wanted 1000");
    assertThat(namenode.commits).isEmpty();
  }

  @Test
  void aLostClaimIsNotCommitted() throws Exception {
    assertThat(executor.run(REPAIR, id -> !chunks.combined.isEmpty()).result())
        .isEqualTo(Outcome.Result.ABANDONED);
    assertThat(chunks.combined).hasSize(1);
    assertThat(namenode.commits).isEmpty();
    assertThat(namenode.failures).isEmpty();
  }
}
