package io.ebbfs.namenode.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.HeldSync;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto.RpcStatusProto;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A call that changes rows is answered once its changes are on the disk; no thread waits. */
@Timeout(120)
class SyncedAnswersTest {
  private static final int HANDLERS = 1;
  private static final int WAITING = 500;

  private final HeldSync disk = new HeldSync();
  private final AtomicInteger changes = new AtomicInteger();
  private final CompletableFuture<Void> event = new CompletableFuture<>();
  private final CompletableFuture<Void> secondEvent = new CompletableFuture<>();
  @TempDir Path directory;
  private RocksDbStore store;
  private ServerFixture server;

  @BeforeEach
  void start() throws IOException {
    store = disk.open(directory.resolve("db"));
    server = ServerFixture.start(HANDLERS, ServerLimits.DEFAULT, this::answer);
  }

  @AfterEach
  void stop() throws Exception {
    disk.release();
    event.complete(null);
    secondEvent.complete(null);
    server.close();
    try {
      store.close();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("on purpose");
    }
  }

  private byte[] answer(String path) throws IOException {
    if (path.equals("/wait")) {
      change();
      throw new LaterException(event, () -> new byte[] {1});
    }
    if (path.equals("/wait-twice")) {
      throw new LaterException(
          event,
          () -> {
            throw new LaterException(secondEvent, () -> new byte[] {2});
          });
    }
    if (path.equals("/change")) {
      change();
    }
    return new byte[0];
  }

  private void change() throws IOException {
    CounterRow row = CounterRow.newBuilder().setValue(changes.incrementAndGet()).build();
    store.transact(
        7,
        transaction -> {
          transaction.put(Tables.COUNTER, Key.of(7, 1), row);
          return null;
        });
  }

  @Test
  void noThreadWaitsAndNoAnswerLeavesBeforeTheSync() throws Exception {
    disk.hold();
    try (WireClient client = server.connect();
        WireClient again = server.connect()) {
      // More changes than there are threads; the method getFileInfo is quick, and fsync is not.
      for (int id = 0; id < 10; id++) {
        client.send(WireClient.call(id, id % 2 == 0 ? "getFileInfo" : "fsync", "/change"));
      }
      client.send(WireClient.call(10, "delete", "/change"));
      client.send(WireClient.call(11, "fsync", "/"));
      assertThat(client.read().header().getCallId())
          .as("the answer of the call that changes nothing")
          .isEqualTo(11);
      assertThat(changes).hasValue(11);
      again.send(WireClient.call(10, 1, "delete", "/change"));
      again.send(WireClient.call(12, "getFileInfo", "/"));
      assertThat(again.read().header().getCallId())
          .as("the repetition waits as the first run does")
          .isEqualTo(12);
      disk.release();
      for (int i = 0; i < 11; i++) {
        assertThat(client.read().header().getStatus()).isEqualTo(RpcStatusProto.SUCCESS);
      }
      assertThat(again.read().header().getCallId()).isEqualTo(10);
      assertThat(changes).hasValue(11);
    }
  }

  @Test
  void fiveHundredCallsThatWaitForAnEventHoldNoThread() throws Exception {
    try (WireClient client = server.connect()) {
      // The method getFileInfo is quick, and fsync is not.
      for (int id = 0; id < WAITING; id++) {
        client.send(WireClient.call(id, id % 2 == 0 ? "getFileInfo" : "fsync", "/wait"));
      }
      client.send(WireClient.call(WAITING, "delete", "/wait-twice"));
      client.send(WireClient.call(WAITING + 1, "fsync", "/"));
      assertThat(client.read().header().getCallId())
          .as("the answer of the call that waits for nothing")
          .isEqualTo(WAITING + 1);
      assertThat(changes).hasValue(WAITING);
      event.complete(null);
      for (int i = 0; i < WAITING; i++) {
        assertThat(client.read().result()).containsExactly(1);
      }
      secondEvent.complete(null);
      assertThat(client.read().result()).containsExactly(2);
      client.send(WireClient.call(WAITING, 1, "delete", "/wait-twice"));
      assertThat(client.read().result()).as("a repetition").containsExactly(2);
      assertThat(changes).hasValue(WAITING);
    }
  }

  @Test
  void whatWasCommittedBeforeAnEventIsSyncedBeforeTheAnswer() throws Exception {
    disk.hold();
    try (WireClient client = server.connect()) {
      client.send(WireClient.call(1, "fsync", "/wait"));
      client.send(WireClient.call(2, "fsync", "/"));
      assertThat(client.read().header().getCallId()).isEqualTo(2);
      event.complete(null);
      client.send(WireClient.call(3, "fsync", "/"));
      assertThat(client.read().header().getCallId())
          .as("the one thread has run the rest of the first call by now")
          .isEqualTo(3);
      disk.release();
      assertThat(client.read().header().getCallId()).isEqualTo(1);
    }
  }

  @Test
  void aFailedEventDoesNotLoseItsCall() throws Exception {
    try (WireClient client = server.connect()) {
      client.send(WireClient.call(1, "getFileInfo", "/wait"));
      event.completeExceptionally(new IOException("on purpose"));
      assertThat(client.read().header().getStatus()).isEqualTo(RpcStatusProto.SUCCESS);
    }
  }

  @Test
  void aChangeThatDoesNotReachTheDiskFails() throws Exception {
    disk.failFromNowOn();
    try (WireClient client = server.connect()) {
      client.send(WireClient.call(1, "getFileInfo", "/change"));
      assertThat(client.read().header().getStatus()).isEqualTo(RpcStatusProto.ERROR);
    }
  }
}
