package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NonBlockingTest {
  private static final Key KEY = Key.of(7, 1);

  private final ExecutorService others = Executors.newCachedThreadPool();
  @TempDir Path directory;
  private RocksDbStore store;

  @BeforeEach
  void open() throws IOException {
    store = RocksDbStore.open(directory.resolve("db"), 1_000, 8L << 20);
  }

  @AfterEach
  void close() throws IOException {
    others.shutdownNow();
    store.close();
  }

  private static CounterRow row(long value) {
    return CounterRow.newBuilder().setValue(value).build();
  }

  private Object put(Key key, long value) throws IOException {
    return OptimisticTransactions.transact(
        store,
        7,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key)));
          transaction.put(Tables.COUNTER, key, row(value));
          return null;
        });
  }

  private Optional<CounterRow> get(Key key) throws IOException {
    return store.transact(7, transaction -> transaction.get(Tables.COUNTER, key));
  }

  private List<Row<CounterRow>> scan() throws IOException {
    return store.transact(7, transaction -> transaction.scan(Tables.COUNTER, 7));
  }

  private static void assertBlocks(NonBlocking.Work<?> work) {
    assertThatThrownBy(() -> NonBlocking.run(work)).isInstanceOf(WouldBlockException.class);
  }

  /** Runs a step while another thread holds the lock of the row. */
  private void whileLocked(Step step) throws Exception {
    CountDownLatch locked = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    Future<Object> holder =
        others.submit(
            () ->
                store.transact(
                    7,
                    transaction -> {
                      transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, KEY)));
                      locked.countDown();
                      awaitQuietly(done);
                      return null;
                    }));
    awaitQuietly(locked);
    try {
      step.run();
    } finally {
      done.countDown();
      holder.get(10, TimeUnit.SECONDS);
    }
  }

  private interface Step {
    void run() throws Exception;
  }

  private static void awaitQuietly(CountDownLatch latch) throws IOException {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  void aLockThatIsNotFreeIsNotWaitedForAndEarlierOnesAreFreed() throws Exception {
    Key before = Key.of(7, 0);
    whileLocked(
        () -> {
          assertBlocks(
              () ->
                  store.transact(
                      7,
                      transaction -> {
                        transaction.put(Tables.COUNTER, before, row(1));
                        transaction.lock(
                            List.of(
                                RowLock.exclusive(Tables.COUNTER, before),
                                RowLock.exclusive(Tables.COUNTER, KEY)));
                        return null;
                      }));
          put(before, 2);
        });
    assertThat(get(before)).contains(row(2));
    NonBlocking.run(() -> put(KEY, 3));
    assertThat(get(KEY)).contains(row(3));
  }

  @Test
  void rowsOnTheDiskAreNotReadUntilTheyAreInMemory() throws IOException {
    put(KEY, 1);
    store.close();
    open(); // rows of the log go to a file at the start; nothing of it is in memory
    assertBlocks(() -> get(KEY));
    assertBlocks(() -> store.transact(7, t -> t.getAll(Tables.COUNTER, List.of(KEY))));
    assertBlocks(this::scan);
    assertThat(get(KEY)).contains(row(1));
    assertThat(scan()).hasSize(1);
    NonBlocking.run(
        () -> {
          assertThat(get(KEY)).contains(row(1));
          return assertThat(scan()).hasSize(1);
        });
  }

  @Test
  void anIdThatNeedsANewRangeAndASyncAreLeftToOthers() throws IOException {
    IdGenerator ids = IdGenerator.inodes(store);
    assertBlocks(ids::next);
    long first = ids.next();
    assertThat(NonBlocking.run(ids::next)).isEqualTo(first + 1);
    assertBlocks(
        () -> {
          store.sync();
          return null;
        });
  }

  /** A repetition would not know what the first run has done, so the work goes on. */
  @Test
  void workThatHasCommittedMayWait() throws Exception {
    Key other = Key.of(7, 2);
    CountDownLatch committed = new CountDownLatch(1);
    Future<Object> work = startAfterLock(other, committed);
    work.get(10, TimeUnit.SECONDS);
    assertThat(get(KEY)).contains(row(5));
  }

  private Future<Object> startAfterLock(Key other, CountDownLatch committed) throws Exception {
    Future<Object>[] started = newFutures();
    whileLocked(
        () -> {
          started[0] =
              others.submit(
                  () ->
                      NonBlocking.run(
                          () -> {
                            put(other, 4);
                            committed.countDown();
                            return put(KEY, 5);
                          }));
          awaitQuietly(committed);
        });
    return started[0];
  }

  @SuppressWarnings("unchecked") // an array of one, which a lambda fills
  private static Future<Object>[] newFutures() {
    return new Future[1];
  }

  @Test
  void codeThatWaitsLongerAsksFirst() throws IOException {
    NonBlocking.beforeWait();
    assertBlocks(
        () -> {
          put(KEY, 1);
          NonBlocking.beforeWait();
          return null;
        });
  }
}
