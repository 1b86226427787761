package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStoreContract;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.apache.ignite.Ignite;
import org.apache.ignite.lang.IgniteFuture;
import org.apache.ignite.lang.IgniteRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The contract on nodes that live as long as the class. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class IgniteStoreContract extends MetadataStoreContract {
  /** On a busy machine eight threads that want one row wait longer than in the embedded store. */
  private static final long LONG_LOCK_TIMEOUT_MILLIS = 3_000;

  private static final int COMMITS = 20;

  /** So many rows that a commit takes a while to write them. */
  private static final int ROWS_OF_COMMIT = 200;

  @TempDir static Path directory;
  StoreNodes nodes;
  IgniteStore shared;

  abstract int countOfNodes();

  @BeforeAll
  void startNodes() throws Exception {
    nodes = StoreNodes.start(directory, countOfNodes());
    shared = IgniteStore.open(nodes.client().withLockTimeout(LONG_LOCK_TIMEOUT_MILLIS));
  }

  @AfterAll
  void stopNodes() throws IOException {
    try {
      if (shared != null) {
        shared.close();
      }
    } finally {
      if (nodes != null) {
        nodes.close();
      }
    }
  }

  @Override
  protected MetadataStore open() throws IOException {
    shared.clear();
    return new StaysOpen(shared);
  }

  /**
   * As creates in one directory: each makes a row of its own and keeps the row of the directory.
   */
  @Test
  void sharedLocksOfTwoProcessesDoNotConflict() throws Exception {
    Key directory = Key.of(1);
    int rowsEach = 50;
    try (IgniteStore other = IgniteStore.open(nodes.client())) {
      long before = conflicts(shared) + conflicts(other);
      List<CompletableFuture<Void>> makers = new ArrayList<>();
      for (int maker = 0; maker < 4; maker++) {
        int of = maker;
        makers.add(
            CompletableFuture.runAsync(
                () -> make(of % 2 == 0 ? shared : other, directory, of * rowsEach, rowsEach)));
      }
      for (CompletableFuture<Void> maker : makers) {
        maker.get(60, TimeUnit.SECONDS);
      }
      assertThat(conflicts(shared) + conflicts(other)).isEqualTo(before);
      assertThat(shared.scanAll(Tables.COUNTER, null, 1_000)).hasSize(4 * rowsEach);
    }
  }

  /** One process writes a row and those of another partition at once; another one sees the row. */
  @Test
  void whoHasSeenOneRowOfACommitSeesTheOthersAfterTheWait() throws Exception {
    int lacking = 0;
    try (IgniteStore other = IgniteStore.open(nodes.client())) {
      CompletableFuture<Void> writer =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < COMMITS; i++) {
                  putAll(other, i);
                }
              });
      for (int i = 0; i < COMMITS; i++) {
        long partition = COMMITS + i;
        Key first = Key.of(i);
        while (shared.transact(1, t -> t.get(Tables.COUNTER, first)).isEmpty()) {
          assertThat(writer.isCompletedExceptionally()).isFalse();
        }
        List<?> before = shared.transact(1, t -> t.scan(Tables.COUNTER, partition));
        lacking += before.size() < ROWS_OF_COMMIT ? 1 : 0;
        long now = System.currentTimeMillis();
        // On a busy machine a commit may take longer than the wait.
        while (!shared.transact(1, t -> t.awaitCommits(partition, now))) {
          assertThat(writer.isCompletedExceptionally()).isFalse();
        }
        List<?> seen = shared.transact(1, t -> t.scan(Tables.COUNTER, partition));
        assertThat(seen).hasSize(ROWS_OF_COMMIT);
      }
      writer.get(60, TimeUnit.SECONDS);
    }
    System.out.println("without the wait, " + lacking + " of " + COMMITS + " commits lacked rows");
    boolean ofLongAgo = shared.transact(1, t -> t.awaitCommits(1, 0));
    assertThat(ofLongAgo).isFalse();
  }

  /** Scans take long on a slow disk, and their threads are few. */
  @Test
  void aWaitForCommitsDoesNotWaitForScans() throws Exception {
    Path running = Files.createFile(directory.resolve("scans-run"));
    List<IgniteFuture<?>> scans = new ArrayList<>();
    try (StoreConnection client = new StoreConnection(nodes.client(), new StoreCalls())) {
      Ignite ignite = client.joined().ignite();
      try {
        for (int i = 0; i < 3; i++) {
          LongScan scan = new LongScan(running.toString());
          scans.add(ignite.compute(ignite.cluster().forServers()).broadcastAsync(scan));
        }
        boolean hasWaited = false;
        for (int i = 0; i < 10 && !hasWaited; i++) {
          // On a busy machine an answer may take longer than the wait.
          hasWaited = client.joined().rows().awaitCommits(1);
        }
        assertThat(hasWaited).isTrue();
        assertThat(scans).noneMatch(IgniteFuture::isDone);
      } finally {
        Files.delete(running);
        scans.forEach(scan -> scan.get(60, TimeUnit.SECONDS));
      }
    }
  }

  /** Holds a thread of a node for as long as a file exists. */
  private static final class LongScan implements IgniteRunnable {
    private static final long serialVersionUID = 1;

    private final String file;

    LongScan(String file) {
      this.file = file;
    }

    @Override
    public void run() {
      while (Files.exists(Path.of(file))) {
        LockSupport.parkNanos(10_000_000);
      }
    }
  }

  private static void putAll(IgniteStore store, int i) {
    try {
      store.transact(
          1,
          transaction -> {
            CounterRow row = CounterRow.newBuilder().setValue(1).build();
            transaction.put(Tables.COUNTER, Key.of(i), row);
            for (int j = 0; j < ROWS_OF_COMMIT; j++) {
              transaction.put(Tables.COUNTER, Key.of(COMMITS + i, j), row);
            }
            return null;
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long conflicts(IgniteStore store) {
    return store.calls().get("conflict");
  }

  private static void make(IgniteStore store, Key directory, int first, int count) {
    try {
      for (int i = first; i < first + count; i++) {
        Key made = Key.of(2, i);
        store.transact(
            1,
            transaction -> {
              transaction.lock(
                  List.of(
                      RowLock.shared(Tables.COUNTER, directory),
                      RowLock.exclusive(Tables.COUNTER, made)));
              transaction.put(Tables.COUNTER, made, CounterRow.newBuilder().setValue(1).build());
              return null;
            });
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private record StaysOpen(MetadataStore store) implements MetadataStore {
    @Override
    public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
        throws IOException {
      return store.transact(partitionHint, durability, body);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
        throws IOException {
      return store.scanAll(table, after, limit);
    }

    @Override
    public ChangeLog changes() {
      return store.changes();
    }

    @Override
    public void close() {}
  }
}
