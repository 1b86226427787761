package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.Block;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Re-replication waits for servers and disks that may come back, unless a block is at risk. */
class CopyDelayTest {
  private static final int DEAD_SECONDS = 10;
  private static final int DELAY_SECONDS = 60;

  private final List<BlockRow> blocks = new ArrayList<>();
  private BlockFixture f;

  @BeforeEach
  void start() throws IOException {
    f = new BlockFixture(7, 6, 3, BlockFixture.settings().withRepairDelay(1_000L * DELAY_SECONDS));
    f.registerAll();
    for (int i = 0; i < 30; i++) {
      blocks.add(f.writeFile(3));
    }
    f.seconds(5);
  }

  private int replicas() {
    return blocks.stream().mapToInt(block -> f.physical(block.getBlockId()).size()).sum();
  }

  private boolean allWhole() throws IOException {
    for (BlockRow block : blocks) {
      if (f.liveReplicas(block.getBlockId()) != 3) {
        return false;
      }
    }
    return true;
  }

  @Test
  void aServerThatComesBackInTimeIsNotReplaced() throws IOException {
    SimulatedServer victim = f.servers.values().iterator().next();
    victim.kill();
    f.seconds(DEAD_SECONDS + DELAY_SECONDS - 5);
    assertThat(f.cluster.server(victim.uuid).orElseThrow().live()).isFalse();
    assertThat(replicas()).as("no block was copied").isEqualTo(90);
    victim.up = true;
    f.seconds(DELAY_SECONDS);
    assertThat(replicas()).as("no block was copied").isEqualTo(90);
    assertThat(f.manager.underReplicatedBlocks()).isZero();
  }

  @Test
  void aServerThatStaysAwayIsReplaced() throws IOException {
    f.servers.values().iterator().next().kill();
    f.seconds(DEAD_SECONDS + DELAY_SECONDS + 30);
    assertThat(allWhole()).isTrue();
  }

  @Test
  void aDiskThatComesBackInTimeIsNotReplaced() throws IOException {
    SimulatedServer server = f.servers.values().iterator().next();
    String disk = server.disks.keySet().iterator().next();
    Map<Long, Block> content = server.disks.remove(disk);
    assertThat(content).isNotEmpty();
    f.seconds(DELAY_SECONDS - 5);
    assertThat(f.cluster.disk(disk).orElseThrow().failed()).isTrue();
    assertThat(replicas()).as("no block was copied").isEqualTo(90 - content.size());
    server.disks.put(disk, content);
    server.register(f.frontEnd);
    f.seconds(DELAY_SECONDS);
    assertThat(replicas()).as("no block was copied").isEqualTo(90);
    assertThat(allWhole()).isTrue();
  }

  @Test
  void aDiskThatStaysAwayIsReplacedAndItsRowsGo() throws IOException {
    SimulatedServer server = f.servers.values().iterator().next();
    String disk = server.disks.keySet().iterator().next();
    assertThat(server.disks.remove(disk)).isNotEmpty();
    f.seconds(DELAY_SECONDS + 30);
    assertThat(allWhole()).isTrue();
    for (BlockRow block : blocks) {
      assertThat(f.rows(block.getBlockId())).noneMatch(r -> r.storageUuid().equals(disk));
    }
  }

  @Test
  void aBlockThatTheNextFailureWouldLoseDoesNotWait() throws IOException {
    long atRisk = blocks.get(0).getBlockId();
    Iterator<String> disks = f.physical(atRisk).iterator();
    Set<String> dead = Set.of(f.holder(disks.next()).uuid, f.holder(disks.next()).uuid);
    dead.forEach(uuid -> f.servers.get(uuid).kill());
    f.seconds(DEAD_SECONDS + 15);
    for (BlockRow block : blocks) {
      long lost =
          f.physical(block.getBlockId()).stream()
              .filter(disk -> dead.contains(f.holder(disk).uuid))
              .count();
      assertThat(f.liveReplicas(block.getBlockId()))
          .as("block %d, of which %d replicas are lost", block.getBlockId(), lost)
          .isEqualTo(lost == 2 ? 3 : 3 - lost);
    }
  }

  /** The wait is for the lost server: a replica that is known to be bad does not come back. */
  @Test
  void aCorruptReplicaIsReplacedAtOnce() throws IOException {
    SimulatedServer dead = f.servers.values().iterator().next();
    dead.kill();
    f.seconds(DEAD_SECONDS + 5);
    BlockRow elsewhere =
        blocks.stream()
            .filter(
                block ->
                    f.physical(block.getBlockId()).stream().noneMatch(d -> f.holder(d) == dead))
            .findFirst()
            .orElseThrow();
    long blockId = elsewhere.getBlockId();
    f.manager.reportBad(blockId, 1001, f.physical(blockId).iterator().next(), "checksum");
    f.seconds(10);
    assertThat(f.liveReplicas(blockId)).isEqualTo(3);
  }

  /** A restarted namenode waits anew: a failure of power stops servers and namenode together. */
  @Test
  void aServerThatWasGoneAtTheStartIsWaitedFor() throws IOException {
    SimulatedServer gone = f.servers.values().iterator().next();
    gone.kill();
    f.startNamenode();
    for (SimulatedServer server : f.servers.values()) {
      if (server.up) {
        server.register(f.frontEnd);
      }
    }
    f.seconds(DELAY_SECONDS);
    assertThat(f.cluster.inSafeMode()).isFalse();
    assertThat(replicas()).as("no block was copied").isEqualTo(90);
    f.seconds(50);
    assertThat(allWhole()).isTrue();
  }
}
