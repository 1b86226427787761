package io.ebbfs.namenode.store;

import com.sun.management.OperatingSystemMXBean;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.LeaseRow;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Measures the embedded store without the services above it: wall time and CPU time (of the whole
 * process) per operation. Run it by hand: {@code java -cp ... StoreBenchmark DIRECTORY CACHE_MIB}.
 */
final class StoreBenchmark {
  private static final int DEPTH = 6;
  private static final int DIRECTORIES = 1_000;
  private static final int FILES = 100;
  private static final int WARM = 30_000;
  private static final int SLICE = 250;
  private static final int SLICES = 200;
  private static final long MEASURE_MILLIS = 4_000;

  private final MetadataStore store;
  private final AtomicLong nextId = new AtomicLong(1L << 40);

  private StoreBenchmark(MetadataStore store) {
    this.store = store;
  }

  public static void main(String[] arguments) throws Exception {
    long cacheBytes = Long.parseLong(arguments[1]) << 20;
    try (MetadataStore store = RocksDbStore.open(Path.of(arguments[0]), 10_000, cacheBytes)) {
      StoreBenchmark benchmark = new StoreBenchmark(store);
      benchmark.fill();
      for (int i = 0; i < WARM; i++) {
        benchmark.create(Durability.RELAXED);
        benchmark.createDeferred();
        benchmark.readPath();
        benchmark.listSmall();
      }
      measure("path of 7, 7 gets", benchmark::readPath);
      measure("list of 16", benchmark::listSmall);
      measure("list of 100", benchmark::list);
      measure("create, relaxed", () -> benchmark.create(Durability.RELAXED));
      measure("create, sync deferred", benchmark::createDeferred);
      for (int threads : new int[] {1, 16, 64}) {
        measureAll("create, synced", threads, () -> benchmark.create(Durability.SYNCED));
      }
      measureAll("create, sync deferred", 2, benchmark::createDeferred);
    }
  }

  /** One operation. */
  private interface Operation {
    void run() throws Exception;
  }

  /** CPU time of the calling thread; quantiles over short slices, since the machine may be busy. */
  private static void measure(String name, Operation operation) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    double[] slices = new double[SLICES];
    for (int slice = 0; slice < SLICES; slice++) {
      long cpu = threads.getCurrentThreadCpuTime();
      for (int i = 0; i < SLICE; i++) {
        operation.run();
      }
      slices[slice] = (threads.getCurrentThreadCpuTime() - cpu) / 1e3 / SLICE;
    }
    Arrays.sort(slices);
    System.out.printf(
        Locale.ROOT,
        "%-24s %6.2f us CPU of the thread per operation (a tenth takes less than %.2f)%n",
        name,
        slices[SLICES / 2],
        slices[SLICES / 10]);
  }

  /** Throughput, and CPU time of the whole process. */
  private static void measureAll(String name, int threads, Operation operation) throws Exception {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong count = new AtomicLong();
    List<Thread> running = new ArrayList<>();
    long cpu = system.getProcessCpuTime();
    long started = System.nanoTime();
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(() -> count.addAndGet(repeat(operation, stop)));
      thread.start();
      running.add(thread);
    }
    Thread.sleep(MEASURE_MILLIS);
    stop.set(true);
    for (Thread thread : running) {
      thread.join();
    }
    System.out.printf(
        Locale.ROOT,
        "%-24s %6.2f us CPU of the process per operation, %.0f operations/s by %d threads%n",
        name,
        (system.getProcessCpuTime() - cpu) / 1e3 / count.get(),
        count.get() * 1e9 / (System.nanoTime() - started),
        threads);
  }

  private static long repeat(Operation operation, AtomicBoolean stop) {
    long done = 0;
    try {
      for (; !stop.get(); done++) {
        operation.run();
      }
    } catch (Exception e) {
      e.printStackTrace();
    }
    return done;
  }

  // ---- rows

  private static byte[] name(String prefix, long number) {
    return (prefix + number).getBytes(StandardCharsets.UTF_8);
  }

  private static InodeRow.Builder inode(long id, InodeKindProto kind) {
    return InodeRow.newBuilder()
        .setId(id)
        .setKind(kind)
        .setOwner("somebody")
        .setGroup("supergroup")
        .setPermission(0755)
        .setModifiedMillis(1_700_000_000_000L);
  }

  /** A chain of directories, then many directories with many files each. */
  private void fill() throws IOException {
    for (int depth = 1; depth <= DEPTH - 1; depth++) {
      put(depth, name("level", depth), inode(depth + 1, InodeKindProto.DIRECTORY).build());
    }
    for (int d = 0; d < DIRECTORIES; d++) {
      int directory = d;
      put(DEPTH, name("dir", d), inode(directory(d), InodeKindProto.DIRECTORY).build());
      store.transact(
          directory(d),
          Durability.RELAXED,
          t -> {
            int files = directory % 2 == 0 ? 16 : FILES;
            for (int f = 0; f < files; f++) {
              long id = directory(directory) + 1 + f;
              t.put(
                  Tables.INODE,
                  Tables.inode(directory(directory), name("some-file-", f)),
                  inode(id, InodeKindProto.FILE).setReplication(3).setLengthBytes(77).build());
            }
            return null;
          });
    }
  }

  private void put(long parent, byte[] name, InodeRow row) throws IOException {
    store.transact(
        parent,
        Durability.RELAXED,
        t -> {
          t.put(Tables.INODE, Tables.inode(parent, name), row);
          return null;
        });
  }

  private static long directory(int number) {
    return 1_000_000L + number * 1_000L;
  }

  // ---- operations

  private void readPath() throws IOException {
    int d = ThreadLocalRandom.current().nextInt(DIRECTORIES);
    int f = ThreadLocalRandom.current().nextInt(16);
    store.transact(0, Durability.RELAXED, t -> resolve(t, d, name("some-file-", f)));
  }

  private static InodeRow resolve(Transaction t, int directory, byte[] name) throws IOException {
    long parent = 1;
    for (int depth = 1; depth < DEPTH; depth++) {
      parent =
          t.get(Tables.INODE, Tables.inode(parent, name("level", depth))).orElseThrow().getId();
    }
    parent =
        t.get(Tables.INODE, Tables.inode(parent, name("dir", directory))).orElseThrow().getId();
    return t.get(Tables.INODE, Tables.inode(parent, name)).orElse(null);
  }

  private void listSmall() throws IOException {
    list(ThreadLocalRandom.current().nextInt(DIRECTORIES / 2) * 2);
  }

  private void list() throws IOException {
    list(ThreadLocalRandom.current().nextInt(DIRECTORIES / 2) * 2 + 1);
  }

  private void list(int directory) throws IOException {
    store.transact(
        0, Durability.RELAXED, t -> t.scan(Tables.INODE, directory(directory), null, 1_000));
  }

  private void create(Durability durability) throws IOException {
    int d = ThreadLocalRandom.current().nextInt(DIRECTORIES);
    long id = nextId.incrementAndGet();
    byte[] name = name("new", id);
    Key parentKey = Tables.inode(DEPTH, name("dir", d));
    Key key = Tables.inode(directory(d), name);
    String client = "DFSClient_NONMAPREDUCE_" + (id & 63);
    Key lease =
        Key.of(
            Tables.named(client).partition(),
            ByteBuffer.allocate(client.length() + 8)
                .put(client.getBytes(StandardCharsets.UTF_8))
                .putLong(id)
                .array());
    store.transact(
        directory(d),
        durability,
        t -> {
          t.lock(
              List.of(
                  RowLock.exclusive(Tables.LEASE, lease),
                  RowLock.exclusive(Tables.INODE, parentKey),
                  RowLock.exclusive(Tables.INODE, key)));
          InodeRow parent = t.get(Tables.INODE, parentKey).orElseThrow();
          if (t.get(Tables.INODE, key).isPresent()) {
            throw new IOException("it exists");
          }
          t.put(Tables.INODE, parentKey, parent.toBuilder().setModifiedMillis(id).build());
          t.put(
              Tables.INODE,
              key,
              inode(id, InodeKindProto.FILE)
                  .setReplication(3)
                  .setUnderConstruction(
                      UnderConstructionProto.newBuilder()
                          .setClientName(client)
                          .setClientMachine("127.0.0.1"))
                  .build());
          t.put(
              Tables.INODE_NAME,
              Tables.inodeName(id),
              InodeNameRow.newBuilder()
                  .setParentId(directory(d))
                  .setName(ByteString.copyFrom(name))
                  .build());
          t.put(
              Tables.LEASE,
              lease,
              LeaseRow.newBuilder().setClientName(client).setRenewedMillis(id).build());
          return null;
        });
  }

  private void createDeferred() throws IOException {
    PendingSync scope = PendingSync.begin();
    try {
      create(Durability.SYNCED);
    } finally {
      scope.end();
    }
    scope.whenSynced(Runnable::run, failure -> {});
  }
}
