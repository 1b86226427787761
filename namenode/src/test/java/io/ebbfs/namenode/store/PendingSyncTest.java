package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PendingSyncTest {
  private static final Key KEY = Key.of(7, 1);

  private final HeldSync disk = new HeldSync();
  private final ExecutorService others = Executors.newCachedThreadPool();
  private final BlockingQueue<Optional<IOException>> answers = new LinkedBlockingQueue<>();
  @TempDir Path directory;
  private RocksDbStore store;

  @BeforeEach
  void open() throws IOException {
    store = disk.open(directory.resolve("db"));
  }

  @AfterEach
  void close() throws Exception {
    disk.release();
    others.shutdownNow();
    assertThat(others.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    try {
      store.close();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("on purpose");
    }
  }

  private void put(long value) throws IOException {
    put(Durability.SYNCED, value);
  }

  private void put(Durability durability, long value) throws IOException {
    store.transact(
        7,
        durability,
        transaction -> {
          transaction.put(Tables.COUNTER, KEY, CounterRow.newBuilder().setValue(value).build());
          return null;
        });
  }

  private PendingSync deferredPut(long value) throws IOException {
    PendingSync scope = PendingSync.begin();
    try {
      put(value);
    } finally {
      scope.end();
    }
    return scope;
  }

  private Optional<IOException> answer() throws InterruptedException {
    return answers.poll(10, TimeUnit.SECONDS);
  }

  private void answerWhenSynced(PendingSync scope) {
    answerWhenSynced(scope, Runnable::run);
  }

  private static void assertWaits(Future<?> work) {
    assertThatThrownBy(() -> work.get(50, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
  }

  @Test
  void aCommitInAScopeDoesNotWaitAndIsAnsweredOnceItIsOnDisk() throws Exception {
    disk.hold();
    PendingSync scope = deferredPut(1);
    answerWhenSynced(scope);
    assertThat(scope.isSynced()).isFalse();
    assertThat(answers).isEmpty();
    disk.release();
    assertThat(answer()).isEmpty();
    assertThat(scope.isSynced()).isTrue();
  }

  private void answerWhenSynced(PendingSync scope, Executor turnEnd) {
    scope.whenSynced(turnEnd, failure -> answers.add(Optional.ofNullable(failure)));
  }

  @Test
  void theCommitsOfATurnShareOneSync() throws Exception {
    List<Runnable> turnEnd = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      answerWhenSynced(deferredPut(i), turnEnd::add);
    }
    assertThat(turnEnd).hasSize(1);
    assertThat(disk.begun()).isZero();
    turnEnd.get(0).run();
    for (int i = 0; i < 3; i++) {
      assertThat(answer()).isEmpty();
    }
    assertThat(disk.begun()).isEqualTo(1);
    answerWhenSynced(deferredPut(3), turnEnd::add);
    assertThat(turnEnd).as("the next turn has its own end").hasSize(2);
  }

  @Test
  void manyCommitsAreSyncedBeforeTheEndOfALongTurn() throws Exception {
    for (int i = 0; i < 32; i++) {
      answerWhenSynced(deferredPut(i), never -> {});
    }
    for (int i = 0; i < 32; i++) {
      assertThat(answer()).isEmpty();
    }
  }

  @Test
  void aTurnThatCannotEndAnyMoreIsSyncedAtOnce() throws Exception {
    answerWhenSynced(
        deferredPut(1),
        stopped -> {
          throw new RejectedExecutionException("the event loop has stopped");
        });
    assertThat(answer()).isEmpty();
  }

  @Test
  void withoutAScopeACommitWaits() throws Exception {
    disk.hold();
    Future<Object> commit = others.submit(() -> voided(() -> put(1)));
    assertWaits(commit);
    disk.release();
    commit.get(10, TimeUnit.SECONDS);
  }

  private interface Step {
    void run() throws IOException;
  }

  private static Object voided(Step step) throws IOException {
    step.run();
    return null;
  }

  @Test
  void aCallWithoutCommitsIsAnsweredAtOnce() throws Exception {
    disk.hold();
    PendingSync scope = PendingSync.begin();
    store.transact(7, Durability.RELAXED, transaction -> transaction.get(Tables.COUNTER, KEY));
    scope.end();
    answerWhenSynced(scope);
    assertThat(answers).containsExactly(Optional.empty());
  }

  /** A repeated call that finds its work done must not be answered before that work is durable. */
  @Test
  void aSyncedTransactionThatOnlyReadsWaitsForWhatItMayHaveRead() throws Exception {
    disk.hold();
    deferredPut(1);
    PendingSync scope = PendingSync.begin();
    store.transact(7, transaction -> transaction.get(Tables.COUNTER, KEY));
    scope.end();
    answerWhenSynced(scope);
    assertThat(answers).isEmpty();
    disk.release();
    assertThat(answer()).isEmpty();
  }

  @Test
  void manyCallsShareASync() throws Exception {
    disk.hold();
    answerWhenSynced(deferredPut(0)); // the sync of this commit may have begun
    for (int i = 1; i <= 100; i++) {
      answerWhenSynced(deferredPut(i));
    }
    disk.release();
    for (int i = 0; i <= 100; i++) {
      assertThat(answer()).isEmpty();
    }
    assertThat(disk.begun()).isLessThanOrEqualTo(2);
  }

  @Test
  void aScopeGoesAlongToAnotherThread() throws Exception {
    disk.hold();
    PendingSync scope = deferredPut(1);
    others
        .submit(
            () -> {
              scope.resume();
              try {
                put(2);
              } finally {
                scope.end();
              }
              return null;
            })
        .get(10, TimeUnit.SECONDS);
    answerWhenSynced(scope);
    assertThat(answers).isEmpty();
    disk.release();
    assertThat(answer()).isEmpty();
  }

  @Test
  void workOutsideOfTheScopeAndSyncsWait() throws Exception {
    disk.hold();
    Future<Object> outside =
        others.submit(() -> inScope(() -> PendingSync.outside(() -> voided(() -> put(1)))));
    Future<Object> sync = others.submit(() -> inScope(() -> voided(() -> syncAfterPut())));
    assertWaits(outside);
    assertWaits(sync);
    disk.release();
    outside.get(10, TimeUnit.SECONDS);
    sync.get(10, TimeUnit.SECONDS);
  }

  private void syncAfterPut() throws IOException {
    put(2);
    store.sync();
  }

  private static Object inScope(PendingSync.Work<Object> work) throws IOException {
    PendingSync scope = PendingSync.begin();
    try {
      return work.run();
    } finally {
      scope.end();
    }
  }

  @Test
  void anIdIsGivenOutOnceItsRangeIsOnDisk() throws Exception {
    IdGenerator ids = IdGenerator.blocks(store);
    disk.hold();
    Future<Object> id = others.submit(() -> inScope(ids::next));
    assertWaits(id);
    disk.release();
    assertThat(id.get(10, TimeUnit.SECONDS)).isEqualTo((1L << 30) + 1);
  }

  @Test
  void aFailedSyncIsToldToAllThatWaitAndStopsTheStore() throws Exception {
    disk.hold();
    answerWhenSynced(deferredPut(1));
    answerWhenSynced(deferredPut(2));
    Future<Object> waiting = others.submit(() -> voided(() -> put(3)));
    disk.failFromNowOn();
    disk.release();
    assertThat(answer().orElseThrow()).hasMessageContaining("on purpose");
    assertThat(answer().orElseThrow()).hasMessageContaining("on purpose");
    assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
        .hasMessageContaining("restart the namenode");
    assertThat(disk.awaitFailure()).hasMessageContaining("on purpose");
    assertThatThrownBy(() -> put(Durability.RELAXED, 4))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("writes nothing more");
  }

  @Tag("process")
  @Test
  void aProcessWhoseSyncFailsStops() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                FailingProcess.class.getName(),
                directory.resolve("failing").toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(FailedSync.EXIT_CODE);
    } finally {
      process.destroyForcibly();
    }
  }

  /** Commits to a store whose disk fails, and would then run for ever. */
  static final class FailingProcess implements SyncHook {
    @Override
    public void around(WalSync.Sync sync) throws IOException {
      throw new IOException("the disk is gone, on purpose");
    }

    @Override
    public void failed(IOException failure) {
      FailedSync.stopProcess(failure);
    }

    public static void main(String[] arguments) throws Exception {
      RocksDbStore store =
          RocksDbStore.openWith(new FailingProcess(), Path.of(arguments[0]), 1_000, 8L << 20);
      PendingSync scope = PendingSync.begin();
      store.transact(
          7,
          transaction -> {
            transaction.put(Tables.COUNTER, KEY, CounterRow.newBuilder().setValue(1).build());
            return null;
          });
      scope.end();
      scope.whenSynced(Runnable::run, failure -> {});
      Thread.currentThread().join();
    }
  }

  @Test
  void aThreadHasOneScope() {
    PendingSync scope = PendingSync.begin();
    try {
      assertThatThrownBy(PendingSync::begin).isInstanceOf(IllegalStateException.class);
    } finally {
      scope.end();
    }
    PendingSync.begin().end();
  }
}
