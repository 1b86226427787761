package io.ebbfs.protocol;

import io.ebbfs.protocol.proto.ChunkProtos.ChunkProtocolService;
import org.apache.hadoop.ipc.ProtocolInfo;

/**
 * The calls to a chunk server that HDFS has no protocol for; see {@code chunk.proto}. {@code
 * rpc.ChunkServerClient} makes them over Hadoop RPC. Implementations are thread-safe.
 */
@ProtocolInfo(protocolName = ChunkProtocol.NAME, protocolVersion = ChunkProtocol.VERSION)
public interface ChunkProtocol extends ChunkProtocolService.BlockingInterface {
  String NAME = "io.ebbfs.protocol.ChunkProtocol";
  long VERSION = 1;
}
