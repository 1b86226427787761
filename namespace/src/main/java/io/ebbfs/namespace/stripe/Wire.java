package io.ebbfs.namespace.stripe;

import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.ClusterView.Disk;
import io.ebbfs.namespace.block.ClusterView.Server;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/** Blocks, servers and disks as messages name them. */
public final class Wire {
  private final String blockPoolId;
  private final ClusterView cluster;

  public Wire(String blockPoolId, ClusterView cluster) {
    this.blockPoolId = blockPoolId;
    this.cluster = cluster;
  }

  public ExtendedBlockProto block(long blockId, long generationStamp, long lengthBytes) {
    return ExtendedBlockProto.newBuilder()
        .setPoolId(blockPoolId)
        .setBlockId(blockId)
        .setGenerationStamp(generationStamp)
        .setNumBytes(lengthBytes)
        .build();
  }

  public static DatanodeIDProto server(Server server) {
    return DatanodeIDProto.newBuilder()
        .setIpAddr(server.ipAddress())
        .setHostName(server.hostName())
        .setDatanodeUuid(server.uuid())
        .setXferPort(server.transferPort())
        .setInfoPort(server.infoPort())
        .setIpcPort(server.ipcPort())
        .build();
  }

  /** Where a disk is; empty if it has never registered. */
  public Optional<BlockLocationProto> location(String storageUuid) {
    return cluster
        .disk(storageUuid)
        .map(Disk::serverUuid)
        .flatMap(cluster::server)
        .map(
            server ->
                BlockLocationProto.newBuilder()
                    .setServer(server(server))
                    .setStorageUuid(storageUuid)
                    .build());
  }
}
