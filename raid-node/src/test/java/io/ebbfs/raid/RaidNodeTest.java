package io.ebbfs.raid;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.config.ScrubConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real MapReduce jobs of the local runner. */
@Timeout(120)
final class RaidNodeTest {
  private static final RaidConfig CONFIG =
      new RaidConfig(
          64, 4, 1_000, 20, 4, 4, 10_000, 0, "local", Optional.empty(), ScrubConfig.DEFAULTS);

  @TempDir Path data;
  private final FakeNamenode namenode = new FakeNamenode();

  /** Has a permit for each combine that waits for its latch. */
  private final Semaphore waiting = new Semaphore(0);

  @Test
  void batchesBecomeJobsAndEveryTransitionIsCommitted() throws Exception {
    FakeChunks chunks = new FakeChunks();
    for (int i = 0; i < 200; i++) {
      namenode.planned.add(
          FakeNamenode.transition(
              i, i % 10 == 0 ? TransitionKindProto.REPAIR : TransitionKindProto.ENCODE, i, 1000));
    }
    try (RaidNode node =
        new RaidNode(CONFIG, CodeRegistry.builtIn(), data, "-", ServiceKey.NONE, () -> namenode, chunks)) {
      node.start();
      namenode.awaitCommits(200);
      while (node.totals().getOrDefault("ENCODE.committed", 0L) < 180
          || node.totals().getOrDefault("REPAIR.committed", 0L) < 20) {
        Thread.onSpinWait();
      }
      assertThat(node.totals()).containsEntry("ENCODE.bytesRead", 180_000L);
      // One job of repairs, and one or two jobs that share the encodes.
      assertThat(node.jobs()).hasSizeBetween(2, 3);
      assertThat(node.jobs())
          .allSatisfy(
              job -> {
                assertThat(job.state()).isEqualTo("SUCCEEDED");
                assertThat(job.id()).startsWith("job_local");
              });
    }
    assertThat(namenode.commits.stream().map(c -> c.getTransitionId()).distinct()).hasSize(200);
    assertThat(chunks.mostRunning).isLessThanOrEqualTo(4);
    try (var left = Files.walk(data)) {
      assertThat(left.filter(Files::isRegularFile)).isEmpty();
    }
  }

  /** Holds back the combines of some transitions until their latch is open. */
  private ChunkChannel slow(Map<Long, CountDownLatch> latches) {
    return new ChunkChannel() {
      @Override
      public CombineResponseProto combine(DatanodeIDProto s, CombineRequestProto request)
          throws IOException {
        CountDownLatch latch = latches.get(Long.parseLong(request.getId().substring(1)));
        try {
          if (latch != null) {
            waiting.release();
            latch.await();
          }
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
        return FakeChunks.done(request);
      }

      @Override
      public VerifyResponseProto verify(DatanodeIDProto s, VerifyRequestProto request) {
        throw new UnsupportedOperationException();
      }
    };
  }

  private RaidNode node(ChunkChannel chunks) throws IOException {
    return new RaidNode(CONFIG, CodeRegistry.builtIn(), data, "-", ServiceKey.NONE, () -> namenode, chunks);
  }

  private void plan(long... ids) {
    synchronized (namenode) {
      for (long id : ids) {
        namenode.planned.add(FakeNamenode.transition(id, TransitionKindProto.REPAIR, id, 10));
      }
    }
  }

  @Test
  void claimsAreRenewedWhileACombineRuns() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    namenode.planned.add(FakeNamenode.transition(1, TransitionKindProto.ENCODE, 1, 10));
    try (RaidNode node = node(slow(Map.of(1L, go)))) {
      node.start();
      namenode.awaitRenewal(1);
      go.countDown();
      namenode.awaitCommits(1);
    }
  }

  @Test
  @Timeout(60)
  void aSlowTransitionHoldsUpNoOtherJob() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    plan(1);
    try (RaidNode node = node(slow(Map.of(1L, go)))) {
      node.start();
      namenode.awaitRenewal(1);
      plan(2);
      node.wake();
      namenode.awaitCommits(1);
      assertThat(namenode.commits.get(0).getTransitionId()).isEqualTo(2);
      go.countDown();
      namenode.awaitCommits(2);
    }
  }

  @Test
  @Timeout(60)
  void mapsThatAreDoneClaimMoreWhileOthersOfTheirJobsWork() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch last = new CountDownLatch(1);
    plan(1, 2);
    try (RaidNode node = node(slow(Map.of(1L, last, 2L, go, 3L, last, 4L, go)))) {
      node.start();
      waiting.acquire(2);
      plan(3, 4);
      node.wake();
      waiting.acquire(2);
      // Both jobs of the queue have a map that still runs.
      plan(5, 6, 7, 8);
      go.countDown();
      namenode.awaitCommits(6);
      assertThat(namenode.commits)
          .extracting(CommitRequestProto::getTransitionId)
          .containsExactlyInAnyOrder(2L, 4L, 5L, 6L, 7L, 8L);
      last.countDown();
      namenode.awaitCommits(8);
    }
  }
}
