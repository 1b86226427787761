package io.ebbfs.namenode.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.Await;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RPCCallerContextProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcSaslProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcSaslProto.SaslState;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams of a small corpus, mutated and cut: the server answers in frames, and holds nothing. */
@Timeout(300)
class FrameFuzzTest {
  private static final int STREAMS = 1_500;

  private static final List<byte[]> CORPUS =
      List.of(
          WireClient.join(
              WireClient.PREAMBLE,
              WireClient.context("somebody"),
              WireClient.call(0, "getFileInfo", "/a"),
              WireClient.call(1, "delete", "/b"),
              WireClient.frame(WireClient.header(WireClient.PING))),
          WireClient.join(
              WireClient.SASL_PREAMBLE,
              WireClient.frame(
                  WireClient.header(WireClient.SASL),
                  RpcSaslProto.newBuilder().setState(SaslState.NEGOTIATE).build()),
              WireClient.context("somebody"),
              WireClient.call(7, "fsync", "/c")),
          WireClient.join(
              WireClient.PREAMBLE,
              WireClient.context("somebody"),
              WireClient.frame(
                  WireClient.header(3).toBuilder()
                      .setCallerContext(RPCCallerContextProto.newBuilder().setContext("context"))
                      .build()),
              WireClient.call(4, "noSuchMethod", "/d")));

  private final long seed = Long.getLong("seed", new Random().nextLong());
  private final Random random = new Random(seed);

  @Test
  void mutatedStreamsAreAnsweredInFramesAndForgotten() throws Exception {
    System.out.println("seed " + seed);
    try (ServerFixture server =
        ServerFixture.start(2, ServerLimits.DEFAULT, path -> new byte[10])) {
      for (int i = 0; i < STREAMS; i++) {
        byte[] stream = CORPUS.get(random.nextInt(CORPUS.size())).clone();
        for (int changes = random.nextInt(4); changes > 0; changes--) {
          stream = mutate(stream);
        }
        byte[] answers = exchange(server, stream);
        // Whoever does not begin with Hadoop's preamble is answered in another language.
        if (Arrays.equals(stream, 0, 5, WireClient.PREAMBLE, 0, 5)) {
          assertFrames(answers, i);
        }
      }
      Await.until("nothing is held", () -> server.bytesInFlight() == 0);
      Await.until("all connections are closed", () -> server.connections() == 0);
      try (WireClient client = server.connect()) {
        assertThat(client.send(WireClient.call(1, "getFileInfo", "/")).read().result()).hasSize(10);
      }
    }
  }

  private byte[] mutate(byte[] bytes) {
    int at = random.nextInt(bytes.length);
    switch (random.nextInt(5)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = (byte) random.nextInt();
      case 2 -> bytes[at] = random.nextBoolean() ? 0 : (byte) 0xFF;
      case 3 -> {
        return Arrays.copyOf(bytes, Math.max(5, at));
      }
      default -> {
        byte[] tail = Arrays.copyOfRange(bytes, random.nextInt(bytes.length), bytes.length);
        return WireClient.join(Arrays.copyOf(bytes, Math.max(5, at)), tail);
      }
    }
    return bytes;
  }

  /** Sends a stream in pieces, says that no more comes, and reads what the server sends. */
  private byte[] exchange(ServerFixture server, byte[] stream) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", server.address().getPort())) {
      socket.setTcpNoDelay(true);
      for (int at = 0; at < stream.length; ) {
        int length = Math.min(stream.length - at, 1 + random.nextInt(stream.length));
        socket.getOutputStream().write(stream, at, length);
        at += length;
      }
      socket.shutdownOutput();
      return socket.getInputStream().readAllBytes();
    }
  }

  private void assertFrames(byte[] answers, int stream) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(answers));
    while (in.available() > 0) {
      byte[] frame = new byte[in.readInt()];
      in.readFully(frame);
      CodedInputStream message = CodedInputStream.newInstance(frame);
      RpcResponseHeaderProto header = RpcResponseHeaderProto.parseFrom(message.readByteArray());
      assertThat(header.hasStatus()).as("seed %d, stream %d", seed, stream).isTrue();
    }
  }
}
