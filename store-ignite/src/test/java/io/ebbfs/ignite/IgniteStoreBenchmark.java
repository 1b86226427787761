package io.ebbfs.ignite;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RowKey;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the store on Ignite: latency, and CPU time of the client and of all nodes per operation.
 * Run it by hand: {@code java OPENS -cp ... IgniteStoreBenchmark DIRECTORY NODES THREADS SECONDS},
 * where OPENS are the options of {@link io.ebbfs.common.jvm.JavaOptions}. Each row is measured
 * after a round that warms it.
 */
final class IgniteStoreBenchmark {
  private static final int PARTITIONS = 2_000;
  private static final int ENTRIES = 16;
  private static final int PATH = 7;
  private static final CounterRow ROW = CounterRow.newBuilder().setValue(1L << 60).build();

  private final StoreNodes nodes;
  private final IgniteStore store;
  private final int threads;
  private final int seconds;
  private final AtomicLong nextId = new AtomicLong(1L << 32);

  private IgniteStoreBenchmark(StoreNodes nodes, IgniteStore store, int threads, int seconds) {
    this.nodes = nodes;
    this.store = store;
    this.threads = threads;
    this.seconds = seconds;
  }

  private interface Operation {
    void run(Random random) throws IOException;
  }

  public static void main(String[] arguments) throws Exception {
    try (StoreNodes nodes =
            StoreNodes.start(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
        IgniteStore store = IgniteStore.open(nodes.client())) {
      IgniteStoreBenchmark benchmark =
          new IgniteStoreBenchmark(
              nodes, store, Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
      benchmark.fill();
      benchmark.measure("read 1 row", random -> benchmark.read(random, 1));
      benchmark.measure("read 7 rows of 7 partitions", random -> benchmark.read(random, PATH));
      benchmark.measure("scan 16 rows", benchmark::scan);
      benchmark.measure("lock 1, write 1 row", benchmark::update);
      benchmark.measure("lock 2, write 3 rows, 1 partition", benchmark::changeOnePartition);
      benchmark.measure("lock 2, write 4 rows, 3 partitions", benchmark::create);
    }
    System.exit(0);
  }

  private void fill() throws IOException {
    for (int p = 0; p < PARTITIONS; p++) {
      long partition = p;
      store.transact(
          partition,
          transaction -> {
            for (int i = 0; i < ENTRIES; i++) {
              transaction.put(Tables.COUNTER, Key.of(partition, i), ROW);
            }
            return null;
          });
    }
  }

  private void read(Random random, int rows) throws IOException {
    List<RowKey> keys = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      keys.add(new RowKey(Tables.COUNTER, Key.of(random.nextInt(PARTITIONS), 0)));
    }
    store.transact(0, transaction -> transaction.read(keys));
  }

  private void scan(Random random) throws IOException {
    long partition = random.nextInt(PARTITIONS);
    store.transact(
        partition, transaction -> transaction.scan(Tables.COUNTER, partition, null, 1_000));
  }

  private void update(Random random) throws IOException {
    Key key = Key.of(random.nextInt(PARTITIONS), 1);
    store.transact(
        0,
        transaction -> {
          transaction.lockAndRead(List.of(RowLock.exclusive(Tables.COUNTER, key)));
          transaction.put(Tables.COUNTER, key, ROW);
          return null;
        });
  }

  private void changeOnePartition(Random random) throws IOException {
    long partition = random.nextInt(PARTITIONS);
    store.transact(
        partition,
        transaction -> {
          lock(transaction, Key.of(partition, 1), Key.of(partition, 2));
          for (int i = 1; i <= 3; i++) {
            transaction.put(Tables.COUNTER, Key.of(partition, i), ROW);
          }
          return null;
        });
  }

  /** As a create: the parent, the new row below it, and two rows by the new id. */
  private void create(Random random) throws IOException {
    long grandparent = random.nextInt(PARTITIONS);
    long parent = random.nextInt(PARTITIONS);
    long id = nextId.incrementAndGet();
    store.transact(
        parent,
        transaction -> {
          lock(transaction, Key.of(grandparent, 3), Key.of(parent, id));
          transaction.put(Tables.COUNTER, Key.of(grandparent, 3), ROW);
          transaction.put(Tables.COUNTER, Key.of(parent, id), ROW);
          transaction.put(Tables.COUNTER, Key.of(id), ROW);
          transaction.put(Tables.COUNTER, Key.of(id, 1), ROW);
          return null;
        });
  }

  private static void lock(Transaction transaction, Key one, Key other) throws IOException {
    transaction.lockAndRead(
        List.of(RowLock.exclusive(Tables.COUNTER, one), RowLock.exclusive(Tables.COUNTER, other)));
  }

  private void measure(String name, Operation operation) throws Exception {
    round(operation);
    long client = cpuMicros(ProcessHandle.current().pid());
    long servers = serverMicros();
    long[] nanos = round(operation);
    client = cpuMicros(ProcessHandle.current().pid()) - client;
    servers = serverMicros() - servers;
    Arrays.sort(nanos);
    System.out.printf(
        Locale.ROOT,
        "%-36s %6d/s  p50 %6.0f us  p99 %6.0f us  CPU: client %4d us, nodes %4d us%n",
        name,
        nanos.length / seconds,
        nanos[nanos.length / 2] / 1e3,
        nanos[nanos.length * 99 / 100] / 1e3,
        client / nanos.length,
        servers / nanos.length);
  }

  private long[] round(Operation operation) throws InterruptedException {
    ConcurrentLinkedQueue<Long> nanos = new ConcurrentLinkedQueue<>();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Random random = new Random(i);
      Thread thread =
          new Thread(
              () -> {
                while (System.nanoTime() < end) {
                  long begin = System.nanoTime();
                  run(operation, random);
                  nanos.add(System.nanoTime() - begin);
                }
              });
      thread.start();
      running.add(thread);
    }
    for (Thread thread : running) {
      thread.join();
    }
    return nanos.stream().mapToLong(Long::longValue).toArray();
  }

  private static void run(Operation operation, Random random) {
    try {
      operation.run(random);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private long serverMicros() throws IOException {
    long sum = 0;
    for (long pid : nodes.pids()) {
      sum += cpuMicros(pid);
    }
    return sum;
  }

  /** CPU time of a process, from Linux's clock of 100 ticks a second. */
  private static long cpuMicros(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 10_000;
  }
}
