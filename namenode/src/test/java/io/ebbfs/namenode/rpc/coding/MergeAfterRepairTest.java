package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three stripes of RS(4,2) merge into one of RS(12,2), of which a server holds two blocks at most.
 * A repair that sees its own stripe alone soon puts a third one on some server.
 */
class MergeAfterRepairTest {
  private static final int GROUPS = 8;

  private static CodeRegistry codes() {
    ErasureCode fast = Codes.named("m3-fast", 2, "RS(4,2)");
    ErasureCode compact = Codes.named("m3-compact", 2, "RS(12,2)");
    return CodeRegistry.of(List.of(fast, compact), List.of(new CodeFamily("m3", fast, compact)));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void repairedStripesCanStillBeMerged(long seed) throws Exception {
    CodingCluster cluster = new CodingCluster(codes(), 9, 6, seed);
    for (int i = 0; i < GROUPS; i++) {
      cluster.createFile(12, 64, true);
    }
    cluster.propose(TransitionKindProto.ENCODE, "m3-fast", cluster.fileIds(), List.of());
    cluster.runAll();
    assertThat(cluster.stripeIds()).hasSize(3 * GROUPS);
    cluster.servers.kill(cluster.servers.servers().get(3));
    cluster.runAll();
    assertThat(cluster.stripeList()).allMatch(stripe -> stripe.getLostPositionsCount() == 0);
    cluster.propose(TransitionKindProto.UPCODE, "m3-compact", List.of(), cluster.stripeIds());
    cluster.runAll();
    List<TransitionRow> upcodes =
        cluster.transitions().stream()
            .filter(t -> t.getKind() == TransitionKindProto.UPCODE)
            .toList();
    assertThat(upcodes).hasSize(GROUPS);
    assertThat(upcodes)
        .as("seed %d", seed)
        .allMatch(t -> t.getState() == TransitionStateProto.DONE);
    assertThat(cluster.stripeIds()).hasSize(GROUPS);
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }
}
