package io.ebbfs.verify.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

/** A simulated server has a block only once, as the chunk server does. */
class SimTransfersTest {
  private static final long BLOCK = 7;
  private static final long STAMP = 1_001;

  private final SimCluster cluster =
      new SimCluster(
          new SimWorld(1, 2, 1_000, 1, false, false, 0), new EventCounts(), PlantedBug.NONE);
  private final SimReplicaMap replicas = cluster.replicas();
  private final SimServer server = cluster.servers().get(0);
  private final SimTransfers transfers = server.transfers();

  private void leaveOpen() {
    assertThat(transfers.create(server.disks().get(0).uuid, BLOCK, STAMP)).isTrue();
    assertThat(transfers.receive(BLOCK, STAMP, 100)).isTrue();
  }

  private CombineStatusProto combineTo(SimDisk disk, long generationStamp) {
    TargetProto target =
        TargetProto.newBuilder()
            .setBlock(
                ExtendedBlockProto.newBuilder()
                    .setPoolId("pool")
                    .setBlockId(BLOCK)
                    .setGenerationStamp(generationStamp)
                    .setNumBytes(50))
            .setLocation(
                BlockLocationProto.newBuilder()
                    .setServer(PBHelperClient.convert(server.id()))
                    .setStorageUuid(disk.uuid))
            .build();
    CombineRequestProto request =
        CombineRequestProto.newBuilder()
            .setId("combine")
            .setCoefficients(ByteString.EMPTY)
            .addTargets(target)
            .build();
    return cluster.combine("worker", server.uuid(), request, 1).orElseThrow().getStatus();
  }

  @Test
  void aReplicaThatNobodyFinishedGivesWayToANewerBlockOnAnotherDisk() {
    leaveOpen();
    server.crash();
    server.start();
    server.scan();
    assertThat(combineTo(server.disks().get(1), STAMP + 1))
        .isEqualTo(CombineStatusProto.COMBINE_OK);
    assertThat(replicas.open()).isEmpty();
    assertThat(replicas.of(BLOCK)).hasSize(1);
    assertThat(server.disks().get(0).used()).isZero();
  }

  @Test
  void aReplicaOfTheSameGenerationStays() {
    leaveOpen();
    assertThat(combineTo(server.disks().get(1), STAMP))
        .isEqualTo(CombineStatusProto.COMBINE_TARGET_FAILED);
    assertThat(replicas.open()).hasSize(1);
  }

  @Test
  void aReplicaInABlockRecoveryStays() {
    leaveOpen();
    assertThat(transfers.startRecovery(BLOCK, STAMP, STAMP + 5)).isPresent();
    assertThat(combineTo(server.disks().get(1), STAMP + 9))
        .isEqualTo(CombineStatusProto.COMBINE_TARGET_FAILED);
    assertThat(replicas.open()).hasSize(1);
  }
}
