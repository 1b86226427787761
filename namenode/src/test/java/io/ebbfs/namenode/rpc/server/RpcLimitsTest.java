package io.ebbfs.namenode.rpc.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.Await;
import io.ebbfs.namenode.rpc.server.WireClient.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcErrorCodeProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcStatusProto;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whoever takes more than the limits of the server allow harms nobody else. */
@Timeout(120)
class RpcLimitsTest {
  private static final int HANDLERS = 1;

  private final Semaphore slow = new Semaphore(0);
  private final AtomicInteger runs = new AtomicInteger();
  private ServerFixture server;

  @AfterEach
  void stop() throws InterruptedException {
    server.close();
  }

  private void start(ServerLimits limits) throws IOException {
    server = ServerFixture.start(HANDLERS, limits, this::answer);
  }

  private byte[] answer(String path) throws IOException {
    runs.incrementAndGet();
    if (path.equals("/slow")) {
      try {
        slow.acquire();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
    return path.equals("/large") ? new byte[100 << 10] : new byte[0];
  }

  private void assertServes() throws IOException {
    try (WireClient other = server.connect()) {
      Answer answer = other.send(WireClient.call(1, "getFileInfo", "/")).read();
      assertThat(answer.header().getStatus()).isEqualTo(RpcStatusProto.SUCCESS);
    }
  }

  @Test
  void whoReadsNoAnswersIsNotReadFrom() throws Exception {
    start(ServerLimits.DEFAULT);
    int calls = 2_000;
    try (WireClient reader = server.connect()) {
      byte[] call = WireClient.call(1, "getFileInfo", "/large");
      Thread sender =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < calls; i++) {
                    reader.send(call);
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      sender.start();
      Await.until("answers fill the connection", () -> server.bytesInFlight() > 64 << 10);
      int before;
      do {
        before = runs.get();
        assertServes();
        assertServes();
      } while (runs.get() > before + 2);
      assertThat(runs.get()).as("200 MB of answers are not made").isLessThan(calls / 2);
      assertThat(server.bytesInFlight()).isLessThan(2 << 20);
      for (int i = 0; i < calls; i++) {
        assertThat(reader.read().result()).hasSize(100 << 10);
      }
      sender.join();
    }
    Await.until("nothing is held", () -> server.bytesInFlight() == 0);
  }

  @Test
  void callsBeyondTheQueueAreToBeRepeated() throws Exception {
    start(ServerLimits.DEFAULT.withCalls(100, 2));
    try (WireClient client = server.connect()) {
      client.send(WireClient.call(0, "fsync", "/slow"));
      Await.until("the handler is busy", () -> runs.get() == 1);
      for (int id = 1; id <= 3; id++) {
        client.send(WireClient.call(id, "fsync", "/"));
      }
      Answer refused = client.read();
      assertThat(refused.header().getCallId()).isEqualTo(3);
      assertRefused(refused);
      assertServes();
      slow.release();
      for (int id = 0; id <= 2; id++) {
        assertThat(client.read().header().getCallId()).isEqualTo(id);
      }
    }
  }

  private static void assertRefused(Answer refused) {
    assertThat(refused.header().getStatus()).isEqualTo(RpcStatusProto.ERROR);
    assertThat(refused.header().getErrorDetail()).isEqualTo(RpcErrorCodeProto.ERROR_RPC_SERVER);
    assertThat(refused.header().getExceptionClassName())
        .isEqualTo(RetriableException.class.getName());
  }

  @Test
  void aConnectionWithManyCallsUnderWayIsNotReadUntilOneIsAnswered() throws Exception {
    start(ServerLimits.DEFAULT.withCalls(10, 1_000));
    try (WireClient client = server.connect()) {
      client.send(WireClient.call(0, "fsync", "/slow"));
      for (int id = 1; id < 50; id++) {
        client.send(WireClient.call(id, "fsync", "/"));
      }
      client.send(WireClient.call(50, "getFileInfo", "/"));
      assertServes();
      assertThat(client.available()).as("the quick call behind the others waits").isZero();
      slow.release();
      for (int id = 0; id <= 50; id++) {
        client.read();
      }
    }
  }

  @Test
  void withoutMemoryCallsAreRefusedAndLargeFramesEnd() throws Exception {
    start(ServerLimits.DEFAULT.withBytes(1 << 20, 1_100 << 10));
    byte[] begun = ByteBuffer.allocate(600 << 10).putInt(1 << 20).array();
    try (WireClient first = server.connect().send(begun)) {
      Await.until("a part of a frame", () -> server.bytesInFlight() == begun.length);
      assertServes();
      try (WireClient second = server.connect().send(begun)) {
        Answer closed = second.read();
        assertThat(closed.header().getStatus()).isEqualTo(RpcStatusProto.FATAL);
        assertThat(closed.header().getExceptionClassName())
            .isEqualTo(RetriableException.class.getName());
        assertThat(closed.header().getErrorMsg()).contains("1048576 bytes");
      }
      Await.until("the second is forgotten", () -> server.bytesInFlight() == begun.length);
      assertServes();
      // The rest of the first frame: it is read as a frame, which is none.
      first.send(new byte[(1 << 20) + 4 - begun.length]);
      assertThat(first.read().header().getErrorDetail())
          .isEqualTo(RpcErrorCodeProto.FATAL_DESERIALIZING_REQUEST);
    }
    Await.until("nothing is held", () -> server.bytesInFlight() == 0);
  }

  @Test
  void whoDoesNotCompleteALargeFrameLosesItsConnectionWhenThereIsNoMemory() throws Exception {
    start(ServerLimits.DEFAULT.withConnections(100, 50, 400).withBytes(1 << 20, 150 << 10));
    byte[] large = ByteBuffer.allocate(100 << 10).putInt(1 << 20).array();
    byte[] small = ByteBuffer.allocate(60 << 10).putInt(1 << 20).array();
    try (WireClient first = server.connect();
        WireClient second = server.connect();
        WireClient third = server.connect()) {
      first.send(large);
      Await.until("the first frame has begun", () -> server.bytesInFlight() == large.length);
      second.send(small);
      Await.until(
          "the memory is taken", () -> server.bytesInFlight() == large.length + small.length);
      assertRefused(third.send(WireClient.call(1, "getFileInfo", "/")).read());
      Await.until("the first is closed", () -> server.bytesInFlight() == small.length);
      third.send(WireClient.call(2, "getFileInfo", "/"));
      assertThat(third.read().header().getStatus()).isEqualTo(RpcStatusProto.SUCCESS);
    }
  }

  @Test
  void aCallThatFindsNoMemoryIsToBeRepeated() throws Exception {
    start(ServerLimits.DEFAULT.withBytes(1 << 20, 10_000));
    try (WireClient holder = server.connect();
        WireClient client = server.connect()) {
      holder.send(ByteBuffer.allocate(20_000).putInt(1 << 20).array());
      Await.until("the memory is taken", () -> server.bytesInFlight() == 20_000);
      assertRefused(client.send(WireClient.call(1, "getFileInfo", "/")).read());
      holder.close();
      Await.until("the memory is free", () -> server.bytesInFlight() == 0);
      client.send(WireClient.call(2, "getFileInfo", "/"));
      assertThat(client.read().header().getStatus()).isEqualTo(RpcStatusProto.SUCCESS);
    }
  }

  @Test
  void aConnectionTooManyIsClosedAndAnotherIsNot() throws Exception {
    start(ServerLimits.DEFAULT.withConnections(2, 500, 20_000));
    try (WireClient first = server.connect();
        WireClient second = server.connect()) {
      first.send(WireClient.call(1, "getFileInfo", "/")).read();
      second.send(WireClient.call(1, "getFileInfo", "/")).read();
      try (WireClient third = new WireClient(server.address())) {
        assertThat(third.isClosedByServer()).isTrue();
      }
    }
    Await.until(
        "there is a place again",
        () -> {
          try {
            assertServes();
            return true;
          } catch (IOException e) {
            return false;
          }
        });
  }

  @Test
  void aSilentConnectionIsClosedUnlessACallIsUnderWay() throws Exception {
    start(ServerLimits.DEFAULT.withConnections(100, 1, 200));
    try (WireClient busy = server.connect();
        WireClient idle = server.connect()) {
      busy.send(WireClient.call(1, "fsync", "/slow"));
      assertThat(idle.isClosedByServer()).as("the silent one").isTrue();
      slow.release();
      assertThat(new String(busy.read().result(), UTF_8)).as("the one that waits").isEmpty();
    }
  }
}
