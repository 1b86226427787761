package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.namenode.replicas.ReplicaRows;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Attempts that failed leave bad replicas of the blocks that they were to rebuild. */
class RepairAmongBadReplicasTest {
  private static final int SERVERS = 6;

  private static void markBad(CodingCluster cluster, StripeMemberProto member, String disk)
      throws IOException {
    cluster.store.transact(
        member.getOwnerId(),
        transaction -> {
          ReplicaRows.put(
              transaction,
              member.getOwnerId(),
              member.getBlockId(),
              cluster.servers.disk(disk).orElseThrow(),
              ReplicaRow.newBuilder()
                  .setState(ReplicaStateProto.CORRUPT)
                  .setGenerationStamp(member.getGenerationStamp())
                  .setLengthBytes(member.getLengthBytes())
                  .build());
          return null;
        });
  }

  /** A bad replica stays until its block is live again, and its server cannot take the block. */
  @Test
  void aRepairGoesOnWhenEveryServerHasABadReplicaOfSomeLostBlock() throws Exception {
    CodingCluster cluster = new CodingCluster(SERVERS, 12, 5);
    cluster.createFile(10, 64, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.PC_FAST, cluster.fileIds(), List.of());
    cluster.runAll();
    StripeRow stripe = cluster.store.scanAll(Tables.STRIPE, null, 1).get(0).value();
    for (int lost = 0; lost < 3; lost++) {
      StripeMemberProto member = stripe.getMembers(lost);
      String holder =
          cluster.servers.disks().stream()
              .filter(disk -> cluster.servers.on(disk).containsKey(member.getBlockId()))
              .findFirst()
              .orElseThrow();
      cluster.servers.failDisk(holder);
      for (int server : new int[] {2 * lost, 2 * lost + 1}) {
        String uuid = cluster.servers.servers().get(server);
        String disk =
            cluster.servers.disks().stream()
                .filter(d -> cluster.servers.serverOf(d).equals(uuid))
                .filter(cluster.servers::isLive)
                .findFirst()
                .orElseThrow();
        markBad(cluster, member, disk);
      }
    }
    cluster.coding.tick();
    cluster.advance(60_000);
    cluster.coding.tick();
    var claimed = cluster.claim(1);
    assertThat(claimed).as(cluster.transitions().toString()).hasSize(1);
    assertThat(claimed.get(0).getTransition().getKind()).isEqualTo(TransitionKindProto.REPAIR);
    assertThat(cluster.commit(claimed.get(0), cluster.run(claimed.get(0))).getCommitted()).isTrue();
  }
}
