package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The tests that every implementation of the store passes. */
public abstract class MetadataStoreContract extends ChangeStreamContract {
  /** How long a transaction waits for a lock, in the tests. */
  protected static final long LOCK_TIMEOUT_MILLIS = 2_000;

  private static final long P = 7;

  /** An empty store. */
  protected abstract MetadataStore open() throws IOException;

  @BeforeEach
  void openStore() throws IOException {
    store = open();
  }

  @AfterEach
  void closeStore() throws IOException {
    store.close();
  }

  static CounterRow row(long value) {
    return CounterRow.newBuilder().setValue(value).build();
  }

  static Key key(long rest) {
    return Key.of(P, rest);
  }

  void put(Key key, long value) throws IOException {
    store.transact(
        key.partition(),
        transaction -> {
          transaction.put(Tables.COUNTER, key, row(value));
          return null;
        });
  }

  Optional<Long> get(Key key) throws IOException {
    return store.transact(
        key.partition(),
        transaction -> transaction.get(Tables.COUNTER, key).map(CounterRow::getValue));
  }

  @Test
  void aRowIsReadAsItWasWritten() throws IOException {
    put(key(1), 42);
    assertThat(get(key(1))).contains(42L);
    assertThat(get(key(2))).isEmpty();
  }

  @Test
  void tablesDoNotMix() throws IOException {
    put(key(1), 42);
    assertThat(store.<Optional<SettingRow>>transact(P, t -> t.get(Tables.SETTING, key(1))))
        .isEmpty();
  }

  @Test
  void bothDurabilitiesAreVisibleAtOnce() throws IOException {
    for (Durability durability : Durability.values()) {
      store.transact(
          P,
          durability,
          transaction -> {
            transaction.put(Tables.COUNTER, key(durability.ordinal()), row(1));
            return null;
          });
      assertThat(get(key(durability.ordinal()))).contains(1L);
    }
  }

  @Test
  void nothingIsWrittenIfTheBodyThrows() throws IOException {
    put(key(1), 1);
    assertThatThrownBy(
            () ->
                store.transact(
                    P,
                    transaction -> {
                      transaction.put(Tables.COUNTER, key(1), row(2));
                      transaction.put(Tables.SETTING, key(2), setting("x"));
                      transaction.delete(Tables.COUNTER, key(1));
                      throw new IOException("on purpose");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("on purpose");
    assertThat(get(key(1))).contains(1L);
  }

  private static SettingRow setting(String value) {
    return SettingRow.newBuilder().setValue(value).build();
  }

  @Test
  void locksAreFreeAfterAThrow() throws IOException {
    assertThatThrownBy(
            () ->
                store.transact(
                    P,
                    transaction -> {
                      transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key(1))));
                      throw new IllegalStateException("on purpose");
                    }))
        .isInstanceOf(IllegalStateException.class);
    increment(key(1));
    assertThat(get(key(1))).contains(1L);
  }

  @Test
  void ownWritesAreReadBack() throws IOException {
    put(key(1), 1);
    put(key(2), 2);
    store.transact(
        P,
        transaction -> {
          transaction.put(Tables.COUNTER, key(1), row(10));
          transaction.delete(Tables.COUNTER, key(2));
          transaction.put(Tables.COUNTER, key(3), row(30));
          assertThat(transaction.get(Tables.COUNTER, key(1))).contains(row(10));
          assertThat(transaction.get(Tables.COUNTER, key(2))).isEmpty();
          assertThat(
                  transaction.getAll(
                      Tables.COUNTER, List.of(key(3), key(2), key(1), key(4), key(3))))
              .containsExactly(
                  Optional.of(row(30)),
                  Optional.empty(),
                  Optional.of(row(10)),
                  Optional.empty(),
                  Optional.of(row(30)));
          return null;
        });
  }

  @Test
  void scansStayInTheirPartition() throws IOException {
    for (long partition : new long[] {0, 6, 7, 8, -1, Long.MIN_VALUE}) {
      put(Key.of(partition), partition);
      put(Key.of(partition, new byte[] {(byte) 0xff, (byte) 0xff}), partition);
    }
    for (long partition : new long[] {0, 6, 7, 8, -1, Long.MIN_VALUE}) {
      List<Row<CounterRow>> rows =
          store.transact(partition, t -> t.scan(Tables.COUNTER, partition));
      assertThat(rows).hasSize(2).allMatch(row -> row.key().partition() == partition);
    }
  }

  /** Random puts, deletes and scans in one transaction give the same rows as a sorted map. */
  @Test
  void scansSeeOwnWritesInOrderAndWithinLimits() throws IOException {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    TreeMap<Key, Long> model = new TreeMap<>();
    for (int i = 0; i < 30; i++) {
      Key key = key(random.nextInt(50));
      put(key, i);
      model.put(key, (long) i);
    }
    store.transact(
        P,
        transaction -> {
          for (int step = 0; step < 300; step++) {
            Key key = key(random.nextInt(50));
            if (random.nextBoolean()) {
              transaction.put(Tables.COUNTER, key, row(step));
              model.put(key, (long) step);
            } else {
              transaction.delete(Tables.COUNTER, key);
              model.remove(key);
            }
            Key after = random.nextInt(4) == 0 ? null : key(random.nextInt(50));
            Key before = random.nextInt(4) == 0 ? null : key(random.nextInt(50));
            int limit = random.nextInt(60) + 1;
            List<Key> expected =
                model.keySet().stream()
                    .filter(k -> after == null || k.compareTo(after) > 0)
                    .filter(k -> before == null || k.compareTo(before) < 0)
                    .limit(limit)
                    .toList();
            assertThat(transaction.scan(Tables.COUNTER, P, after, before, limit))
                .as("seed %d, step %d", seed, step)
                .extracting(Row::key)
                .containsExactlyElementsOf(expected);
          }
          return null;
        });
    List<Row<CounterRow>> rows = store.transact(P, t -> t.scan(Tables.COUNTER, P));
    assertThat(rows.stream().map(r -> r.value().getValue()))
        .as("seed %d", seed)
        .containsExactlyElementsOf(model.values());
  }

  @Test
  void rowsOfManyTablesAreReadTogether() throws IOException {
    put(key(1), 1);
    putBlock(key(1), 2);
    store.transact(
        P,
        transaction -> {
          transaction.put(Tables.COUNTER, key(3), row(3));
          RowSet rows =
              transaction.read(
                  List.of(
                      new RowKey(Tables.COUNTER, key(1)),
                      new RowKey(Tables.BLOCK, key(1)),
                      new RowKey(Tables.COUNTER, key(2)),
                      new RowKey(Tables.COUNTER, key(3))));
          assertThat(rows.get(Tables.COUNTER, key(1))).contains(row(1));
          assertThat(rows.get(Tables.BLOCK, key(1)).orElseThrow().getLengthBytes()).isEqualTo(2);
          assertThat(rows.get(Tables.COUNTER, key(2))).isEmpty();
          assertThat(rows.get(Tables.COUNTER, key(3))).contains(row(3));
          assertThatThrownBy(() -> rows.get(Tables.BLOCK, key(2)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("was not read");
          return null;
        });
  }

  /** Many threads count up two rows, which they read under the locks. */
  @Test
  void lockedRowsAreReadAsTheyAreUnderTheLock() throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> work = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        work.add(executor.submit(() -> store.transact(P, Durability.RELAXED, this::countBoth)));
      }
      for (Future<?> one : work) {
        one.get(60, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
    assertThat(get(key(1))).contains(400L);
    assertThat(get(key(2))).contains(400L);
  }

  private Object countBoth(Transaction transaction) throws IOException {
    RowSet rows =
        transaction.lockAndRead(
            List.of(
                RowLock.exclusive(Tables.COUNTER, key(2)),
                RowLock.exclusive(Tables.COUNTER, key(1))));
    for (Key key : List.of(key(1), key(2))) {
      long now = rows.get(Tables.COUNTER, key).map(CounterRow::getValue).orElse(0L);
      transaction.put(Tables.COUNTER, key, row(now + 1));
    }
    return null;
  }

  /** Bounds of scans over committed rows, before and after each change of the partition. */
  @Test
  void scansFollowTheChangesOfTheirPartition() throws IOException {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    TreeMap<Key, Long> model = new TreeMap<>();
    for (int step = 0; step < 500; step++) {
      Key key = key(random.nextInt(40));
      if (random.nextInt(3) > 0) {
        putBlock(key, step);
        model.put(key, (long) step);
      } else {
        deleteBlock(key);
        model.remove(key);
      }
      Key after = random.nextInt(3) == 0 ? null : key(random.nextInt(40));
      Key before = random.nextInt(3) == 0 ? null : key(random.nextInt(40));
      int limit = random.nextInt(3) == 0 ? Integer.MAX_VALUE : random.nextInt(50) + 1;
      List<Long> expected =
          model.entrySet().stream()
              .filter(row -> after == null || row.getKey().compareTo(after) > 0)
              .filter(row -> before == null || row.getKey().compareTo(before) < 0)
              .map(Map.Entry::getValue)
              .limit(limit)
              .toList();
      List<Row<BlockRow>> rows =
          store.transact(P, t -> t.scan(Tables.BLOCK, P, after, before, limit));
      assertThat(rows.stream().map(row -> row.value().getLengthBytes()))
          .as("seed %d, step %d", seed, step)
          .containsExactlyElementsOf(expected);
      assertThat(getBlock(key)).isEqualTo(Optional.ofNullable(model.get(key)));
    }
  }

  /** A row of a table that clients scan. */
  void putBlock(Key key, long lengthBytes) throws IOException {
    BlockRow block =
        BlockRow.newBuilder()
            .setBlockId(1)
            .setGenerationStamp(1)
            .setLengthBytes(lengthBytes)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(3)
            .build();
    store.transact(
        key.partition(),
        Durability.RELAXED,
        transaction -> {
          transaction.put(Tables.BLOCK, key, block);
          return null;
        });
  }

  private void deleteBlock(Key key) throws IOException {
    store.transact(
        key.partition(),
        transaction -> {
          transaction.delete(Tables.BLOCK, key);
          return null;
        });
  }

  Optional<Long> getBlock(Key key) throws IOException {
    return store.transact(
        key.partition(),
        Durability.RELAXED,
        transaction -> transaction.get(Tables.BLOCK, key).map(BlockRow::getLengthBytes));
  }

  @Test
  void allRowsOfATableComeInPages() throws IOException {
    List<Key> keys = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      Key key = Key.of(i % 5 == 0 ? -i : i / 3, i % 2 == 0 ? i : -i);
      put(key, i);
      keys.add(key);
    }
    List<Key> seen = new ArrayList<>();
    List<Row<CounterRow>> page;
    Key after = null;
    do {
      page = store.scanAll(Tables.COUNTER, after, 4);
      for (Row<CounterRow> row : page) {
        seen.add(row.key());
        after = row.key();
      }
    } while (page.size() == 4);
    assertThat(seen).containsExactlyInAnyOrderElementsOf(keys);
    List<Long> partitions = seen.stream().map(Key::partition).distinct().toList();
    assertThat(seen)
        .isSortedAccordingTo(
            Comparator.<Key>comparingInt(key -> partitions.indexOf(key.partition()))
                .thenComparing(Comparator.naturalOrder()));
  }

  @Test
  void locksOutOfOrderAreRefused() {
    assertThatThrownBy(
            () ->
                store.transact(
                    P,
                    transaction -> {
                      transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key(2))));
                      transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key(1))));
                      return null;
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("lock all rows in one call");
  }

  @Test
  void locksMayBeAskedForTwiceAndInAnyOrderWithinACall() throws IOException {
    store.transact(
        P,
        transaction -> {
          transaction.lock(
              List.of(
                  RowLock.exclusive(Tables.COUNTER, key(3)),
                  RowLock.shared(Tables.COUNTER, key(1)),
                  RowLock.shared(Tables.COUNTER, key(3)),
                  RowLock.exclusive(Tables.INODE, key(9))));
          transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key(3))));
          transaction.lock(List.of(RowLock.shared(Tables.COUNTER, key(1))));
          return null;
        });
  }

  @Test
  void aLockThatIsHeldTooLongIsNamed() throws Exception {
    CountDownLatch locked = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      Future<?> holder =
          executor.submit(
              () ->
                  store.transact(
                      P,
                      transaction -> {
                        transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key(1))));
                        locked.countDown();
                        await(done);
                        return null;
                      }));
      await(locked);
      assertThatThrownBy(() -> increment(key(1)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("'counter'")
          .hasMessageContaining(key(1).toString());
      increment(key(2));
      done.countDown();
      holder.get(10, TimeUnit.SECONDS);
      increment(key(1));
    } finally {
      executor.shutdownNow();
    }
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      if (!latch.await(10, TimeUnit.SECONDS)) {
        throw new IOException("waited 10 s in vain");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  @Test
  void sharedLocksGoTogether() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    ExecutorService executor = Executors.newFixedThreadPool(2);
    try {
      List<Future<Object>> readers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        readers.add(
            executor.submit(
                () ->
                    store.transact(
                        P,
                        transaction -> {
                          transaction.lock(List.of(RowLock.shared(Tables.COUNTER, key(1))));
                          both.countDown();
                          await(both);
                          return null;
                        })));
      }
      for (Future<Object> reader : readers) {
        reader.get(10, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
  }

  private void increment(Key key) throws IOException {
    store.transact(
        P,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.COUNTER, key)));
          long now = transaction.get(Tables.COUNTER, key).map(CounterRow::getValue).orElse(0L);
          transaction.put(Tables.COUNTER, key, row(now + 1));
          return null;
        });
  }

  /** Many threads change two rows, always together. */
  @Test
  void noIncrementIsLost() throws Exception {
    int threads = 8;
    int each = 200;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> work = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        work.add(
            executor.submit(
                () -> {
                  for (int n = 0; n < each; n++) {
                    incrementBoth();
                  }
                  return null;
                }));
      }
      for (Future<?> one : work) {
        one.get(60, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
    assertThat(get(key(1))).contains((long) threads * each);
    assertThat(get(key(2))).contains((long) threads * each);
  }

  private void incrementBoth() throws IOException {
    store.transact(
        P,
        transaction -> {
          transaction.lock(
              List.of(
                  RowLock.exclusive(Tables.COUNTER, key(2)),
                  RowLock.exclusive(Tables.COUNTER, key(1))));
          List<Optional<CounterRow>> rows =
              transaction.getAll(Tables.COUNTER, List.of(key(1), key(2)));
          assertThat(rows.get(0)).isEqualTo(rows.get(1));
          long next = rows.get(0).map(CounterRow::getValue).orElse(0L) + 1;
          transaction.put(Tables.COUNTER, key(1), row(next));
          transaction.put(Tables.COUNTER, key(2), row(next));
          return null;
        });
  }

  // ---- the sums of what is stored ---------------------------------------------------------------

  /** Commits that change the sums: makes, changes, moves and deletes rows that count. */
  private void changeRows(Random random) throws IOException {
    long seed = random.nextLong();
    store.transact(
        P,
        Durability.RELAXED,
        transaction -> {
          Random body = new Random(seed); // the body may run again
          for (int i = 0; i < 1 + body.nextInt(3); i++) {
            changeRow(transaction, body);
          }
          return null;
        });
  }

  private static void changeRow(Transaction transaction, Random random) throws IOException {
    long partition = random.nextBoolean() ? P : Tables.PENDING_DELETIONS;
    Key inode = Key.of(partition, random.nextInt(5));
    Key other = Key.of(P + 1, random.nextInt(5));
    Key replica = Tables.replica(P, random.nextInt(5), "disk");
    switch (random.nextInt(6)) {
      case 0 -> transaction.put(Tables.INODE, inode, inode(random));
      case 1 -> transaction.delete(Tables.INODE, inode);
      case 2 -> {
        transaction.delete(Tables.INODE, inode);
        transaction.put(Tables.INODE, other, inode(random));
      }
      case 3 -> transaction.put(Tables.REPLICA, replica, replica(random));
      case 4 -> transaction.delete(Tables.REPLICA, replica);
      default -> transaction.put(Tables.STRIPE, Tables.stripe(random.nextInt(5)), stripe(random));
    }
  }

  private static InodeRow inode(Random random) {
    return InodeRow.newBuilder()
        .setId(1)
        .setKind(random.nextBoolean() ? InodeKindProto.FILE : InodeKindProto.DIRECTORY)
        .setOwner("o")
        .setGroup("g")
        .setPermission(0)
        .setModifiedMillis(random.nextInt(3))
        .setBlocks(random.nextInt(3))
        .setLengthBytes(random.nextInt(1_000))
        .build();
  }

  private static ReplicaRow replica(Random random) {
    return ReplicaRow.newBuilder()
        .setState(ReplicaStateProto.values()[random.nextInt(3)])
        .setGenerationStamp(1)
        .setLengthBytes(random.nextInt(1_000))
        .build();
  }

  private static StripeRow stripe(Random random) {
    StripeRow.Builder stripe =
        StripeRow.newBuilder()
            .setId(9)
            .setCode("RS(6,3)")
            .setUnitLengthBytes(1)
            .setGeneration(1)
            .setPolicy("p")
            .setCreatedMillis(1);
    for (int position = 0; position < 3; position++) {
      stripe.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setBlockId(position)
              .setGenerationStamp(1)
              .setLengthBytes(random.nextInt(1_000))
              .setOwnerId(8 + random.nextInt(2))
              .setOwnerIndex(0)
              .setTombstone(random.nextInt(3) == 0));
    }
    return stripe.build();
  }

  @Test
  void theUsageIsThatOfAllRows() throws IOException {
    Random random = new Random(5);
    store.changes().open();
    for (int i = 0; i < 300; i++) {
      changeRows(random);
      if (random.nextInt(20) == 0) {
        store.changes().fold();
      }
      if (random.nextInt(10) == 0) {
        assertThat(store.changes().usage()).isEqualTo(ChangeLog.scan(store));
      }
    }
    assertThat(ChangeLog.scan(store)).isNotEqualTo(Usage.NONE);
    store.changes().fold();
    assertThat(store.changes().usage()).isEqualTo(ChangeLog.scan(store));
    assertThat(store.scanAll(Tables.CHANGE, null, 10)).isEmpty();
  }

  @Test
  void aChangeCountsOnceWhoeverFoldsIt() throws IOException {
    Random random = new Random(6);
    store.changes().open();
    for (int i = 0; i < 50; i++) {
      changeRows(random);
    }
    ChangeLog ofOther = new ChangeLog(store);
    ofOther.open();
    assertThat(ofOther.usage()).isEqualTo(ChangeLog.scan(store));
    store.changes().fold();
    assertThat(store.changes().usage()).isEqualTo(ChangeLog.scan(store));
    changeRows(random);
    ofOther.foldEverything();
    assertThat(ofOther.usage()).isEqualTo(ChangeLog.scan(store));
  }

  @Test
  void aStoreWithoutSumsIsCounted() throws IOException {
    Random random = new Random(7);
    for (int i = 0; i < 50; i++) {
      changeRows(random);
    }
    store.changes().fold(); // does nothing yet
    store.changes().open();
    assertThat(store.changes().usage()).isNotEqualTo(Usage.NONE).isEqualTo(ChangeLog.scan(store));
  }

  @Test
  void changesThatTakeNoEffectDoNotCount() throws IOException {
    store.changes().open();
    assertThatThrownBy(
            () ->
                store.transact(
                    P,
                    transaction -> {
                      transaction.put(Tables.INODE, key(1), inode(new Random(1)));
                      throw new IOException("on purpose");
                    }))
        .hasMessage("on purpose");
    assertThat(store.changes().usage()).isEqualTo(Usage.NONE);
  }
}
