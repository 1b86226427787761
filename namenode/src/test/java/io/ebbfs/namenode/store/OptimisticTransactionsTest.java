package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hdfs.protocol.NSQuotaExceededException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

class OptimisticTransactionsTest {
  private static final Key COUNTER = Tables.named("counter");
  private static final long FILE_ID = 20_000;

  private final MetadataStore store = new InMemoryStore();
  private final AtomicInteger attempts = new AtomicInteger();

  @Test
  void transactionRunsAgainAfterStaleReadAndOnlyItsLastRunIsWritten() throws IOException {
    int result =
        OptimisticTransactions.transact(
            store,
            COUNTER.partition(),
            transaction -> {
              int attempt = attempts.incrementAndGet();
              CounterRow row = CounterRow.newBuilder().setValue(attempt).build();
              transaction.put(Tables.COUNTER, COUNTER, row);
              if (attempt < 3) {
                throw new StaleReadException("a row changed");
              }
              return attempt;
            });

    assertThat(result).isEqualTo(3);
    assertThat(store.scanAll(Tables.COUNTER, null, 10))
        .extracting(row -> row.value().getValue())
        .containsExactly(3L);
  }

  @Test
  void givesUpWithTheLastReasonAndARemedy() {
    assertThatThrownBy(
            () ->
                OptimisticTransactions.repeat(
                    () -> {
                      throw new StaleReadException("inode " + attempts.incrementAndGet());
                    },
                    5))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(StaleReadException.class)
        .hasMessageContaining("inode 5")
        .hasMessageContaining("try again");
    assertThat(attempts).hasValue(5);
  }

  @Test
  void onlyAFewCallsWaitForRoomAtOnce() throws Exception {
    CountDownLatch room = new CountDownLatch(1);
    List<CompletableFuture<Integer>> waiting = new ArrayList<>();
    for (int i = 0; i < RoomWait.MOST_WAITING; i++) {
      CompletableFuture<Integer> done = new CompletableFuture<>();
      waiting.add(done);
      new Thread(() -> done.complete(waitFor(room))).start();
    }
    while (RoomWait.waiting() < RoomWait.MOST_WAITING) {
      Thread.sleep(1);
    }
    assertThatThrownBy(() -> OptimisticTransactions.repeat(() -> refuseUntil(room)))
        .isInstanceOf(NSQuotaExceededException.class);
    assertThat(waiting).noneMatch(CompletableFuture::isDone);
    room.countDown();
    for (CompletableFuture<Integer> one : waiting) {
      assertThat(one.get(60, TimeUnit.SECONDS)).isEqualTo(1);
    }
    assertThat(RoomWait.waiting()).isZero();
  }

  private static int waitFor(CountDownLatch room) {
    try {
      return OptimisticTransactions.repeat(() -> refuseUntil(room));
    } catch (IOException e) {
      return 0;
    }
  }

  private static int refuseUntil(CountDownLatch room) throws IOException {
    if (room.getCount() > 0) {
      throw new DeletionsPendingException(new NSQuotaExceededException(1, 2));
    }
    return 1;
  }

  @Test
  void otherFailuresAreNotRepeated() {
    assertThatThrownBy(
            () ->
                OptimisticTransactions.repeat(
                    () -> {
                      attempts.incrementAndGet();
                      throw new IOException("disk failed");
                    }))
        .hasMessage("disk failed");
    assertThat(attempts).hasValue(1);
  }

  @Test
  void ownerLocksNoticeARenameBetweenLookUpAndLock() throws IOException {
    name("before");
    OptimisticTransactions.transact(
        store,
        FILE_ID,
        transaction -> {
          Transaction renaming =
              attempts.incrementAndGet() == 1 ? renameBeforeLock(transaction) : transaction;
          OwnerLocks.lock(renaming, List.of(FILE_ID), List.of(), List.of());
          return null;
        });
    assertThat(attempts).hasValue(2);

    attempts.set(0);
    OptimisticTransactions.transact(
        store,
        FILE_ID,
        transaction -> {
          Transaction renaming =
              attempts.incrementAndGet() == 1 ? renameBeforeLock(transaction) : transaction;
          OwnerLocks.lockOwners(renaming, List.of(FILE_ID), RowLock.Mode.SHARED);
          return null;
        });
    assertThat(attempts).hasValue(2);
  }

  private void name(String name) throws IOException {
    store.transact(
        FILE_ID,
        transaction -> {
          transaction.put(
              Tables.INODE_NAME,
              Tables.inodeName(FILE_ID),
              InodeNameRow.newBuilder()
                  .setParentId(1)
                  .setName(ByteString.copyFromUtf8(name))
                  .build());
          return null;
        });
  }

  /** The transaction, with another client that renames the file just before the lock is taken. */
  private Transaction renameBeforeLock(Transaction transaction) {
    return (Transaction)
        java.lang.reflect.Proxy.newProxyInstance(
            Transaction.class.getClassLoader(),
            new Class<?>[] {Transaction.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("lock")) {
                name("after" + System.nanoTime());
              }
              return method.invoke(transaction, arguments);
            });
  }
}
