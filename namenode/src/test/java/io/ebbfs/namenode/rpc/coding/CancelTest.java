package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CancelRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator ends transitions. */
class CancelTest {
  private CodingCluster cluster;

  @BeforeEach
  void propose() throws Exception {
    cluster = new CodingCluster(12, 6, 1);
    cluster.createFile(10, 1000, true);
    encode();
  }

  private void encode() throws Exception {
    cluster.propose(TransitionKindProto.ENCODE, Codes.PC_FAST, cluster.fileIds(), List.of());
  }

  private String cancel(long id) throws Exception {
    return cluster
        .coding
        .cancel(
            null,
            CancelRequestProto.newBuilder().setTransitionId(id).setReason("cancelled").build())
        .getRefusal();
  }

  @Test
  void aPlannedTransitionEndsAndItsBlocksAreFree() throws Exception {
    long id = cluster.active().get(0).getId();
    assertThat(cancel(id)).isEmpty();
    assertThat(cluster.transition(id).getState()).isEqualTo(TransitionStateProto.FAILED);
    assertThat(cluster.transition(id).getFailure()).isEqualTo("cancelled");
    assertThat(cancel(id)).contains("has ended as FAILED");
    assertThat(cancel(999_999)).contains("there is no transition 999999");
    encode();
    cluster.runAll();
    assertThat(cluster.stripeList()).isNotEmpty();
    cluster.assertAllReadable();
  }

  @Test
  void aRunningTransitionLeavesNothingBehindAndIsNotCommitted() throws Exception {
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    long id = claimed.getTransition().getId();
    assertThat(cancel(id)).isEmpty();
    var commit =
        cluster.coding.commit(
            null,
            CommitRequestProto.newBuilder()
                .setWorker(claimed.getTransition().getWorker())
                .setTransitionId(id)
                .setAttempt(claimed.getTransition().getAttempt())
                .addAllResults(results)
                .setChecksPassed(claimed.getChecksCount())
                .build());
    assertThat(commit.getCommitted()).isFalse();
    assertThat(cluster.stripeList()).isEmpty();
    cluster.runAll();
    cluster.assertNoOrphans();
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }

  @Test
  void aRepairGoesOn() throws Exception {
    cluster.runAll();
    cluster.servers.kill(cluster.servers.servers().get(0));
    long deadline = cluster.now() + 3_600_000;
    while (cluster.active().isEmpty() && cluster.now() < deadline) {
      cluster.advance(10_000);
      cluster.coding.tick();
    }
    long id = cluster.active().get(0).getId();
    assertThat(cluster.transition(id).getKind()).isEqualTo(TransitionKindProto.REPAIR);
    assertThat(cancel(id)).contains("of kind REPAIR", "plan it again at once");
    assertThat(cluster.active()).isNotEmpty();
  }
}
