package io.ebbfs.raid.executor;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.CheckedSourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.OutputCheckProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.CombinedCheckProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.raid.FakeChunks;
import io.ebbfs.raid.FakeNamenode;
import io.ebbfs.raid.channel.ChunkChannel;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

/** A combine that checks its outputs in memory, and what the executor makes of its answer. */
final class CheckedCombineTest {
  private static final ClaimedTransitionProto CLAIMED = claimed();
  private static final long SOURCE = 50;
  private static final long TARGET = 51;

  private final FakeNamenode namenode = new FakeNamenode();
  private final Map<Long, Integer> stored = new HashMap<>(Map.of(SOURCE, 3, TARGET, 7));
  private CombineResponseProto answer =
      FakeChunks.done(CLAIMED.getSteps(0).getCombine()).toBuilder()
          .addCheckedSources(CheckedSourceProto.newBuilder().setLengthBytes(1000).setCrc32C(3))
          .build();

  /** One source, one target, and the check that the combine decodes the source from the target. */
  private static ClaimedTransitionProto claimed() {
    ClaimedTransitionProto.Builder claimed =
        FakeNamenode.transition(5, TransitionKindProto.REPAIR, 1, 1000).toBuilder();
    CombineRequestProto.Builder combine = claimed.getStepsBuilder(0).getCombineBuilder();
    combine.setOutputCheck(
        OutputCheckProto.newBuilder()
            .addDecodedSources(0)
            .addTargets(0)
            .setCoefficients(ByteString.copyFrom(new byte[] {1, 0})));
    TargetProto target = combine.getTargets(0);
    return claimed
        .addChecks(
            CheckProto.newBuilder()
                .setName("P1 of stripe 1")
                .setCombined(CombinedCheckProto.newBuilder().setStep(0).addTargets(0))
                .addMembers(
                    SourceProto.newBuilder()
                        .setBlock(target.getBlock())
                        .addLocations(target.getLocation()))
                .addMembers(combine.getSources(0)))
        .build();
  }

  private TransitionOutcome run(ClaimedTransitionProto claimed) throws InterruptedException {
    ChunkChannel chunks =
        new ChunkChannel() {
          @Override
          public CombineResponseProto combine(DatanodeIDProto server, CombineRequestProto request) {
            return answer;
          }

          @Override
          public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request) {
            VerifyResponseProto.Builder response = VerifyResponseProto.newBuilder();
            for (ExtendedBlockProto block : request.getBlocksList()) {
              response.addBlocks(
                  VerifiedBlockProto.newBuilder()
                      .setHealth(BlockHealthProto.BLOCK_OK)
                      .setLengthBytes(block.getNumBytes())
                      .setCrc32C(stored.get(block.getBlockId())));
            }
            return response.build();
          }
        };
    return new TransitionExecutor(
            "me",
            namenode,
            chunks,
            new Throttle(0, () -> 0, millis -> {}),
            new CombineLimiter(1, 1),
            ParallelCalls.inTurn(),
            millis -> {})
        .run(claimed, id -> false);
  }

  private void assertFails(boolean wrong, String... words) throws InterruptedException {
    TransitionOutcome outcome = run(CLAIMED);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains(words);
    assertThat(namenode.failures).singleElement();
    assertThat(namenode.failures.get(0).getVerificationFailed()).isEqualTo(wrong);
    assertThat(namenode.commits).isEmpty();
  }

  @Test
  void whatWasCheckedInMemoryAndIsStoredIsCommitted() throws Exception {
    TransitionOutcome outcome = run(CLAIMED);
    assertThat(outcome.result()).as(outcome.detail()).isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertThat(outcome.work().checks()).isOne();
    assertThat(outcome.work().checkBlocksRead()).isZero();
    assertThat(namenode.commits.get(0).getResults(0).getCheckedSourcesCount()).isOne();
  }

  @Test
  void wrongOutputsAreReportedAsSuch() throws Exception {
    answer =
        CombineResponseProto.newBuilder()
            .setStatus(CombineStatusProto.COMBINE_OUTPUTS_WRONG)
            .setMessage("block 50, decoded back, differs at byte 3")
            .build();
    assertFails(true, "check of the outputs of combine t5 at ", " failed: ", "block 50");
  }

  @Test
  void aServerThatIgnoresTheCheckFailsTheAttempt() throws Exception {
    answer = answer.toBuilder().clearCheckedSources().build();
    assertFails(false, "did not check its outputs", "give it the namenode's version");
  }

  /** The bytes changed on their way from the checked memory to the disk. */
  @Test
  void anOutputThatIsStoredOtherwiseFails() throws Exception {
    stored.put(TARGET, 8);
    assertFails(true, "check of P1 of stripe 1 failed", "block 51", "crc32c 00000008");
  }

  /** The bytes changed on their way from the disk to memory, or another block was read. */
  @Test
  void aSourceThatIsStoredOtherwiseFails() throws Exception {
    stored.put(SOURCE, 4);
    assertFails(true, "check of P1 of stripe 1 failed", "block 50", "crc32c 00000004");
  }

  @Test
  void aCheckOfAStepThatDoesNotExistFails() throws Exception {
    ClaimedTransitionProto.Builder other = CLAIMED.toBuilder();
    other.getChecksBuilder(0).getCombinedBuilder().setStep(1);
    TransitionOutcome outcome = run(other.build());
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("the same version");
    assertThat(namenode.commits).isEmpty();
  }
}
