package io.ebbfs.raid;

import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.raid.channel.ChunkChannel;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;

/** Chunk servers that give prepared answers, or else success. */
public final class FakeChunks implements ChunkChannel {
  public final List<String> combined = new ArrayList<>();
  public final Deque<CombineResponseProto> answers = new ArrayDeque<>();

  /** The health that servers 1 and 2 report of their replicas; null for no answer. */
  public BlockHealthProto[] health = {null, null, null};

  int running;
  public int mostRunning;

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

  public static CombineResponseProto done(CombineRequestProto request) {
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
