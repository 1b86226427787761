package io.ebbfs.namenode.rpc.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.Await;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.rpc.server.WireClient.Answer;
import io.ebbfs.namenode.store.NonBlocking;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcErrorCodeProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcStatusProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcSaslProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcSaslProto.SaslState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The server as its clients see it, frame by frame. */
@Timeout(120)
class RpcServerTest {
  private static final int HANDLERS = 2;

  private final Queue<String> ran = new ConcurrentLinkedQueue<>();
  private ServerFixture server;

  @AfterEach
  void stop() throws InterruptedException {
    server.close();
  }

  private void start(ServerLimits limits, ServerFixture.PathHandler handler) throws IOException {
    server = ServerFixture.start(HANDLERS, limits, handler);
  }

  /** The answer to a call is the path that it names. */
  private void startEcho() throws IOException {
    start(ServerLimits.DEFAULT, path -> path.getBytes(UTF_8));
  }

  private static void hold(Semaphore permits) throws IOException {
    try {
      permits.acquire();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  // ---- frames

  @Test
  void aStreamMayBeCutAnywhere() throws Exception {
    startEcho();
    byte[] stream =
        WireClient.join(
            WireClient.PREAMBLE,
            WireClient.context("somebody"),
            WireClient.frame(WireClient.header(WireClient.PING)),
            WireClient.call(7, "getFileInfo", "/seven"),
            WireClient.call(8, "fsync", "/eight"));
    for (int cut = 1; cut < stream.length; cut += 1 + cut % 3) {
      try (WireClient client = new WireClient(server.address())) {
        client.send(Arrays.copyOf(stream, cut));
        client.send(Arrays.copyOfRange(stream, cut, stream.length));
        assertEchoes(client, cut);
      }
    }
    try (WireClient client = new WireClient(server.address())) {
      for (byte one : stream) {
        client.send(new byte[] {one});
      }
      assertEchoes(client, -1);
    }
  }

  private static void assertEchoes(WireClient client, int cut) throws IOException {
    List<String> echoes = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Answer answer = client.read();
      assertThat(answer.header().getStatus())
          .as("cut at %d", cut)
          .isEqualTo(RpcStatusProto.SUCCESS);
      echoes.add(answer.header().getCallId() + new String(answer.result(), UTF_8));
    }
    assertThat(echoes).as("cut at %d", cut).containsExactlyInAnyOrder("7/seven", "8/eight");
  }

  @Test
  void answersNameTheirCallAndClient() throws Exception {
    startEcho();
    try (WireClient client = server.connect()) {
      Answer answer = client.send(WireClient.call(77, 3, "getFileInfo", "/x")).read();
      assertThat(answer.header().getCallId()).isEqualTo(77);
      assertThat(answer.header().getRetryCount()).isEqualTo(3);
      assertThat(answer.header().getClientId()).isEqualTo(WireClient.header(0).getClientId());
      assertThat(answer.header().getServerIpcVersionNum()).isEqualTo(9);
    }
  }

  @Test
  void lengthsThatLieEndTheConnectionWithAReason() throws Exception {
    startEcho();
    for (int length : new int[] {-1, Integer.MIN_VALUE, (128 << 20) + 1, Integer.MAX_VALUE}) {
      assertFatal(
          ByteBuffer.allocate(4).putInt(length).array(),
          RpcErrorCodeProto.FATAL_DESERIALIZING_REQUEST,
          "a frame of " + length + " bytes");
    }
    byte[] call = WireClient.call(1, "getFileInfo", "/x");
    for (int at = 4; at < call.length; at++) {
      byte[] lying = call.clone();
      lying[at] = (byte) 0xFF;
      try (WireClient client = server.connect()) {
        client.send(lying).send(WireClient.call(2, "getFileInfo", "/y"));
        Answer answer = client.read();
        // Whatever the byte meant, the server answers it, or goes on with the next call.
        assertThat(answer.header().hasStatus()).as("byte %d", at).isTrue();
      }
    }
  }

  @Test
  void announcedBytesTakeNoMemoryBeforeTheyCome() throws Exception {
    startEcho();
    List<WireClient> liars = new ArrayList<>();
    byte[] begun = WireClient.join(ByteBuffer.allocate(4).putInt(128 << 20).array(), new byte[100]);
    for (int i = 0; i < 50; i++) {
      liars.add(server.connect().send(begun));
    }
    Await.until("the bytes have come", () -> server.bytesInFlight() == 50 * 104);
    for (WireClient liar : liars) {
      liar.close();
    }
    Await.until("the bytes are forgotten", () -> server.bytesInFlight() == 0);
  }

  private void assertFatal(byte[] frame, RpcErrorCodeProto code, String message)
      throws IOException {
    try (WireClient client = server.connect()) {
      Answer answer = client.send(frame).read();
      assertThat(answer.header().getStatus()).isEqualTo(RpcStatusProto.FATAL);
      assertThat(answer.header().getErrorDetail()).isEqualTo(code);
      assertThat(answer.header().getErrorMsg()).contains(message);
      assertThat(client.isClosedByServer()).isTrue();
    }
  }

  @Test
  void framesOutOfPlaceEndTheConnectionWithAReason() throws Exception {
    startEcho();
    RpcErrorCodeProto header = RpcErrorCodeProto.FATAL_INVALID_RPC_HEADER;
    assertFatal(WireClient.context("again"), header, "context comes twice");
    assertFatal(WireClient.frame(WireClient.header(-99)), header, "call id -99 has no meaning");
    assertFatal(sasl(SaslState.NEGOTIATE), header, "did not ask for SASL");
    assertFatal(
        WireClient.frame(WireClient.header(0).toBuilder().clearRpcKind().build()),
        header,
        "RPC kind -1 is not supported");
    assertFatal(
        ByteBuffer.allocate(4).putInt(0).array(),
        RpcErrorCodeProto.FATAL_DESERIALIZING_REQUEST,
        "RpcRequestHeaderProto");
    try (WireClient client = new WireClient(server.address())) {
      Answer early =
          client.send(WireClient.PREAMBLE).send(WireClient.call(5, "getFileInfo", "/x")).read();
      assertThat(early.header().getErrorDetail()).isEqualTo(header);
      assertThat(early.header().getCallId()).isEqualTo(5);
    }
  }

  // ---- the beginning of a connection

  @Test
  void whoSpeaksAnotherVersionIsToldSo() throws Exception {
    startEcho();
    try (WireClient newer = new WireClient(server.address())) {
      Answer answer = newer.send(new byte[] {'h', 'r', 'p', 'c', 10, 0, 0}).read();
      assertThat(answer.header().getErrorDetail())
          .isEqualTo(RpcErrorCodeProto.FATAL_VERSION_MISMATCH);
      assertThat(answer.header().getExceptionClassName())
          .isEqualTo("org.apache.hadoop.ipc.RPC$VersionMismatch");
      assertThat(answer.header().getErrorMsg()).contains("version 10").contains("use version 9");
      assertThat(newer.isClosedByServer()).isTrue();
    }
    for (byte version : new byte[] {2, 3, 8}) {
      try (WireClient older = new WireClient(server.address())) {
        byte[] answer = older.send(new byte[] {'h', 'r', 'p', 'c', version, 0, 0}).readAll();
        assertThat(new String(answer, US_ASCII)).contains("RPC$VersionMismatch", "use version 9");
      }
    }
  }

  @Test
  void aBrowserIsToldThatThisIsNoWebPage() throws Exception {
    startEcho();
    try (WireClient browser = new WireClient(server.address())) {
      byte[] answer =
          browser.send("GET / HTTP/1.1\r\nHost: namenode\r\n\r\n".getBytes(US_ASCII)).readAll();
      assertThat(new String(answer, US_ASCII))
          .startsWith("HTTP/1.1 404 Not Found\r\n")
          .contains("Hadoop RPC port");
    }
  }

  @Test
  void anUnknownAuthenticationIsRefused() throws Exception {
    startEcho();
    try (WireClient client = new WireClient(server.address())) {
      Answer answer = client.send(new byte[] {'h', 'r', 'p', 'c', 9, 0, 5}).read();
      assertThat(answer.header().getErrorDetail()).isEqualTo(RpcErrorCodeProto.FATAL_UNAUTHORIZED);
      assertThat(answer.header().getErrorMsg()).contains("use SIMPLE");
    }
  }

  private static byte[] sasl(SaslState state) {
    return WireClient.frame(
        WireClient.header(WireClient.SASL), RpcSaslProto.newBuilder().setState(state).build());
  }

  @Test
  void whoWantsToNegotiateIsSwitchedToSimple() throws Exception {
    startEcho();
    try (WireClient client = new WireClient(server.address())) {
      Answer answer = client.send(WireClient.SASL_PREAMBLE).send(sasl(SaslState.NEGOTIATE)).read();
      assertThat(answer.header().getCallId()).isEqualTo(WireClient.SASL);
      assertThat(RpcSaslProto.parseFrom(answer.result()).getState()).isEqualTo(SaslState.SUCCESS);
      client.send(WireClient.context("somebody"));
      client.send(WireClient.call(1, "getFileInfo", "/x"));
      assertThat(client.read().result()).isEqualTo("/x".getBytes(UTF_8));
    }
    try (WireClient client = new WireClient(server.address())) {
      client.send(WireClient.SASL_PREAMBLE).send(sasl(SaslState.INITIATE));
      assertThat(client.read().header().getErrorDetail())
          .isEqualTo(RpcErrorCodeProto.FATAL_UNAUTHORIZED);
    }
  }

  @Test
  void theHandlerKnowsItsCaller() throws Exception {
    start(
        ServerLimits.DEFAULT,
        path ->
            (CurrentCall.get().user().name() + "@" + CurrentCall.get().address().getHostAddress())
                .getBytes(UTF_8));
    for (String method : List.of("getFileInfo", "fsync")) {
      try (WireClient client = server.connect()) {
        client.send(WireClient.call(1, method, "/"));
        assertThat(client.read().result()).isEqualTo("somebody@127.0.0.1".getBytes(UTF_8));
      }
    }
    assertThat(CurrentCall.get()).isNull();
  }

  // ---- calls

  @Test
  void failuresNameTheirClassAndKeepTheConnection() throws Exception {
    start(
        ServerLimits.DEFAULT,
        path -> {
          if (path.equals("/missing")) {
            throw new FileNotFoundException("no " + path);
          }
          if (path.equals("/untraced")) {
            throw PathErrors.notFound("no " + path);
          }
          throw new IllegalStateException("broken");
        });
    try (WireClient client = server.connect()) {
      Answer missing = client.send(WireClient.call(1, "getFileInfo", "/missing")).read();
      assertThat(missing.header().getStatus()).isEqualTo(RpcStatusProto.ERROR);
      assertThat(missing.header().getExceptionClassName())
          .isEqualTo("java.io.FileNotFoundException");
      assertThat(missing.header().getErrorMsg()).isEqualTo("no /missing");
      Answer untraced = client.send(WireClient.call(4, "getFileInfo", "/untraced")).read();
      assertThat(untraced.header().getExceptionClassName())
          .as("the class that stock clients know")
          .isEqualTo("java.io.FileNotFoundException");
      assertThat(untraced.header().getErrorMsg()).isEqualTo("no /untraced");
      Answer broken = client.send(WireClient.call(2, "fsync", "/broken")).read();
      assertThat(broken.header().getExceptionClassName())
          .isEqualTo("java.lang.IllegalStateException");
      assertThat(broken.header().getErrorMsg()).startsWith("broken\n\tat io.ebbfs");
      Answer unknown = client.send(WireClient.call(3, "noSuchMethod", "/")).read();
      assertThat(unknown.header().getErrorDetail())
          .isEqualTo(RpcErrorCodeProto.ERROR_NO_SUCH_METHOD);
    }
  }

  @Test
  void answersComeInTheOrderInWhichTheyAreReady() throws Exception {
    Semaphore slow = new Semaphore(0);
    start(
        ServerLimits.DEFAULT,
        path -> {
          if (path.equals("/slow")) {
            hold(slow);
          }
          return new byte[0];
        });
    try (WireClient client = server.connect()) {
      client.send(
          WireClient.join(
              WireClient.call(1, "fsync", "/slow"),
              WireClient.call(2, "fsync", "/"),
              WireClient.call(3, "getFileInfo", "/")));
      List<Integer> first =
          List.of(client.read().header().getCallId(), client.read().header().getCallId());
      assertThat(first).containsExactlyInAnyOrder(2, 3);
      slow.release();
      assertThat(client.read().header().getCallId()).isEqualTo(1);
    }
  }

  @Test
  void pipelinedCallsAreAllAnswered() throws Exception {
    startEcho();
    int calls = 5_000;
    try (WireClient client = server.connect()) {
      byte[][] frames = new byte[calls][];
      for (int i = 0; i < calls; i++) {
        frames[i] = WireClient.call(i, i % 5 == 0 ? "fsync" : "getFileInfo", "/" + i);
      }
      Thread sender = new Thread(() -> sendAll(client, WireClient.join(frames)));
      sender.start();
      boolean[] answered = new boolean[calls];
      for (int i = 0; i < calls; i++) {
        Answer answer = client.read();
        int id = answer.header().getCallId();
        assertThat(answered[id]).isFalse();
        answered[id] = true;
        assertThat(answer.result()).isEqualTo(("/" + id).getBytes(UTF_8));
      }
      sender.join();
    }
    Await.until("nothing is held", () -> server.bytesInFlight() == 0);
  }

  private static void sendAll(WireClient client, byte[] bytes) {
    try {
      client.send(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aQuickCallThatWouldWaitRunsOnThePool() throws Exception {
    start(
        ServerLimits.DEFAULT,
        path -> {
          ran.add(Thread.currentThread().getName().replaceAll("-\\d+", ""));
          if (path.equals("/waits")) {
            NonBlocking.beforeWait();
          }
          return new byte[0];
        });
    try (WireClient client = server.connect()) {
      client.send(WireClient.call(1, "getFileInfo", "/")).read();
      client.send(WireClient.call(2, "getFileInfo", "/waits")).read();
      client.send(WireClient.call(3, "fsync", "/")).read();
    }
    assertThat(ran).containsExactly("rpc-loop", "rpc-loop", "rpc-handler", "rpc-handler");
  }

  // ---- calls that come twice

  @Test
  void aRepeatedCallGetsTheAnswerOfTheFirstRun() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    start(ServerLimits.DEFAULT, path -> ("run " + runs.incrementAndGet()).getBytes(UTF_8));
    byte[] first;
    try (WireClient client = server.connect()) {
      first = client.send(WireClient.call(1, "delete", "/x")).read().result();
    }
    try (WireClient again = server.connect()) {
      assertThat(again.send(WireClient.call(1, 1, "delete", "/x")).read().result())
          .isEqualTo(first);
      assertThat(again.send(WireClient.call(2, "delete", "/x")).read().result())
          .isNotEqualTo(first);
    }
    assertThat(runs).hasValue(2);
  }

  @Test
  void aRepeatedCallWaitsForTheFirstRun() throws Exception {
    Semaphore finish = new Semaphore(0);
    AtomicInteger runs = new AtomicInteger();
    start(
        ServerLimits.DEFAULT,
        path -> {
          if (path.equals("/x")) {
            hold(finish);
          }
          return ("run " + runs.incrementAndGet()).getBytes(UTF_8);
        });
    try (WireClient client = server.connect();
        WireClient again = server.connect()) {
      sendBehindOther(client, WireClient.call(1, "delete", "/x"));
      sendBehindOther(again, WireClient.call(1, 1, "delete", "/x"));
      finish.release(2);
      byte[] answer = client.read().result();
      assertThat(again.read().result()).isEqualTo(answer);
      assertThat(runs).as("two others, and one of both").hasValue(3);
    }
  }

  /** Returns when the server has read the call: another call behind it was answered. */
  private static void sendBehindOther(WireClient client, byte[] call) throws IOException {
    client.send(call).send(WireClient.call(99, "getFileInfo", "/other"));
    assertThat(client.read().header().getCallId()).isEqualTo(99);
  }

  @Test
  void aRepeatedCallRunsIfTheFirstRunFailed() throws Exception {
    Semaphore finish = new Semaphore(0);
    AtomicInteger runs = new AtomicInteger();
    start(
        ServerLimits.DEFAULT,
        path -> {
          if (path.equals("/x")) {
            hold(finish);
            if (runs.incrementAndGet() == 1) {
              throw new IOException("the first run fails");
            }
          }
          return new byte[0];
        });
    try (WireClient client = server.connect();
        WireClient again = server.connect()) {
      sendBehindOther(client, WireClient.call(1, "delete", "/x"));
      sendBehindOther(again, WireClient.call(1, 1, "delete", "/x"));
      finish.release(2);
      assertThat(client.read().header().getStatus()).isEqualTo(RpcStatusProto.ERROR);
      assertThat(again.read().header().getStatus()).isEqualTo(RpcStatusProto.SUCCESS);
    }
  }

  @Test
  void anotherUserOrMethodDoesNotGetTheAnswer() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    start(ServerLimits.DEFAULT, path -> ("run " + runs.incrementAndGet()).getBytes(UTF_8));
    try (WireClient client = server.connect();
        WireClient other = new WireClient(server.address())) {
      other.send(WireClient.PREAMBLE).send(WireClient.context("other"));
      client.send(WireClient.call(1, "delete", "/x")).read();
      other.send(WireClient.call(1, 1, "delete", "/x")).read();
    }
    assertThat(runs).hasValue(2);
  }

  @Test
  void onlyTheNewestAnswersAreKept() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    start(
        ServerLimits.DEFAULT,
        path -> {
          runs.incrementAndGet();
          return new byte[1_000];
        });
    try (WireClient client = server.connect()) {
      for (int id = 0; id < 20; id++) {
        client.send(WireClient.call(id, "delete", "/x")).read();
      }
      client.send(WireClient.call(19, 1, "delete", "/x")).read();
      assertThat(runs).hasValue(20);
      client.send(WireClient.call(0, 1, "delete", "/x")).read();
      assertThat(runs).as("10,000 bytes hold less than ten answers").hasValue(21);
    }
  }
}
