package io.ebbfs.protocol;

import io.ebbfs.protocol.proto.ChunkProtos.ChunkProtocolService;
import org.apache.hadoop.ipc.ProtocolInfo;

/**
 * What a chunk server does beyond the HDFS protocols; see {@code chunk.proto}. A proxy of this type
 * comes from Hadoop RPC with {@code ProtobufRpcEngine2}; implementations are thread-safe.
 */
@ProtocolInfo(protocolName = ChunkProtocol.NAME, protocolVersion = ChunkProtocol.VERSION)
public interface ChunkProtocol extends ChunkProtocolService.BlockingInterface {
  String NAME = "io.ebbfs.protocol.ChunkProtocol";
  long VERSION = 1;
}
