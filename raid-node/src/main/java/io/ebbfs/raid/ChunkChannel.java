package io.ebbfs.raid;

import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;

/**
 * The way to the chunk servers: over the network in production, to simulated servers in a test.
 * Implementations are thread-safe and do not retry.
 */
public interface ChunkChannel {
  /**
   * Lets a chunk server combine. Returns whatever it answers, success or not.
   *
   * @throws IOException if there was no answer; the combine may still have been done, or be going
   *     on
   */
  CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request)
      throws IOException;

  /**
   * Lets a chunk server read its own replicas of some blocks and check them.
   *
   * @throws IOException if there was no answer: nothing is known about the blocks
   */
  VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request) throws IOException;
}
