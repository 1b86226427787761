package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.raid.channel.RpcChunkChannel;
import io.ebbfs.raid.executor.CombineLimiter;
import io.ebbfs.raid.executor.ParallelCalls;
import io.ebbfs.raid.executor.Throttle;
import io.ebbfs.raid.executor.TransitionExecutor;
import io.ebbfs.raid.executor.TransitionOutcome;
import io.ebbfs.testbed.client.StockProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Real chunk servers compute wrong parities by order. They or the worker notice it. */
@Tag("process")
class PlantedFaultSystemTest {
  private static final String WORKER = "test";

  @Test
  void wrongParitiesAreNeverPublished() throws Exception {
    try (TestCluster test =
            TestCluster.start(
                6, 4, Map.of("namenode.yaml", "minBlockSize: 64KiB\nmendPlacements: false\n"));
        StockProcess client = test.client(1);
        NamenodeClient namenode = test.cluster().namenodeClient();
        RpcChunkChannel chunks = new RpcChunkChannel(60_000, test.cluster().serviceKey())) {
      // This test runs the transitions instead of the raid-node.
      test.cluster().killControl();
      // Parities that are plain sums are checked by checksums, those of RS in memory.
      encodes(test, client, namenode.coding(), chunks, "PC(2x5)", 10, "/sums");
      encodes(test, client, namenode.coding(), chunks, "RS(6,3)", 12, "/others");
    }
  }

  private static void encodes(
      TestCluster test,
      StockProcess client,
      CodingProtocol coding,
      RpcChunkChannel chunks,
      String code,
      int blocks,
      String path)
      throws Exception {
    byte[] bytes = new byte[blocks * TestCluster.BLOCK_BYTES];
    new Random(path.hashCode()).nextBytes(bytes);
    Path local = Files.write(test.directory().resolve("data"), bytes);
    String sha256 = client.put(local, path).get().sha256();
    Files.delete(local);
    long fileId =
        coding
            .listFiles(null, ListFilesRequestProto.newBuilder().setPath(path).build())
            .getFiles(0)
            .getFileId();
    int stripes = stripes(coding);
    coding.propose(
        null,
        ProposeRequestProto.newBuilder()
            .addDecisions(
                DecisionProto.newBuilder()
                    .setKind(TransitionKindProto.ENCODE)
                    .addFileIds(fileId)
                    .setToCode(code)
                    .setPolicy("test")
                    .setReason("a test"))
            .build());
    for (UnaryOperator<CombineRequestProto> fault :
        List.<UnaryOperator<CombineRequestProto>>of(
            PlantedFaultSystemTest::withFlippedCoefficient,
            PlantedFaultSystemTest::withSwappedSources)) {
      TransitionOutcome outcome = run(coding, tampered(chunks, fault));
      assertThat(outcome.result()).as("%s", outcome).isEqualTo(TransitionOutcome.Result.FAILED);
      assertThat(outcome.detail()).contains("check of ", " failed: ", "block");
      assertThat(stripes(coding)).isEqualTo(stripes);
      assertThat(client.read(path).get().sha256()).isEqualTo(sha256);
    }
    TransitionOutcome outcome = run(coding, chunks);
    assertThat(outcome.result()).as("%s", outcome).isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertThat(outcome.work().checks()).isPositive();
    assertThat(outcome.work().blocksRead()).isEqualTo(blocks);
    assertThat(outcome.work().checkBlocksRead()).isZero();
    assertThat(stripes(coding)).isGreaterThan(stripes);
    assertThat(client.read(path).get().sha256()).isEqualTo(sha256);
    assertThat(counter(coding, "verificationsFailed.ENCODE")).isPositive();
  }

  private static int stripes(CodingProtocol coding) throws Exception {
    return coding.listStripes(null, ListStripesRequestProto.getDefaultInstance()).getStripesCount();
  }

  private static long counter(CodingProtocol coding, String name) throws Exception {
    return coding
        .getCluster(
            null, io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto.getDefaultInstance())
        .getCountersList()
        .stream()
        .filter(count -> count.getName().equals(name))
        .mapToLong(count -> count.getValue())
        .sum();
  }

  /** Claims the transition, as soon as its back-off is over, and runs it. */
  private static TransitionOutcome run(CodingProtocol coding, ChunkChannel chunks)
      throws Exception {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (System.nanoTime() < deadline) {
      List<ClaimedTransitionProto> claimed =
          coding
              .claim(
                  null,
                  ClaimRequestProto.newBuilder()
                      .setWorker(WORKER)
                      .setLimit(1)
                      .setLeaseMillis(120_000)
                      .build())
              .getClaimedList();
      if (!claimed.isEmpty()) {
        return new TransitionExecutor(
                WORKER,
                coding,
                chunks,
                new Throttle(0, System::nanoTime, Thread::sleep),
                new CombineLimiter(1, 1),
                ParallelCalls.inTurn(),
                Thread::sleep)
            .run(claimed.get(0), id -> false);
      }
      Thread.sleep(100); // until the next claim
    }
    throw new AssertionError("nothing was to be claimed for a minute");
  }

  private static ChunkChannel tampered(
      ChunkChannel chunks, UnaryOperator<CombineRequestProto> fault) {
    return new ChunkChannel() {
      @Override
      public CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request)
          throws IOException {
        return chunks.combine(executor, request.getCheck() ? request : fault.apply(request));
      }

      @Override
      public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request)
          throws IOException {
        return chunks.verify(server, request);
      }
    };
  }

  private static CombineRequestProto withFlippedCoefficient(CombineRequestProto request) {
    byte[] coefficients = request.getCoefficients().toByteArray();
    coefficients[coefficients.length / 2] ^= 4;
    return request.toBuilder().setCoefficients(ByteString.copyFrom(coefficients)).build();
  }

  /** Swaps two sources that have different coefficients in some output. */
  private static CombineRequestProto withSwappedSources(CombineRequestProto request) {
    int width = request.getSourcesCount();
    byte[] coefficients = request.getCoefficients().toByteArray();
    for (int other = 1; other < width; other++) {
      for (int row = 0; row < coefficients.length; row += width) {
        if (coefficients[row] != coefficients[row + other]) {
          SourceProto first = request.getSources(0);
          return request.toBuilder()
              .setSources(0, request.getSources(other))
              .setSources(other, first)
              .build();
        }
      }
    }
    throw new AssertionError("all sources are alike to every output");
  }
}
