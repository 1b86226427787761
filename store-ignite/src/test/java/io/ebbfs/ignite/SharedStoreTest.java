package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StoreOpenException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.store.WouldBlockException;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two namenodes on one store: what one does while a transaction of the other is under way. */
@Tag("process")
class SharedStoreTest {
  private static final long P = 7;

  @TempDir static Path directory;
  private static StoreNodes nodes;
  private static IgniteStore one;
  private static IgniteStore other;
  private static final ExecutorService ELSEWHERE = Executors.newSingleThreadExecutor();

  @BeforeAll
  static void start() throws Exception {
    nodes = StoreNodes.start(directory, 1);
    one = IgniteStore.open(nodes.client());
    other = IgniteStore.open(nodes.client());
  }

  @AfterAll
  static void stop() throws IOException {
    ELSEWHERE.shutdownNow();
    one.close();
    other.close();
    nodes.close();
  }

  @BeforeEach
  void clear() throws IOException {
    one.clear();
  }

  private static Key key(long rest) {
    return Key.of(P, rest);
  }

  private static CounterRow row(long value) {
    return CounterRow.newBuilder().setValue(value).build();
  }

  private static Object put(MetadataStore store, Key key, long value) throws IOException {
    return store.transact(
        P,
        transaction -> {
          transaction.put(Tables.COUNTER, key, row(value));
          return null;
        });
  }

  private static long value(Transaction transaction, Key key) throws IOException {
    return transaction.get(Tables.COUNTER, key).map(CounterRow::getValue).orElse(0L);
  }

  /** On another thread, as another process would. */
  private static void elsewhere(Callable<?> work) throws IOException {
    try {
      ELSEWHERE.submit(work).get(20, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  /** Locks row 1, writes row 2. */
  private static Object lockAndWriteAnother(MetadataStore store, RowLock lock, Key written)
      throws IOException {
    return store.transact(
        P,
        transaction -> {
          transaction.lock(List.of(lock));
          transaction.put(Tables.COUNTER, written, row(1));
          return null;
        });
  }

  /** Returns how often the body ran, whose first run the other namenode disturbs. */
  private static int runs(RowLock mine, RowLock theirs) throws IOException {
    AtomicInteger runs = new AtomicInteger();
    one.transact(
        P,
        transaction -> {
          transaction.lock(List.of(mine));
          if (runs.incrementAndGet() == 1) {
            elsewhere(() -> lockAndWriteAnother(other, theirs, key(2)));
          }
          transaction.put(Tables.COUNTER, key(3), row(value(transaction, key(2))));
          return null;
        });
    assertThat(one.<Long>transact(P, transaction -> value(transaction, key(3)))).isEqualTo(1);
    return runs.get();
  }

  @Test
  void exclusiveLocksOfARowExcludeEachOther() throws IOException {
    put(one, key(1), 1);
    RowLock lock = RowLock.exclusive(Tables.COUNTER, key(1));
    assertThat(runs(lock, lock)).isEqualTo(2);
  }

  @Test
  void exclusiveLocksOfARowThatDoesNotExistExcludeEachOther() throws IOException {
    RowLock lock = RowLock.exclusive(Tables.COUNTER, key(1));
    assertThat(runs(lock, lock)).isEqualTo(2);
    clearExceptGuards();
    assertThat(runs(lock, lock)).isEqualTo(2);
  }

  private static void clearExceptGuards() throws IOException {
    one.transact(
        P,
        transaction -> {
          transaction.delete(Tables.COUNTER, key(2));
          transaction.delete(Tables.COUNTER, key(3));
          return null;
        });
  }

  @Test
  void anExclusiveLockExcludesASharedOne() throws IOException {
    put(one, key(1), 1);
    RowLock shared = RowLock.shared(Tables.COUNTER, key(1));
    assertThat(runs(shared, RowLock.exclusive(Tables.COUNTER, key(1)))).isEqualTo(2);
  }

  @Test
  void sharedLocksGoTogether() throws IOException {
    put(one, key(1), 1);
    RowLock shared = RowLock.shared(Tables.COUNTER, key(1));
    assertThat(runs(shared, shared)).isEqualTo(1);
  }

  @Test
  void aRowThatIsOnlyLockedStaysInvisible() throws IOException {
    lockAndWriteAnother(one, RowLock.exclusive(Tables.COUNTER, key(1)), key(2));
    other.transact(
        P,
        transaction -> {
          assertThat(transaction.get(Tables.COUNTER, key(1))).isEmpty();
          assertThat(transaction.scan(Tables.COUNTER, P, null, 1))
              .extracting(Row::key)
              .containsExactly(key(2));
          return null;
        });
    assertThat(other.scanAll(Tables.COUNTER, null, 1)).extracting(Row::key).containsExactly(key(2));
  }

  /** The body fails because the other namenode changes rows between two reads. */
  @Test
  void aFailureThatSawRowsInMotionIsNoAnswer() throws IOException {
    put(one, key(1), 1);
    AtomicInteger runs = new AtomicInteger();
    long seen =
        one.transact(
            P,
            transaction -> {
              transaction.lock(List.of(RowLock.shared(Tables.COUNTER, key(1))));
              if (runs.incrementAndGet() == 1) {
                elsewhere(() -> put(other, key(1), 2));
                throw new IOException("row 1 was replaced meanwhile");
              }
              return value(transaction, key(1));
            });
    assertThat(seen).isEqualTo(2);
  }

  @Test
  void noIncrementIsLost() throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> work = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        IgniteStore store = i % 2 == 0 ? one : other;
        work.add(executor.submit(() -> incrementOften(store)));
      }
      for (Future<?> thread : work) {
        thread.get(60, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
    assertThat(one.<Long>transact(P, transaction -> value(transaction, key(1)))).isEqualTo(200);
  }

  private static Object incrementOften(IgniteStore store) throws IOException {
    for (int n = 0; n < 50; n++) {
      store.transact(
          P,
          transaction -> {
            transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key(1))));
            transaction.put(Tables.COUNTER, key(1), row(value(transaction, key(1)) + 1));
            return null;
          });
    }
    return null;
  }

  @Test
  void aThreadThatMustNotWaitIsSentAway() {
    assertThatThrownBy(() -> NonBlocking.run(() -> put(one, key(1), 1)))
        .isInstanceOf(WouldBlockException.class);
  }

  @Test
  void aStoreThatIsNotThereIsNamed() {
    StoreClientConfig nobody =
        new StoreClientConfig(
            "nobody",
            directory.resolve("nobody"),
            "127.0.0.1",
            List.of("127.0.0.1:1"),
            100,
            100,
            500,
            4,
            2_000);
    assertThatThrownBy(() -> IgniteStore.open(nobody))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("127.0.0.1:1")
        .hasMessageContaining("start its nodes");
  }
}
