package io.ebbfs.raid;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
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

  @Test
  void batchesBecomeJobsAndEveryTransitionIsCommitted() throws Exception {
    FakeChunks chunks = new FakeChunks();
    for (int i = 0; i < 200; i++) {
      namenode.planned.add(
          FakeNamenode.transition(
              i, i % 10 == 0 ? TransitionKindProto.REPAIR : TransitionKindProto.ENCODE, i, 1000));
    }
    try (RaidNode node = new RaidNode(CONFIG, data, "-", () -> namenode, chunks)) {
      node.start();
      namenode.awaitCommits(200);
      while (node.totals().getOrDefault("ENCODE.committed", 0L) < 180
          || node.totals().getOrDefault("REPAIR.committed", 0L) < 20) {
        Thread.onSpinWait();
      }
      assertThat(node.totals()).containsEntry("ENCODE.bytesRead", 180_000L);
      assertThat(node.jobs()).hasSize(4);
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

  /** The first combine is not answered before the latch is open. */
  private static ChunkChannel firstIsSlow(CountDownLatch go) {
    AtomicInteger combines = new AtomicInteger();
    return new ChunkChannel() {
      @Override
      public CombineResponseProto combine(DatanodeIDProto s, CombineRequestProto request)
          throws IOException {
        if (combines.getAndIncrement() == 0) {
          try {
            go.await();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
        }
        return FakeChunks.done(request);
      }

      @Override
      public VerifyResponseProto verify(DatanodeIDProto s, VerifyRequestProto request) {
        throw new UnsupportedOperationException();
      }
    };
  }

  @Test
  void claimsAreRenewedWhileACombineRuns() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    namenode.planned.add(FakeNamenode.transition(1, TransitionKindProto.ENCODE, 1, 10));
    try (RaidNode node = new RaidNode(CONFIG, data, "-", () -> namenode, firstIsSlow(go))) {
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
    namenode.planned.add(FakeNamenode.transition(1, TransitionKindProto.REPAIR, 1, 10));
    try (RaidNode node = new RaidNode(CONFIG, data, "-", () -> namenode, firstIsSlow(go))) {
      node.start();
      namenode.awaitRenewal(1);
      synchronized (namenode) {
        namenode.planned.add(FakeNamenode.transition(2, TransitionKindProto.REPAIR, 2, 10));
      }
      node.wake();
      namenode.awaitCommits(1);
      assertThat(namenode.commits.get(0).getTransitionId()).isEqualTo(2);
      go.countDown();
      namenode.awaitCommits(2);
    }
  }
}
