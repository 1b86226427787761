package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who takes part in the recovery of a block whose writer has died. */
class RecoveryOrderTest {
  private BlockFixture f;
  private SimulatedServer away;
  private BlockRow open;

  /** One of three servers of the pipeline dies. */
  @BeforeEach
  void start() throws IOException {
    f = new BlockFixture(5, 4, 1);
    f.registerAll();
    BlockRow block = f.writeFile(3);
    f.second();
    Set<String> storages = f.physical(block.getBlockId());
    open =
        block.toBuilder()
            .setState(BlockStateProto.RECOVERING)
            .addAllPipelineStorageUuids(storages)
            .build();
    away = f.holder(storages.iterator().next());
    away.kill();
    f.seconds(12);
    assertThat(f.cluster.isLive(storages.iterator().next())).isFalse();
  }

  private List<DatanodeCommandQueue.Recovery> orders(BlockRow block) throws IOException {
    f.manager.recover(f.ownerOf(block.getBlockId()), block, 2_000);
    List<DatanodeCommandQueue.Recovery> orders = new ArrayList<>();
    for (SimulatedServer server : f.servers.values()) {
      orders.addAll(f.manager.commands().takeRecoveries(server.uuid));
    }
    return orders;
  }

  /** The server may be back when the recovery runs, with the only replica that is left. */
  @Test
  void aHolderThatIsAwayIsAskedIfTheClientHasSyncedBytes() throws IOException {
    assertThat(orders(open))
        .singleElement()
        .satisfies(
            order ->
                assertThat(order.servers())
                    .hasSize(3)
                    .extracting(Server::uuid)
                    .contains(away.uuid));
  }

  /** Nothing was promised: the recovery waits for nobody who is away. */
  @Test
  void aHolderThatIsAwayIsNotAskedIfNothingWasSynced() throws IOException {
    assertThat(orders(open.toBuilder().setLengthBytes(0).build()))
        .singleElement()
        .satisfies(
            order ->
                assertThat(order.servers())
                    .isNotEmpty()
                    .extracting(Server::uuid)
                    .doesNotContain(away.uuid));
  }
}
