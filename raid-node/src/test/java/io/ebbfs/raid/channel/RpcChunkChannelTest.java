package io.ebbfs.raid.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.junit.jupiter.api.Test;

class RpcChunkChannelTest {
  /** Closes each connection after the first bytes of a request, like a server that is killed. */
  @Test
  void aServerThatGoesAwayIsAskedOnceMore() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        RpcChunkChannel channel = new RpcChunkChannel(10_000, ServiceKey.NONE)) {
      Thread dying = new Thread(() -> answerNothing(server, asked));
      dying.setDaemon(true);
      dying.start();
      DatanodeIDProto id =
          DatanodeIDProto.newBuilder()
              .setIpAddr(server.getInetAddress().getHostAddress())
              .setHostName("localhost")
              .setDatanodeUuid("u")
              .setXferPort(1)
              .setInfoPort(1)
              .setIpcPort(server.getLocalPort())
              .build();
      assertThatThrownBy(() -> channel.verify(id, VerifyRequestProto.getDefaultInstance()))
          .isInstanceOf(IOException.class);
      assertThat(asked).hasValue(2);
    }
  }

  private static void answerNothing(ServerSocket server, AtomicInteger asked) {
    try {
      while (true) {
        try (Socket connection = server.accept()) {
          connection.getInputStream().readNBytes(100);
          asked.incrementAndGet();
        }
      }
    } catch (IOException e) {
      return; // the test is over
    }
  }
}
