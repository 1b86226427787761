package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The store stops to answer in the middle of a transaction. */
@Tag("process")
class SilentStoreTest {
  private static final Key KEY = Key.of(7, 1);
  private static final long PATIENCE_MILLIS = 1_000;
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(240);

  @TempDir static Path directory;

  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void aCallEndsInTimeAndTheStoreIsJoinedAgain() throws Exception {
    try (StoreNodes nodes = StoreNodes.start(directory, 1);
        IgniteStore store = IgniteStore.open(impatient(nodes))) {
      write(store, nodes, false);
      assertThatThrownBy(() -> write(store, nodes, true))
          .isInstanceOf(CommitOutcomeUnknownException.class);
      nodes.signal(0, "CONT");
      awaitWrite(store, nodes);
    }
  }

  /** No other call tells that the store is silent: a namenode that only reads joins again, too. */
  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void aReadThatIsNotAnsweredHasTheStoreJoinedAgain() throws Exception {
    Path own = Files.createDirectory(directory.resolve("reads"));
    try (StoreNodes nodes = StoreNodes.start(own, 1);
        IgniteStore store = IgniteStore.open(impatient(nodes))) {
      write(store, nodes, false);
      nodes.signal(0, "STOP");
      assertThatThrownBy(() -> read(store)).hasMessageContaining("read failed");
      assertThatThrownBy(() -> read(store)).hasMessageContaining("joins it again");
      nodes.signal(0, "CONT");
      awaitWrite(store, nodes);
      assertThat(read(store)).isPresent();
    }
  }

  private static Optional<CounterRow> read(IgniteStore store) throws IOException {
    return store.transact(7, transaction -> transaction.get(Tables.COUNTER, KEY));
  }

  private static StoreClientConfig impatient(StoreNodes nodes) {
    return new StoreClientConfig(
        "impatient",
        directory.resolve("impatient"),
        "127.0.0.1",
        nodes.peers(),
        PATIENCE_MILLIS,
        PATIENCE_MILLIS,
        20_000,
        4,
        5_000);
  }

  private static Object write(IgniteStore store, StoreNodes nodes, boolean freeze)
      throws IOException {
    return store.transact(
        7,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, KEY)));
          transaction.put(Tables.COUNTER, KEY, CounterRow.newBuilder().setValue(1).build());
          if (freeze) {
            freeze(nodes);
          }
          return null;
        });
  }

  private static void freeze(StoreNodes nodes) throws IOException {
    try {
      nodes.signal(0, "STOP");
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  private static void awaitWrite(IgniteStore store, StoreNodes nodes) throws Exception {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (true) {
      try {
        write(store, nodes, false);
        return;
      } catch (IOException e) {
        assertThat(System.nanoTime()).as(e.getMessage()).isLessThan(deadline);
        Thread.sleep(20);
      }
    }
  }
}
