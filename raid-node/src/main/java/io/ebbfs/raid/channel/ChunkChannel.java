package io.ebbfs.raid.channel;

import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;

/**
 * Calls chunk servers: over the network in production, simulated servers in a test. Implementations
 * are thread-safe and do not retry.
 */
public interface ChunkChannel {
  /**
   * Lets a chunk server combine. The answer may be a failure.
   *
   * @throws IOException if there was no answer. The server may have done the combine, or still do
   *     it.
   */
  CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request)
      throws IOException;

  /**
   * Lets a chunk server read its own replicas of some blocks and verify them.
   *
   * @throws IOException if there was no answer. Nothing is known about the blocks then.
   */
  VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request) throws IOException;
}
