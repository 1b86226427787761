package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.Block;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A block of a stripe has no good replica, and attempts that failed have left a bad one on every
 * server. No server can take the rebuilt block then.
 */
class LostBlockAmongBadReplicasTest {
  private static final long STRIPE = 1L << 40;
  private static final int SERVERS = 5;

  private final ErasureCode code = Codes.byName("PC(2x5)");
  private final List<Long> members = new ArrayList<>();
  private BlockFixture f;
  private long lost;

  @BeforeEach
  void loseABlock() throws IOException {
    f = new BlockFixture(7, SERVERS, 2);
    f.registerAll();
    f.second();
    StripeRow.Builder stripe =
        StripeRow.newBuilder()
            .setId(STRIPE)
            .setCode(code.toString())
            .setUnitLengthBytes(BlockFixture.BLOCK_BYTES)
            .setGeneration(1)
            .setPolicy("test")
            .setCreatedMillis(1);
    for (int position = 0; position < code.size(); position++) {
      members.add(f.addMember(stripe, position).getBlockId());
    }
    // A full report may be older than replicas of the last seconds.
    f.seconds(10);
    lost = members.get(0);
    lose(lost);
  }

  private void lose(long blockId) throws IOException {
    String disk = f.physical(blockId).iterator().next();
    SimulatedServer holder = f.holder(disk);
    holder.disks.get(disk).remove(blockId);
    holder.reportAll();
    f.deliverAll();
    assertThat(f.rows(blockId)).isEmpty();
  }

  /** What an attempt without a commit leaves on each of the first servers. */
  private void leaveBadReplicas(int servers) throws IOException {
    BlockRow block = f.blocks.get(lost);
    long owner = f.ownerOf(lost);
    for (SimulatedServer server : f.servers.values().stream().limit(servers).toList()) {
      String disk = server.storages().get(0);
      f.store.transact(
          owner,
          t -> {
            f.manager.distrust(t, owner, lost, block.getGenerationStamp(), disk);
            return null;
          });
      server.write(disk, new Block(lost, block.getLengthBytes(), block.getGenerationStamp()));
    }
    f.deliverAll();
  }

  @Test
  void oneBadReplicaMakesRoomForTheRebuiltBlock() throws IOException {
    leaveBadReplicas(SERVERS);
    f.seconds(60);
    assertThat(f.physical(lost)).as("the others stay until the commit").hasSize(SERVERS - 1);
    assertThat(f.rows(lost)).hasSize(SERVERS - 1);
  }

  @Test
  void badReplicasStayWhileAServerIsFree() throws IOException {
    leaveBadReplicas(SERVERS - 1);
    f.seconds(60);
    assertThat(f.physical(lost)).hasSize(SERVERS - 1);
  }

  /** Perhaps one of the bad replicas is the last copy of the bytes. */
  @Test
  void badReplicasStayIfTheStripeDoesNotDecode() throws IOException {
    leaveBadReplicas(SERVERS);
    f.decodes = false;
    f.seconds(60);
    assertThat(f.physical(lost)).hasSize(SERVERS);
  }

  /** A disk without a full report may lack what its rows say. */
  @Test
  void badReplicasStayWhileTheSourcesHaveNotReported() throws IOException {
    leaveBadReplicas(SERVERS);
    f.startNamenode();
    for (SimulatedServer server : f.servers.values()) {
      server.register(f.frontEnd);
    }
    for (int second = 0; second < 60; second++) {
      f.clock.advance(1_000);
      for (SimulatedServer server : f.servers.values()) {
        server.heartbeat(f.frontEnd);
      }
      f.manager.tick();
    }
    assertThat(f.physical(lost)).hasSize(SERVERS);
    f.seconds(60);
    assertThat(f.physical(lost)).hasSize(SERVERS - 1);
  }

  /** Its own server has read the replica: a client may still find good chunks in the replica. */
  @Test
  void aReplicaThatItsServerFoundBadStays() throws IOException {
    leaveBadReplicas(SERVERS);
    long owner = f.ownerOf(lost);
    Set<String> all = f.physical(lost);
    for (String disk : all) {
      f.store.transact(
          owner,
          t -> {
            var key = Tables.replica(owner, lost, disk);
            var row = t.get(Tables.REPLICA, key).orElseThrow();
            assertThat(row.getState()).isEqualTo(ReplicaStateProto.CORRUPT);
            t.put(Tables.REPLICA, key, row.toBuilder().setFoundBad(true).build());
            return null;
          });
    }
    f.seconds(60);
    assertThat(f.physical(lost)).isEqualTo(all);
  }
}
