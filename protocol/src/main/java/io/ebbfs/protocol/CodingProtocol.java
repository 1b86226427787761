package io.ebbfs.protocol;

import io.ebbfs.protocol.proto.CodingProtos.CodingProtocolService;
import org.apache.hadoop.ipc.ProtocolInfo;

/**
 * Codes, stripes, transitions and read plans at the namenode; see {@code coding.proto}. {@code
 * rpc.NamenodeClient} calls them over Hadoop RPC. Implementations are thread-safe.
 */
@ProtocolInfo(protocolName = CodingProtocol.NAME, protocolVersion = CodingProtocol.VERSION)
public interface CodingProtocol extends CodingProtocolService.BlockingInterface {
  String NAME = "io.ebbfs.protocol.CodingProtocol";
  long VERSION = 1;

  /** The priority of a rewrite or a subtraction that the manager proposed for a storage bound. */
  int PRIORITY_FOR_BOUND = 1_000_003;
}
