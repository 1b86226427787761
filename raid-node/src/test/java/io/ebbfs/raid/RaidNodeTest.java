package io.ebbfs.raid;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.config.ScrubConfig;
import io.ebbfs.raid.executor.ExecutorResources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real MapReduce jobs of the local runner. */
@Timeout(120)
final class RaidNodeTest {
  private static final int TASKS = 4;
  private static final long LONG_LIFE_MILLIS = 600_000;

  @TempDir Path data;
  private final FakeNamenode namenode = new FakeNamenode();

  /** Has a permit for each combine that waits for its latch. */
  private final Semaphore waiting = new Semaphore(0);

  private RaidNode node(int executors, int combines, long lifeMillis, ChunkChannel chunks)
      throws IOException {
    RaidConfig config =
        new RaidConfig(
            64,
            TASKS,
            1_000,
            20,
            combines,
            combines,
            10_000,
            0,
            executors,
            lifeMillis,
            "local",
            Optional.empty(),
            Optional.empty(),
            ScrubConfig.DEFAULTS);
    ExecutorResources resources = ExecutorResources.of(config, namenode, chunks, () -> {});
    return new RaidNode(config, CodeRegistry.builtIn(), data, "-", ServiceKey.NONE, resources);
  }

  private void plan(TransitionKindProto kind, long... ids) {
    synchronized (namenode) {
      for (long id : ids) {
        namenode.planned.add(FakeNamenode.transition(id, kind, id, 10));
      }
    }
  }

  @Test
  void everyTransitionIsCommittedOnceByOneOfTheExecutors() throws Exception {
    FakeChunks chunks = new FakeChunks();
    for (int i = 0; i < 200; i++) {
      plan(i % 10 == 0 ? TransitionKindProto.REPAIR : TransitionKindProto.ENCODE, i);
    }
    try (RaidNode node = node(3, 4, LONG_LIFE_MILLIS, chunks)) {
      node.start();
      namenode.awaitCommits(200);
    }
    assertThat(namenode.commits.stream().map(c -> c.getTransitionId()).distinct()).hasSize(200);
    assertThat(chunks.mostRunning).isLessThanOrEqualTo(4);
    // Hadoop's local runner deletes the files of a job in the background.
    while (!files().isEmpty()) {
      Thread.sleep(10);
    }
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> left = Files.walk(data)) {
      return left.filter(Files::isRegularFile).toList();
    } catch (UncheckedIOException e) {
      return List.of(data); // a directory was deleted meanwhile
    }
  }

  /** Each transition comes while executors live that have begun before it. */
  @Test
  void jobsTakeTurnsAndTransitionsGoOn() throws Exception {
    try (RaidNode node = node(1, 4, 400, new FakeChunks())) {
      node.start();
      for (int i = 1; namenode.workers.size() < 6; i++) {
        plan(TransitionKindProto.REPAIR, i);
        namenode.awaitCommits(i);
      }
    }
    assertThat(namenode.workers).allMatch(name -> name.matches("raid_local\\d+_\\d+_m_\\d+_0"));
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

  @Test
  void claimsAreRenewedWhileACombineRuns() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    plan(TransitionKindProto.ENCODE, 1);
    try (RaidNode node = node(1, 64, LONG_LIFE_MILLIS, slow(Map.of(1L, go)))) {
      node.start();
      namenode.awaitRenewal(1);
      go.countDown();
      namenode.awaitCommits(1);
    }
  }

  @Test
  void aSlowTransitionHoldsUpNoOther() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    plan(TransitionKindProto.REPAIR, 1);
    try (RaidNode node = node(1, 64, LONG_LIFE_MILLIS, slow(Map.of(1L, go)))) {
      node.start();
      waiting.acquire();
      plan(TransitionKindProto.REPAIR, 2, 3, 4, 5, 6, 7, 8, 9);
      namenode.awaitCommits(8);
      assertThat(namenode.commits)
          .extracting(CommitRequestProto::getTransitionId)
          .doesNotContain(1L);
      go.countDown();
      namenode.awaitCommits(9);
    }
  }

  /** Conversions that hang keep all places of conversions, and what is not claimed waits. */
  @Test
  void aRepairWaitsForNoConversion() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    int places = RaidConfig.JOBS_AT_ONCE * TASKS;
    plan(TransitionKindProto.ENCODE, LongStream.rangeClosed(1, places + 3).toArray());
    ChunkChannel slowEncodes =
        slow(
            LongStream.rangeClosed(1, places + 3)
                .boxed()
                .collect(Collectors.toMap(id -> id, id -> go)));
    try (RaidNode node = node(1, 64, LONG_LIFE_MILLIS, slowEncodes)) {
      node.start();
      namenode.awaitPlanned(3);
      plan(TransitionKindProto.REPAIR, 100);
      namenode.awaitCommits(1);
      assertThat(namenode.commits.get(0).getTransitionId()).isEqualTo(100);
      go.countDown();
      namenode.awaitCommits(places + 4);
    }
  }
}
