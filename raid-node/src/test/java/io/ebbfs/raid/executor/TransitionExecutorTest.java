package io.ebbfs.raid.executor;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.checksum.Crc32cAlgebra;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineFailureProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.raid.FakeChunks;
import io.ebbfs.raid.FakeNamenode;
import io.ebbfs.raid.channel.ChunkChannel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TransitionExecutorTest {
  private static final ClaimedTransitionProto REPAIR =
      FakeNamenode.transition(5, TransitionKindProto.REPAIR, 1, 1000);

  private final FakeNamenode namenode = new FakeNamenode();
  private final FakeChunks chunks = new FakeChunks();
  private final List<Long> pauses = new ArrayList<>();
  private final ParallelCalls threads = ParallelCalls.inThreads("test");
  private final TransitionExecutor executor = executor(chunks);

  private TransitionExecutor executor(ChunkChannel channel) {
    return new TransitionExecutor(
        "me",
        namenode,
        channel,
        new Throttle(0, () -> 0, pauses::add),
        new CombineLimiter(2, 2),
        threads,
        pauses::add);
  }

  @AfterEach
  void close() {
    threads.close();
  }

  /** A step at server 3 that computes one block from another. */
  private static StepProto step(String name, long reads, long writes) {
    return REPAIR.getSteps(0).toBuilder()
        .setCombine(
            REPAIR.getSteps(0).getCombine().toBuilder()
                .setId(name)
                .setSources(
                    0,
                    SourceProto.newBuilder()
                        .setBlock(FakeNamenode.block(reads, 1000))
                        .addLocations(FakeNamenode.location(1)))
                .setTargets(
                    0,
                    TargetProto.newBuilder()
                        .setBlock(FakeNamenode.block(writes, 1000))
                        .setLocation(FakeNamenode.location(3))))
        .build();
  }

  private static ClaimedTransitionProto of(StepProto... steps) {
    return REPAIR.toBuilder().clearSteps().addAllSteps(List.of(steps)).build();
  }

  @Test
  void everyStepIsRunInOrderAndCommittedOnce() throws Exception {
    TransitionOutcome outcome =
        executor.run(
            of(step("first", 1, 2), step("second", 2, 3), step("third", 3, 4)), id -> false);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertThat(outcome.work().bytesRead()).isEqualTo(3000);
    assertThat(chunks.combined).containsExactly("first", "second", "third");
    assertThat(chunks.mostRunning).isOne();
    assertThat(namenode.commits).hasSize(1);
    assertThat(namenode.commits.get(0).getAttempt()).isEqualTo(3);
    assertThat(namenode.commits.get(0).getResultsCount()).isEqualTo(3);
  }

  /**
   * Chunk servers that answer once a number of combines has come in, and some combines only after
   * other combines.
   */
  private final class Meeting implements ChunkChannel {
    private final CountDownLatch all;
    private final Map<String, CountDownLatch> answered = new ConcurrentHashMap<>();
    private final Map<String, String> after;

    Meeting(int size, Map<String, String> after) {
      this.all = new CountDownLatch(size);
      this.after = after;
    }

    private CountDownLatch answered(String id) {
      return answered.computeIfAbsent(id, i -> new CountDownLatch(1));
    }

    private void meet(String id, Optional<String> before) throws IOException {
      all.countDown();
      try {
        all.await();
        if (before.isPresent()) {
          answered(before.get()).await();
        }
      } catch (InterruptedException e) {
        throw new InterruptedIOException(id);
      }
    }

    @Override
    public CombineResponseProto combine(DatanodeIDProto server, CombineRequestProto request)
        throws IOException {
      meet(request.getId(), Optional.ofNullable(after.get(request.getId())));
      answered(request.getId()).countDown();
      long written = request.getTargets(0).getBlock().getBlockId();
      CombineResponseProto.Builder done = FakeChunks.done(request).toBuilder();
      done.getTargetsBuilder(0).setCrc32C((int) written);
      return done.build();
    }

    @Override
    public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request)
        throws IOException {
      meet("verify", Optional.empty());
      VerifyResponseProto.Builder response = VerifyResponseProto.newBuilder();
      for (ExtendedBlockProto block : request.getBlocksList()) {
        response.addBlocks(
            VerifiedBlockProto.newBuilder()
                .setHealth(BlockHealthProto.BLOCK_OK)
                .setLengthBytes(block.getNumBytes())
                .setCrc32C(Crc32cAlgebra.zeros(block.getNumBytes())));
      }
      return response.build();
    }
  }

  @Test
  void serversAreAskedForChecksumsAtOnce() throws Exception {
    CheckProto.Builder check = CheckProto.newBuilder().setName("all zeros").setLengthBytes(1000);
    for (int server = 1; server <= 3; server++) {
      check.addMembers(
          SourceProto.newBuilder()
              .setBlock(FakeNamenode.block(server, 1000))
              .addLocations(FakeNamenode.location(server)));
    }
    ClaimedTransitionProto checked = of().toBuilder().addChecks(check).build();
    TransitionOutcome outcome = executor(new Meeting(3, Map.of())).run(checked, id -> false);
    assertThat(outcome.result()).as(outcome.detail()).isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertThat(namenode.commits.get(0).getChecksPassed()).isOne();
  }

  @Test
  void stepsThatDoNotNeedEachOtherRunAtOnce() throws Exception {
    TransitionOutcome outcome =
        executor(new Meeting(2, Map.of("first", "second")))
            .run(of(step("first", 1, 2), step("second", 1, 3)), id -> false);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertThat(namenode.commits.get(0).getResultsList())
        .extracting(result -> result.getTargets(0).getCrc32C())
        .containsExactly(2, 3);
  }

  @Test
  void ofStepsAtOnceTheOthersEndWhenOneFailsAndAllThatFailedIsTold() throws Exception {
    chunks.answers.add(targetFailed(true));
    chunks.answers.add(targetFailed(true));
    TransitionOutcome outcome =
        executor.run(
            of(step("a", 1, 2), step("b", 1, 3), step("c", 1, 4), step("d", 4, 5)), id -> false);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(chunks.combined).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(outcome.work().bytesRead()).isEqualTo(1000);
    assertThat(outcome.detail())
        .matches(
            "combine [ab] at .*COMBINE_TARGET_FAILED.*; combine [bc] at .*COMBINE_TARGET_FAILED.*");
    assertThat(namenode.failures)
        .singleElement()
        .satisfies(
            told -> assertThat(told.getFullTargetsList()).hasSize(2).doesNotHaveDuplicates());
    assertThat(namenode.commits).isEmpty();
  }

  @Test
  void whoIsInterruptedEndsItsCombines() throws Exception {
    Meeting stuck = new Meeting(2, Map.of("first", "nothing", "second", "nothing"));
    List<Throwable> thrown = new CopyOnWriteArrayList<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                executor(stuck).run(of(step("first", 1, 2), step("second", 1, 3)), id -> false);
              } catch (Throwable e) {
                thrown.add(e);
              }
            });
    caller.start();
    stuck.all.await();
    caller.interrupt();
    caller.join();
    assertThat(thrown).singleElement().isInstanceOf(InterruptedException.class);
    assertThat(namenode.commits).isEmpty();
    assertThat(namenode.failures).isEmpty();
  }

  @Test
  void aCommitWithoutAnswerIsRepeated() throws Exception {
    namenode.commitsWithoutAnswer = 2;
    assertThat(executor.run(REPAIR, id -> false).result())
        .isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertThat(namenode.commits).hasSize(3);
  }

  @Test
  void aCommitThatNeverAnswersIsGivenUp() throws Exception {
    namenode.commitsWithoutAnswer = 1000;
    assertThat(executor.run(REPAIR, id -> false).result())
        .isEqualTo(TransitionOutcome.Result.ABANDONED);
    assertThat(namenode.commits).hasSize(7);
  }

  @Test
  void onlyReplicasThatTheirServerFindsBadAreReported() throws Exception {
    chunks.answers.add(
        CombineResponseProto.newBuilder()
            .setStatus(CombineStatusProto.COMBINE_SOURCE_FAILED)
            .addFailedSources(CombineFailureProto.newBuilder().setIndex(0).setMessage("no luck"))
            .build());
    chunks.health =
        new BlockHealthProto[] {
          BlockHealthProto.BLOCK_UNKNOWN, BlockHealthProto.BLOCK_CORRUPT, null
        };
    TransitionOutcome outcome = executor.run(REPAIR, id -> false);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
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
    assertThat(executor.run(REPAIR, id -> false).result())
        .isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(executor.run(REPAIR, id -> false).result())
        .isEqualTo(TransitionOutcome.Result.FAILED);
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
    assertThat(executor.run(REPAIR, id -> false).result())
        .isEqualTo(TransitionOutcome.Result.COMMITTED);
    for (int i = 0; i < 20; i++) {
      chunks.answers.add(busy);
    }
    assertThat(executor.run(REPAIR, id -> false).result())
        .isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(chunks.answers).hasSize(11);
  }

  @Test
  void anAnswerThatDoesNotFitIsNotCommitted() throws Exception {
    CombineResponseProto.Builder wrong =
        FakeChunks.done(REPAIR.getSteps(0).getCombine()).toBuilder();
    wrong.getTargetsBuilder(0).setLengthBytes(999);
    chunks.answers.add(wrong.build());
    TransitionOutcome outcome = executor.run(REPAIR, id -> false);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("target 0 has 999 bytes, wanted 1000");
    assertThat(namenode.commits).isEmpty();
  }

  @Test
  void aLostClaimIsNotCommitted() throws Exception {
    assertThat(executor.run(REPAIR, id -> !chunks.combined.isEmpty()).result())
        .isEqualTo(TransitionOutcome.Result.ABANDONED);
    assertThat(chunks.combined).hasSize(1);
    assertThat(namenode.commits).isEmpty();
    assertThat(namenode.failures).isEmpty();
  }

  // ---- the replica that an encoding keeps -------------------------------------------------------

  /** Block 1 stays on the disk of server 1. The combine may have read it from server 2. */
  private static ClaimedTransitionProto encoding() {
    ClaimedTransitionProto encode = FakeNamenode.transition(5, TransitionKindProto.ENCODE, 1, 1000);
    StepProto step = step("encode", 1, 2);
    SourceProto source =
        step.getCombine().getSources(0).toBuilder()
            .clearLocations()
            .addLocations(FakeNamenode.location(2))
            .addLocations(FakeNamenode.location(1))
            .build();
    return encode.toBuilder()
        .clearSteps()
        .addSteps(step.toBuilder().setCombine(step.getCombine().toBuilder().setSources(0, source)))
        .setTransition(
            encode.getTransition().toBuilder()
                .clearBlocks()
                .clearOutputs()
                .addBlocks(
                    TransitionBlockProto.newBuilder()
                        .setStripeIndex(0)
                        .setPosition(0)
                        .setOwnerId(1)
                        .setOwnerIndex(0)
                        .setBlockId(1)
                        .setKeepStorageUuid(FakeNamenode.location(1).getStorageUuid())))
        .build();
  }

  /** Servers that combine, and of which server 1 says this of its replica. */
  private ChunkChannel holderSays(VerifiedBlockProto answer, List<VerifyRequestProto> asked) {
    return new ChunkChannel() {
      @Override
      public CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request) {
        return FakeChunks.done(request);
      }

      @Override
      public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request)
          throws IOException {
        if (server.getIpcPort() != 1) {
          throw new IOException("not the holder");
        }
        assertThat(namenode.commits).isEmpty();
        asked.add(request);
        return VerifyResponseProto.newBuilder().addBlocks(answer).build();
      }
    };
  }

  private static VerifiedBlockProto.Builder health(BlockHealthProto health) {
    return VerifiedBlockProto.newBuilder().setHealth(health);
  }

  @Test
  void theReplicaThatStaysIsSyncedAndReadBeforeTheCommit() throws Exception {
    List<VerifyRequestProto> asked = new ArrayList<>();
    VerifiedBlockProto safe = health(BlockHealthProto.BLOCK_OK).setSynced(true).build();
    assertThat(executor(holderSays(safe, asked)).run(encoding(), id -> false).result())
        .isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertThat(asked).hasSize(1);
    assertThat(asked.get(0).getSync()).isTrue();
    assertThat(asked.get(0).getChecksumsOnly()).isFalse();
    assertThat(asked.get(0).getBlocks(0).getBlockId()).isEqualTo(1);
  }

  /** An old server ignores the wish and leaves the answer out. */
  @Test
  void aReplicaThatWasNotSyncedKeepsItsCopies() throws Exception {
    VerifiedBlockProto old = health(BlockHealthProto.BLOCK_OK).build();
    TransitionOutcome outcome =
        executor(holderSays(old, new ArrayList<>())).run(encoding(), id -> false);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("did not sync");
    assertThat(namenode.commits).isEmpty();
    assertThat(namenode.failures.get(0).getBadBlocksList()).isEmpty();
  }

  @Test
  void aCorruptReplicaThatWasToStayIsReportedAndKeepsItsCopies() throws Exception {
    VerifiedBlockProto corrupt = health(BlockHealthProto.BLOCK_CORRUPT).build();
    assertThat(
            executor(holderSays(corrupt, new ArrayList<>())).run(encoding(), id -> false).result())
        .isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(namenode.commits).isEmpty();
    assertThat(namenode.failures.get(0).getBadBlocks(0).getLocation())
        .isEqualTo(FakeNamenode.location(1));
  }
}
