package io.ebbfs.verify.simulator;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CodingProtocolService;
import io.ebbfs.raid.channel.ChunkChannel;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Connects the raid-node's own executor with simulated chunk servers and a namenode. With faults,
 * servers die in combines and answers get lost.
 */
final class SimChannel implements ChunkChannel {
  private final String raidNode;
  private final SimCluster cluster;
  private final Random random;
  private final boolean faults;
  private final EventCounts events;
  private final List<CombineResponseProto> done = new ArrayList<>();

  SimChannel(
      String raidNode, SimCluster cluster, Random random, boolean faults, EventCounts events) {
    this.events = events;
    this.raidNode = raidNode;
    this.cluster = cluster;
    this.random = random;
    this.faults = faults;
  }

  /** The answers of successful combines, in their order. */
  List<CombineResponseProto> done() {
    return done;
  }

  @Override
  public CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request)
      throws IOException {
    if (happens(30, "combine refused as busy")) {
      return CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_BUSY).build();
    }
    int writes =
        happens(25, "server died in a combine")
            ? random.nextInt(request.getTargetsCount() + 1)
            : Integer.MAX_VALUE;
    CombineResponseProto response =
        cluster
            .combine(raidNode, executor.getDatanodeUuid(), request, writes)
            .orElseThrow(() -> new IOException("connection refused"));
    if (happens(20, "answer of a combine lost")) {
      throw new IOException("connection reset");
    }
    if (response.getStatus() == CombineStatusProto.COMBINE_OK && !request.getCheck()) {
      done.add(response);
    }
    return response;
  }

  @Override
  public VerifyResponseProto verify(DatanodeIDProto id, VerifyRequestProto request)
      throws IOException {
    SimServer server = cluster.server(id.getDatanodeUuid());
    if (server == null
        || cluster.network().isCut(raidNode, server.uuid())
        || !server.answers() && !server.deniesEverything()
        || happens(20, "verify not answered")) {
      throw new IOException("connection refused");
    }
    VerifyResponseProto.Builder response = VerifyResponseProto.newBuilder();
    for (ExtendedBlockProto wanted : request.getBlocksList()) {
      VerifiedBlockProto.Builder verified =
          VerifiedBlockProto.newBuilder()
              .setHealth(cluster.health(raidNode, id.getDatanodeUuid(), wanted).orElseThrow())
              .setSynced(request.getSync());
      if (verified.getHealth() == BlockHealthProto.BLOCK_OK) {
        if (request.getSync()) {
          cluster.sync(server, wanted.getBlockId());
        }
        SimBlock block = server.find(wanted.getBlockId());
        verified.setLengthBytes(block.lengthBytes()).setCrc32C(cluster.crc32c(block));
      }
      response.addBlocks(verified);
    }
    return response.build();
  }

  /** The namenode, whose answers get lost sometimes after it has done its work. */
  CodingProtocol losingAnswers(CodingProtocolService.BlockingInterface namenode) {
    return (CodingProtocol)
        Proxy.newProxyInstance(
            SimChannel.class.getClassLoader(),
            new Class<?>[] {CodingProtocol.class},
            (proxy, method, arguments) -> {
              Object answer;
              try {
                answer = method.invoke(namenode, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
              if (happens(10, "answer of the namenode lost")) {
                throw new ServiceException(new IOException("connection reset"));
              }
              return answer;
            });
  }

  private boolean happens(int oneIn, String what) {
    boolean happens = faults && random.nextInt(oneIn) == 0;
    if (happens) {
      events.add("fault " + what);
    }
    return happens;
  }
}
