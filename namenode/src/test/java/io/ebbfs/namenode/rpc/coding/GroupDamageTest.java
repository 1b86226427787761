package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.replicas.ReplicaRows;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.tasks.scan.GroupDamage;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How many block groups are damaged, and how badly. */
class GroupDamageTest {
  private CodingCluster cluster;
  private StripeRow group;

  /** One block group, and a stripe of another file. */
  @BeforeEach
  void start() throws Exception {
    cluster = new CodingCluster(9, 4, 7);
    cluster.createFile(6, 64, true);
    cluster.createFile(6, 64, true);
    cluster.propose(TransitionKindProto.ENCODE, "RS(6,3)", cluster.fileIds(), List.of());
    cluster.runAll();
    StripeRow first = cluster.store.scanAll(Tables.STRIPE, null, 1).get(0).value();
    group = first.toBuilder().setGroupFileId(77).setGroupDataUnits(6).build();
    cluster.store.transact(
        group.getId(),
        transaction -> {
          transaction.put(Tables.STRIPE, Tables.stripe(group.getId()), group);
          return null;
        });
  }

  /** Damaged, urgent, missing and corrupt groups. */
  private List<Integer> counts() throws IOException {
    cluster.coding.tick();
    GroupDamage groups = cluster.coding.groupDamage();
    return List.of(groups.damaged(), groups.urgent(), groups.missing(), groups.corrupt());
  }

  /** The replica of a block of the group is bad. */
  private void spoil(int index) throws IOException {
    StripeMemberProto member = group.getMembers(index);
    String holder =
        cluster.servers.disks().stream()
            .filter(disk -> cluster.servers.on(disk).containsKey(member.getBlockId()))
            .findFirst()
            .orElseThrow();
    cluster.store.transact(
        member.getOwnerId(),
        transaction -> {
          ReplicaRows.put(
              transaction,
              member.getOwnerId(),
              member.getBlockId(),
              cluster.servers.disk(holder).orElseThrow(),
              ReplicaRow.newBuilder()
                  .setState(ReplicaStateProto.CORRUPT)
                  .setGenerationStamp(member.getGenerationStamp())
                  .setLengthBytes(member.getLengthBytes())
                  .build());
          return null;
        });
  }

  @Test
  void aGroupIsUrgentBeforeItIsMissing() throws Exception {
    assertThat(counts()).containsExactly(0, 0, 0, 0);
    spoil(0);
    spoil(7);
    assertThat(counts()).containsExactly(1, 0, 0, 1);
    spoil(1);
    assertThat(counts()).containsExactly(1, 1, 0, 1);
    spoil(2);
    assertThat(counts()).containsExactly(1, 0, 1, 1);
    cluster.store.transact(
        group.getId(),
        transaction -> {
          transaction.delete(Tables.STRIPE, Tables.stripe(group.getId()));
          return null;
        });
    assertThat(counts()).containsExactly(0, 0, 0, 0);
  }

  @Test
  void aStripeOfEncodedFilesIsNoGroup() throws Exception {
    StripeRow plain = group.toBuilder().clearGroupFileId().build();
    cluster.store.transact(
        plain.getId(),
        transaction -> {
          transaction.put(Tables.STRIPE, Tables.stripe(plain.getId()), plain);
          return null;
        });
    spoil(0);
    assertThat(counts()).containsExactly(0, 0, 0, 0);
    assertThat(cluster.cluster().getStripesByLoss(0)).isOne();
  }
}
