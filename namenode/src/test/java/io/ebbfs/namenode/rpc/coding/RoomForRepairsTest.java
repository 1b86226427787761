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
    assertThat(repairs(cluster)).isEqualTo(1);
  }

  private static long repairs(CodingCluster cluster) throws Exception {
    return cluster.active().stream()
        .map(TransitionRow::getKind)
        .filter(TransitionKindProto.REPAIR::equals)
        .count();
  }

  /** The client of a truncation waits; else the stripe would wait for its server. */
  @Test
  void aRepairForATruncationComesOnceThereIsRoom() throws Exception {
    CodingCluster cluster = new CodingCluster(14, 6, 20_261_127L, SETTINGS);
    long[] files = new long[MOST_ACTIVE + 1];
    for (int i = 0; i < files.length; i++) {
      files[i] = cluster.createFile(6, BLOCK, true);
      cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(files[i]), List.of());
      cluster.runAll();
    }
    long truncated = files[MOST_ACTIVE];
    String away = cluster.servers.serverOf(cluster.live(truncated, 0).get(0));
    cluster.servers.kill(away);
    cluster.servers.hibernating.add(away);
    for (int i = 0; i < MOST_ACTIVE; i++) {
      failDisk(cluster, files[i], away);
    }
    cluster.coding.tick();
    assertThat(repairs(cluster)).isEqualTo(MOST_ACTIVE);
    cluster.coding.freer().free(truncated, cluster.block(truncated, 1));
    cluster.coding.tick();
    assertThat(repairs(cluster)).as("there is no room for another").isEqualTo(MOST_ACTIVE);
    cluster.runAll();
    assertThat(cluster.live(truncated, 0)).hasSize(1);
  }

  /** Fails a disk with a block of a file and nothing else, that is not of a server. */
  private static void failDisk(CodingCluster cluster, long file, String notOf) throws Exception {
    for (int i = 0; i < 6; i++) {
      for (String disk : cluster.live(file, i)) {
        if (cluster.servers.on(disk).size() == 1 && !cluster.servers.serverOf(disk).equals(notOf)) {
          cluster.servers.failDisk(disk);
          return;
        }
      }
    }
    throw new AssertionError("no block is alone on its disk");
  }
}
