package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ByteRate;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Re-replication keeps to its bytes per second, at each server and in the cluster. */
class CopyRateTest {
  private static final int DEAD_SECONDS = 10;

  private final List<BlockRow> blocks = new ArrayList<>();
  private BlockFixture f;

  private void start(ByteRate rate, int files) throws IOException {
    f = new BlockFixture(11, 8, 3, BlockFixture.settings().withCopyRate(rate));
    f.registerAll();
    for (int i = 0; i < files; i++) {
      blocks.add(f.writeFile(3));
    }
    f.seconds(5);
  }

  private long blocksOn(SimulatedServer server) {
    return server.disks.values().stream().mapToLong(Map::size).sum();
  }

  private long missing() throws IOException {
    long missing = 0;
    for (BlockRow block : blocks) {
      missing += 3 - f.liveReplicas(block.getBlockId());
    }
    return missing;
  }

  /** Kills a server and watches the blocks arrive; returns the seconds until all are whole. */
  private int watch(long mostPerServer, long mostInCluster) throws IOException {
    SimulatedServer victim = f.servers.values().iterator().next();
    Map<SimulatedServer, Long> before = new HashMap<>();
    f.servers.values().forEach(server -> before.put(server, blocksOn(server)));
    victim.kill();
    f.seconds(DEAD_SECONDS);
    int seconds = 0;
    while (missing() > 0 || seconds < 5) {
      f.second();
      seconds++;
      assertThat(seconds).as("it ends").isLessThan(500);
      long received = 0;
      for (SimulatedServer server : f.servers.values()) {
        long more = blocksOn(server) - before.get(server);
        assertThat(more).isLessThanOrEqualTo(mostPerServer * (seconds + 3) + 1);
        received += more;
      }
      assertThat(received).isLessThanOrEqualTo(mostInCluster * (seconds + 3) + 1);
    }
    return seconds;
  }

  @Test
  void copiesKeepToTheRateOfEachServer() throws IOException {
    start(new ByteRate(BlockFixture.BLOCK_BYTES, 0), 150);
    assertThat(watch(1, 1_000)).isGreaterThan(10);
  }

  /** A copy is read and written. */
  @Test
  void copiesKeepToTheRateOfTheCluster() throws IOException {
    start(new ByteRate(0, 4 * BlockFixture.BLOCK_BYTES), 150);
    assertThat(watch(1_000, 2)).isGreaterThan(20);
  }
}
