package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Where the members of a stripe are. */
class StripeStateTest {
  private static final int OWNERS = 3;
  private static final int BLOCKS = 60;
  private static final int MEMBERS = 14;

  /**
   * Owners have more blocks than those of the stripe, and blocks from no to sixty replicas, so that
   * what is read in pages has every kind of gap.
   */
  @Property(tries = 100)
  void findsTheReplicasOfEveryMember(@ForAll long seed) throws Exception {
    CodingCluster cluster = new CodingCluster(20, 3, seed);
    List<String> disks = cluster.servers.disks();
    cluster.servers.kill(cluster.servers.servers().get(3));
    Map<Long, List<String>> live = new HashMap<>();
    cluster.store.transact(
        0,
        transaction -> {
          for (long block = 1; block <= OWNERS * BLOCKS; block++) {
            int replicas =
                cluster.random.nextInt(8) == 0
                    ? cluster.random.nextInt(disks.size())
                    : cluster.random.nextInt(3);
            List<String> on = disks.subList(0, replicas);
            for (String disk : on) {
              transaction.put(
                  Tables.REPLICA,
                  Tables.replica(ownerOf(block), block, disk),
                  ReplicaRow.newBuilder()
                      .setState(ReplicaStateProto.FINALIZED)
                      .setGenerationStamp(1)
                      .setLengthBytes(5)
                      .build());
            }
            live.put(block, on.stream().filter(cluster.servers::isLive).toList());
          }
          return null;
        });
    StripeRow.Builder row = StripeRow.newBuilder().setId(1).setCode("LRC(12,2,2)").setPolicy("p");
    Map<Integer, List<String>> expected = new TreeMap<>();
    for (int position = 0; position < MEMBERS; position++) {
      long block = 1 + cluster.random.nextInt(OWNERS * BLOCKS);
      expected.put(position, live.get(block));
      row.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setOwnerId(ownerOf(block))
              .setOwnerIndex((int) block)
              .setBlockId(block)
              .setGenerationStamp(1)
              .setLengthBytes(5));
    }
    StripeState state =
        cluster.store.transact(
            0,
            transaction ->
                StripeState.read(
                    transaction, CodeRegistry.builtIn(), cluster.servers, row.buildPartial()));
    assertThat(state.locations()).isEqualTo(expected);
  }

  private static long ownerOf(long block) {
    return 7 + block % OWNERS;
  }
}
