package io.ebbfs.namenode.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.HeldSync;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.file.Path;
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

  private final HeldSync disk = new HeldSync();
  private final AtomicInteger changes = new AtomicInteger();
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
    server.close();
    try {
      store.close();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("on purpose");
    }
  }

  private byte[] answer(String path) throws IOException {
    if (path.equals("/change")) {
      CounterRow row = CounterRow.newBuilder().setValue(changes.incrementAndGet()).build();
      store.transact(
          7,
          transaction -> {
            transaction.put(Tables.COUNTER, Key.of(7, 1), row);
            return null;
          });
    }
    return new byte[0];
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
  void aChangeThatDoesNotReachTheDiskFails() throws Exception {
    disk.failFromNowOn();
    try (WireClient client = server.connect()) {
      client.send(WireClient.call(1, "getFileInfo", "/change"));
      assertThat(client.read().header().getStatus()).isEqualTo(RpcStatusProto.ERROR);
    }
  }
}
