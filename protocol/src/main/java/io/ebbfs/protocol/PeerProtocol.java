package io.ebbfs.protocol;

import io.ebbfs.protocol.proto.PeerProtos.PeerProtocolService;
import org.apache.hadoop.ipc.ProtocolInfo;

/**
 * What namenodes on one store ask the namenode that leads; see {@code peer.proto}. {@code
 * rpc.PeerClient} calls it over Hadoop RPC. Implementations are thread-safe.
 */
@ProtocolInfo(protocolName = PeerProtocol.NAME, protocolVersion = PeerProtocol.VERSION)
public interface PeerProtocol extends PeerProtocolService.BlockingInterface {
  String NAME = "io.ebbfs.protocol.PeerProtocol";
  long VERSION = 1;
}
