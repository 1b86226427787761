package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Transitions of other kinds take no room from repairs, however many of them are planned. */
final class RoomForRepairsTest {
  private static final int BLOCK = 64;
  private static final int MOST_ACTIVE = 2;
  private static final TransitionSettings SETTINGS =
      new TransitionSettings(
          6,
          1_000,
          60_000,
          600_000,
          256,
          MOST_ACTIVE,
          10_000,
          10_000,
          1_000,
          500,
          0.5,
          CodingCluster.SETTINGS.verification(),
          false);

  @Test
  void aRepairIsPlannedBesideAFullQueueOfEncodings() throws Exception {
    CodingCluster cluster = new CodingCluster(14, 6, 20_261_123L, SETTINGS);
    long stored = cluster.createFile(6, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(stored), List.of());
    cluster.runAll();
    for (int i = 0; i < MOST_ACTIVE; i++) {
      long waits = cluster.createFile(6, BLOCK, true);
      cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(waits), List.of());
    }
    assertThat(cluster.active()).hasSize(MOST_ACTIVE);
    cluster.servers.kill(cluster.servers.serverOf(cluster.live(stored, 0).get(0)));
    cluster.stripes.check(cluster.stripeIds().get(0));
    cluster.coding.tick();
    assertThat(cluster.active())
        .extracting(TransitionRow::getKind)
        .contains(TransitionKindProto.REPAIR);
  }
}
