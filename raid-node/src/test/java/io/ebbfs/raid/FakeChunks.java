package io.ebbfs.raid;

import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;

/** Chunk servers that answer as told, and with success otherwise. */
final class FakeChunks implements ChunkChannel {
  final List<String> combined = new ArrayList<>();
  final Deque<CombineResponseProto> answers = new ArrayDeque<>();

  /** Of the servers 1 and 2: what each says of its replica; null for no answer. */
  BlockHealthProto[] health = {null, null, null};

  int running;
  int mostRunning;

  @Override
  public CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request)
      throws IOException {
    synchronized (this) {
      running++;
      mostRunning = Math.max(running, mostRunning);
      combined.add(request.getId());
    }
    Thread.yield();
    synchronized (this) {
      running--;
      CombineResponseProto answer = answers.poll();
      return answer == null ? done(request) : answer;
    }
  }

  static CombineResponseProto done(CombineRequestProto request) {
    CombineResponseProto.Builder response =
        CombineResponseProto.newBuilder()
            .setStatus(CombineStatusProto.COMBINE_OK)
            .setBlocksRead(request.getSourcesCount())
            .setBytesReadRemote(request.getSources(0).getBlock().getNumBytes())
            .setBytesWrittenLocal(request.getTargets(0).getBlock().getNumBytes());
    request
        .getTargetsList()
        .forEach(
            t ->
                response.addTargets(
                    CombinedTargetProto.newBuilder()
                        .setLengthBytes(t.getBlock().getNumBytes())
                        .setCrc32C(7)));
    return response.build();
  }

  @Override
  public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request)
      throws IOException {
    BlockHealthProto found = health[server.getIpcPort()];
    if (found == null) {
      throw new IOException("server " + server.getIpcPort() + " is down");
    }
    return VerifyResponseProto.newBuilder()
        .addBlocks(VerifiedBlockProto.newBuilder().setHealth(found))
        .build();
  }
}
