package io.ebbfs.namenode.stripes;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/** Converts blocks, servers and disks into the messages that name them. Thread-safe. */
public final class ProtoConverter {
  private final String blockPoolId;
  private final ClusterView cluster;

  public ProtoConverter(String blockPoolId, ClusterView cluster) {
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

  /** The server of a disk and the disk; empty if the disk has never registered. */
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
