package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A server that misses a few heartbeats, for example because it is frozen, goes last long before it
 * counts as dead, and before it is stale after 30 seconds.
 */
class OverdueServerTest {
  private BlockFixture f;
  private BlockRow block;
  private SimulatedServer frozen;

  @BeforeEach
  void start() throws IOException {
    f = new BlockFixture(1, 4, 1, RedundancySettings.of(600_000, 20_000));
    f.registerAll();
    f.seconds(20);
    block = f.writeFile(3);
    f.deliverAll();
    frozen = f.holder(f.liveStorages(block.getBlockId()).get(0));
  }

  private List<String> located() throws IOException {
    long owner = f.ownerOf(block.getBlockId());
    DatanodeInfo[] places =
        f.store
            .transact(owner, t -> f.manager.locate(t, owner, block, 0, "192.0.2.1"))
            .getLocations();
    List<String> uuids = new ArrayList<>();
    for (DatanodeInfo place : places) {
      uuids.add(place.getDatanodeUuid());
    }
    return uuids;
  }

  private List<String> targets(int replication) throws IOException {
    return f
        .manager
        .chooseTargets(
            new BlockService.WriteRequest(
                "/new", replication, BlockFixture.BLOCK_BYTES, "192.0.2.1", Set.of(), Set.of()))
        .stream()
        .map(target -> target.server().uuid())
        .toList();
  }

  @Test
  void readersAreSentThereLastAndWritersNotAtAll() throws IOException {
    frozen.up = false;
    f.seconds(4);
    for (int i = 0; i < 10; i++) {
      assertThat(located()).hasSize(3).endsWith(frozen.uuid);
      assertThat(targets(3)).hasSize(3).doesNotContain(frozen.uuid);
    }
    assertThat(targets(4)).as("if no other server is left").hasSize(4).endsWith(frozen.uuid);

    frozen.up = true;
    f.second();
    Set<String> first = new java.util.HashSet<>();
    for (int i = 0; i < 50; i++) {
      first.add(located().get(0));
    }
    assertThat(first).as("after its next heartbeat").contains(frozen.uuid);
  }

  @Test
  void whenTheNamenodeItselfWasAwayEveryServerStillServes() throws IOException {
    f.clock.advance(60_000);
    assertThat(located()).hasSize(3);
    assertThat(targets(3)).hasSize(3);
  }
}
