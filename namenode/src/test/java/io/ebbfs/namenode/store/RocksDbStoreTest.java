package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

class RocksDbStoreTest extends MetadataStoreContract {
  private static final long SMALL_CACHE = 8L << 20;

  @TempDir Path directory;

  @Override
  protected MetadataStore open() throws IOException {
    return RocksDbStore.open(directory.resolve("db"), LOCK_TIMEOUT_MILLIS, SMALL_CACHE);
  }

  @Test
  void rowsOfBothDurabilitiesSurviveAClose() throws IOException {
    put(key(1), 1);
    store.transact(
        7,
        Durability.RELAXED,
        transaction -> {
          transaction.put(Tables.COUNTER, key(2), row(2));
          return null;
        });
    store.close();
    store = open();
    assertThat(get(key(1))).contains(1L);
    assertThat(get(key(2))).contains(2L);
  }

  /** The cache takes a commit over row by row; readers must not notice. */
  @Test
  void unlockedReadsSeeACommitWholeAndNeverGoBack() throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService readers = Executors.newFixedThreadPool(2);
    Key first = Key.of(7, 1);
    Key second = Key.of(8, 2);
    try {
      List<Future<Object>> reading = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        reading.add(readers.submit(() -> readUntil(stop, first, second)));
      }
      for (int value = 1; value <= 20_000; value++) {
        putBoth(first, second, value);
      }
      stop.set(true);
      for (Future<Object> one : reading) {
        one.get(10, TimeUnit.SECONDS);
      }
    } finally {
      stop.set(true);
      readers.shutdownNow();
    }
  }

  private void putBoth(Key first, Key second, long value) throws IOException {
    BlockRow block =
        BlockRow.newBuilder()
            .setBlockId(1)
            .setGenerationStamp(1)
            .setLengthBytes(value)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(3)
            .build();
    store.transact(
        7,
        Durability.RELAXED,
        transaction -> {
          transaction.put(Tables.BLOCK, first, block);
          transaction.put(Tables.BLOCK, second, block);
          return null;
        });
  }

  private Object readUntil(AtomicBoolean stop, Key first, Key second) throws IOException {
    long seen = 0;
    while (!stop.get()) {
      seen = atLeast(seen, getBlock(first).orElse(0L));
      seen = atLeast(seen, getBlock(second).orElse(0L));
      seen = atLeast(seen, scanned(8));
      seen = atLeast(seen, scanned(7));
    }
    return null;
  }

  private static long atLeast(long seen, long read) {
    assertThat(read).isGreaterThanOrEqualTo(seen);
    return read;
  }

  private long scanned(long partition) throws IOException {
    return store
        .transact(partition, Durability.RELAXED, t -> t.scan(Tables.BLOCK, partition))
        .stream()
        .mapToLong(row -> row.value().getLengthBytes())
        .max()
        .orElse(0);
  }

  @Test
  void aNamespaceLargerThanTheCacheWorks() throws IOException {
    int rows = 40_000;
    for (int i = 0; i < rows; i++) {
      putBlock(Key.of(i / 100, i), i);
    }
    Random random = new Random(1);
    for (int i = 0; i < rows; i++) {
      int number = random.nextInt(rows);
      assertThat(getBlock(Key.of(number / 100, number))).contains((long) number);
    }
    for (int partition = 0; partition < rows / 100; partition++) {
      assertThat(scanned(partition)).isEqualTo(partition * 100L + 99);
    }
    assertThat(((RocksDbStore) store).cachedBytes()).isLessThanOrEqualTo(SMALL_CACHE / 2);
  }

  private void putAll(int from, int to) throws IOException {
    store.transact(
        0,
        Durability.RELAXED,
        transaction -> {
          for (int i = from; i < to; i++) {
            transaction.put(Tables.COUNTER, Key.of(i / 100, i), row(i));
          }
          return null;
        });
  }

  @Test
  void aScanOfATableLeavesTheCacheAlone() throws IOException {
    putAll(0, 10_000);
    RocksDbStore rocks = (RocksDbStore) store;
    long before = rocks.cachedBytes();
    assertThat(store.scanAll(Tables.COUNTER, null, 20_000)).hasSize(10_000);
    assertThat(rocks.cachedBytes()).isEqualTo(before);
  }

  @Test
  void backgroundWorkLeavesTheCacheAloneAndReadsWhatIsCommitted() throws IOException {
    putAll(0, 1_000);
    RocksDbStore rocks = (RocksDbStore) store;
    long before = rocks.cachedBytes();
    Key absent = Key.of(99, 1_000_000);
    List<Optional<CounterRow>> found =
        store.transactInBackground(
            0,
            transaction -> {
              transaction.scan(Tables.BLOCK, 1, null, 100);
              transaction.get(Tables.COUNTER, absent);
              return transaction.getAll(
                  Tables.COUNTER, List.of(Key.of(9, 999), absent, Key.of(0, 1)));
            });
    assertThat(found).containsExactly(Optional.of(row(999)), Optional.empty(), Optional.of(row(1)));
    assertThat(rocks.cachedBytes()).isEqualTo(before);
  }

  @Test
  void aRowThatBackgroundWorkWritesIsRead() throws IOException {
    Key key = Key.of(1, 100);
    putAll(100, 101);
    store.transact(1, transaction -> transaction.get(Tables.COUNTER, key));
    store.transactInBackground(
        1,
        transaction -> {
          transaction.put(Tables.COUNTER, key, row(7));
          return null;
        });
    assertThat(store.<Optional<CounterRow>>transact(1, t -> t.get(Tables.COUNTER, key)))
        .contains(row(7));
  }

  @Test
  void aClosedStoreSaysSo() throws IOException {
    store.close();
    assertThatThrownBy(() -> put(key(1), 1))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void aDirectoryInUseIsRefused() {
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("in use by another namenode");
  }

  @Test
  void aDirectoryWithOtherFilesIsRefused() throws IOException {
    Path foreign = Files.createDirectory(directory.resolve("foreign"));
    Files.writeString(foreign.resolve("thesis.txt"), "do not touch");
    assertThatThrownBy(() -> RocksDbStore.open(foreign))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("thesis.txt");
  }

  @Test
  void aDatabaseOfAnotherProgramIsRefused() throws Exception {
    Path foreign = directory.resolve("other");
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB other = RocksDB.open(options, foreign.toString())) {
      other
          .createColumnFamily(
              new org.rocksdb.ColumnFamilyDescriptor("songs".getBytes(StandardCharsets.UTF_8)))
          .close();
    }
    assertThatThrownBy(() -> RocksDbStore.open(foreign))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("'songs'");
  }

  @Test
  void aFileInPlaceOfTheDirectoryIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "x");
    assertThatThrownBy(() -> RocksDbStore.open(file))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("cannot be written");
  }

  @Test
  void aDamagedDatabaseIsRefused() throws IOException {
    put(key(1), 1);
    store.close();
    try (Stream<Path> files = Files.list(directory.resolve("db"))) {
      for (Path manifest :
          files.filter(f -> f.getFileName().toString().startsWith("MANIFEST")).toList()) {
        Files.writeString(manifest, "garbage");
      }
    }
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("damaged");
  }

  /** A process commits and prints each commit, until it is killed at a random moment. */
  @Tag("process")
  @Test
  void everyAcknowledgedCommitSurvivesAKill() throws Exception {
    Path data = directory.resolve("killed");
    long[] acknowledged = new long[Committer.THREADS];
    Process process = startCommitter(data);
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      int read = 0;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        acknowledged[Integer.parseInt(words[0])] = Long.parseLong(words[1]);
        // A thread may wait for the processor for longer than others take for many commits.
        if (++read >= 500 && LongStream.of(acknowledged).allMatch(number -> number > 0)) {
          process.toHandle().destroyForcibly(); // leaves what it has printed to be read
        }
      }
      assertThat(read).isGreaterThanOrEqualTo(500);
    } finally {
      process.destroyForcibly().waitFor();
    }
    try (MetadataStore after = RocksDbStore.open(data)) {
      for (int thread = 0; thread < Committer.THREADS; thread++) {
        Key key = key(thread);
        long found =
            after.transact(
                7, t -> t.get(Tables.COUNTER, key).map(row -> row.getValue()).orElse(0L));
        assertThat(found).as("thread %d", thread).isGreaterThanOrEqualTo(acknowledged[thread]);
      }
    }
  }

  private static Process startCommitter(Path data) throws IOException {
    return new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                Committer.class.getName(),
                data.toString()))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** The process that is killed: each thread counts up its own row, half of them relaxed. */
  static final class Committer {
    static final int THREADS = 4;

    private Committer() {}

    public static void main(String[] arguments) throws IOException {
      MetadataStore store = RocksDbStore.open(Path.of(arguments[0]));
      ExecutorService executor = Executors.newFixedThreadPool(THREADS);
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        executor.submit(() -> count(store, thread));
      }
    }

    private static Object count(MetadataStore store, int thread) throws IOException {
      for (long value = 1; ; value++) {
        long next = value;
        store.transact(
            7,
            thread % 2 == 0 ? Durability.SYNCED : Durability.RELAXED,
            transaction -> {
              transaction.put(Tables.COUNTER, key(thread), row(next));
              return null;
            });
        String line = thread + " " + value + "\n";
        synchronized (System.out) {
          System.out.write(line.getBytes(StandardCharsets.UTF_8));
          System.out.flush();
        }
      }
    }
  }
}
