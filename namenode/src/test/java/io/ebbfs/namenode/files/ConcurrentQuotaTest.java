package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.audit.QuotaCheck;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;
import org.apache.hadoop.ipc.RetriableException;
import org.junit.jupiter.api.Test;

/**
 * Clients of two namenodes on one store: the sums are those of the rows, and no limit is passed.
 */
class ConcurrentQuotaTest {
  private static final long KEEP = QuotaServiceTest.KEEP;
  private static final long NONE = QuotaServiceTest.NONE;
  private static final int THREADS = 6;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final List<NamespaceFixture> namenodes;

  ConcurrentQuotaTest() throws IOException {
    System.out.println("seed " + seed);
    InMemoryStore store = InMemoryStore.shared();
    NamespaceFixture one = new NamespaceFixture(store);
    NamespaceFixture other = new NamespaceFixture(store.besides(System::nanoTime));
    new SimulatedDatanodes(one, 3);
    new SimulatedDatanodes(other, 3);
    namenodes = List.of(one, other);
  }

  private NamespaceFixture any(Random random) {
    return namenodes.get(random.nextInt(namenodes.size()));
  }

  private static void inParallel(List<Callable<Void>> tasks) throws Exception {
    inParallel(tasks, () -> null);
  }

  private static void inParallel(List<Callable<Void>> tasks, Callable<Void> meanwhile)
      throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(tasks.size() + 1);
    try {
      List<Future<?>> running = new ArrayList<>();
      tasks.forEach(task -> running.add(executor.submit(task)));
      executor.submit(meanwhile);
      for (Future<?> one : running) {
        one.get(120, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
      assertThat(executor.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  // ---- the limit
  // --------------------------------------------------------------------------------

  @Test
  void aFullDirectoryHoldsExactlyItsLimit() throws Exception {
    int limit = 230;
    namenodes.get(0).mkdirs("/q/d");
    namenodes.get(0).quotas.set(namenodes.get(0).root(), "/q", limit, KEEP, null);
    AtomicInteger made = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    List<Callable<Void>> clients = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int client = i;
      clients.add(
          () -> {
            Random random = new Random(seed + client);
            for (int file = 0; file < 80; file++) {
              NamespaceFixture namenode = any(random);
              String path = "/q/d/" + client + "-" + file;
              try {
                namenode.touch(path);
                made.incrementAndGet();
                if (random.nextInt(3) == 0) {
                  namenode.deletions.delete(namenode.root(), path, false);
                  made.decrementAndGet();
                }
              } catch (QuotaExceededException e) {
                refused.incrementAndGet();
              }
            }
            return null;
          });
    }
    AtomicBoolean ended = new AtomicBoolean();
    AtomicInteger looks = new AtomicInteger();
    Thread watcher = new Thread(() -> watch(limit, ended, looks));
    watcher.start();
    inParallel(clients);
    ended.set(true);
    watcher.join();
    assertThat(looks.get()).isPositive();
    assertThat(refused.get()).as("seed " + seed).isPositive();
    fill("/q/d/last-", made);
    assertThat(made.get()).as("seed " + seed).isEqualTo(limit - 2);
    assertThat(totals("/q").names()).isEqualTo(limit);
    assertThat(QuotaCheck.run(namenodes.get(0).store)).as("seed " + seed).isEmpty();
  }

  /** Adds what is left. */
  private void fill(String prefix, AtomicInteger made) throws IOException {
    for (int i = 0; i < 100_000; i++) {
      try {
        namenodes.get(i % 2).touch(prefix + i);
        made.incrementAndGet();
      } catch (QuotaExceededException e) {
        return;
      }
    }
  }

  /** Under the locks of all shards nobody sees more than the limit. */
  private void watch(long limit, AtomicBoolean ended, AtomicInteger looks) {
    try {
      while (!ended.get()) {
        assertThat(totals("/q").names()).as("seed " + seed).isLessThanOrEqualTo(limit);
        looks.incrementAndGet();
      }
    } catch (IOException | AssertionError e) {
      e.printStackTrace();
      looks.set(Integer.MIN_VALUE);
    }
  }

  private QuotaRows.Totals totals(String path) throws IOException {
    NamespaceFixture namenode = namenodes.get(0);
    long id = namenode.status(path).getFileId();
    return namenode.store.transact(
        id,
        transaction -> {
          transaction.lock(QuotaRows.locks(id));
          return QuotaRows.totals(transaction, id).orElseThrow();
        });
  }

  // ---- the sums
  // ---------------------------------------------------------------------------------

  private static final List<String> DIRECTORIES =
      List.of("/a", "/a/b", "/a/b/c", "/d", "/d/e", "/d/e/f", "/g");

  private static final List<String> POLICIES = List.of("HOT", "WARM", "ONE_SSD", "ALL_SSD");

  private static String directory(Random random) {
    return DIRECTORIES.get(random.nextInt(DIRECTORIES.size()));
  }

  private static String name(Random random) {
    return directory(random) + "/" + (char) ('s' + random.nextInt(4));
  }

  @Test
  void theSumsAreThoseOfTheRowsAfterAnyCalls() throws Exception {
    for (int round = 0; round < 25; round++) {
      List<Callable<Void>> clients = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Random random = new Random(seed + round * 100L + i);
        clients.add(
            () -> {
              for (int step = 0; step < 60; step++) {
                step(any(random), random);
              }
              return null;
            });
      }
      inParallel(clients, this::reap);
      String what = "seed " + seed + ", round " + round;
      assertThat(QuotaCheck.run(namenodes.get(0).store)).as(what).isEmpty();
      if (round % 5 == 4) {
        namenodes.get(0).reaper.reapAll();
        assertThat(QuotaCheck.run(namenodes.get(0).store)).as(what).isEmpty();
      }
    }
    assertThat(accepted.get()).as("calls that changed something").isGreaterThan(500);
    assertThat(refused.get()).as("calls over a limit").isPositive();
  }

  /** A call over a limit waits until what is deleted is removed. */
  private Void reap() throws IOException, InterruptedException {
    while (!Thread.currentThread().isInterrupted()) {
      namenodes.get(0).reaper.reapAll();
      Thread.sleep(5);
    }
    return null;
  }

  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();

  private void step(NamespaceFixture namenode, Random random) {
    try {
      switch (random.nextInt(16)) {
        case 0, 1 -> namenode.mkdirs(directory(random));
        case 2, 3 -> namenode.touch(namenode.root(), name(random), random.nextBoolean());
        case 4 -> namenode.renames.rename2(namenode.root(), name(random), name(random), true);
        case 5 ->
            namenode.renames.rename2(namenode.root(), directory(random), directory(random), true);
        case 6 -> namenode.renames.rename(namenode.root(), directory(random), directory(random));
        case 7 -> namenode.deletions.delete(namenode.root(), name(random), true);
        case 8 -> {
          if (random.nextInt(4) == 0) {
            namenode.deletions.delete(namenode.root(), directory(random), true);
          } else {
            namenode.replication.set(namenode.root(), name(random), 1 + random.nextInt(3));
          }
        }
        case 9 ->
            namenode.quotas.set(
                namenode.root(),
                directory(random),
                random.nextBoolean() ? 1 + random.nextInt(12) : NONE,
                random.nextBoolean() ? random.nextInt(40) * NamespaceFixture.BLOCK_BYTES : NONE,
                null);
        case 10 ->
            namenode.policies.set(
                namenode.root(),
                random.nextInt(3) == 0 ? name(random) : directory(random),
                POLICIES.get(random.nextInt(POLICIES.size())));
        case 11 -> namenode.policies.unset(namenode.root(), directory(random));
        case 12 ->
            namenode.quotas.set(
                namenode.root(),
                directory(random),
                KEEP,
                random.nextBoolean() ? random.nextInt(20) * NamespaceFixture.BLOCK_BYTES : NONE,
                random.nextBoolean() ? StorageType.SSD : StorageType.DISK);
        default -> write(namenode, random);
      }
      accepted.incrementAndGet();
    } catch (QuotaExceededException e) {
      refused.incrementAndGet();
    } catch (IOException e) {
      // Another client has changed the tree, or the call makes no sense.
    }
  }

  private static void write(NamespaceFixture namenode, Random random) throws IOException {
    String path = name(random);
    String client = "writer" + random.nextLong();
    Inode file = namenode.creation.create(namenode.root(), namenode.request(path, client, true));
    Handle handle = new Handle(path, file.id(), client, "127.0.0.1");
    BlockRow added = namenode.writes.addBlock(handle, null, Set.of()).block();
    Block block = new Block(added.getBlockId(), 0, added.getGenerationStamp());
    switch (random.nextInt(4)) {
      case 0 -> namenode.writes.abandonBlock(handle, block);
      case 1 -> namenode.writes.fsync(handle, 1 + random.nextInt(1000));
      case 2 -> {}
      default -> {
        block.setNumBytes(random.nextInt(1000));
        namenode.writes.complete(handle, block);
      }
    }
  }

  // ---- a count while clients change the tree
  // ------------------------------------------------------

  @Test
  void aTreeIsCountedWhileItChanges() throws Exception {
    aTreeIsCountedWhileItChanges(1_000_000, KEEP, null);
  }

  @Test
  void aTreeIsCountedByTypeWhileItChanges() throws Exception {
    aTreeIsCountedWhileItChanges(KEEP, 1L << 50, StorageType.SSD);
  }

  private void aTreeIsCountedWhileItChanges(long names, long bytes, StorageType type)
      throws Exception {
    for (int i = 0; i < 900; i++) {
      namenodes.get(0).touch("/big/" + i % 7 + "/" + i % 3 + "/" + i);
    }
    AtomicBoolean counted = new AtomicBoolean();
    List<Callable<Void>> clients = new ArrayList<>();
    clients.add(
        () -> {
          while (!counted.get()) {
            try {
              namenodes.get(0).quotas.set(namenodes.get(0).root(), "/big", names, bytes, type);
              counted.set(true);
            } catch (RetriableException e) {
              // Renames count other trees just now. A stock client repeats the call, too.
            }
          }
          return null;
        });
    for (int i = 1; i < THREADS; i++) {
      Random random = new Random(seed + i);
      clients.add(
          () -> {
            for (int step = 0; step < 300; step++) {
              churn(any(random), random);
            }
            return null;
          });
    }
    inParallel(clients);
    assertThat(counted).isTrue();
    assertThat(QuotaCheck.run(namenodes.get(0).store)).as("seed " + seed).isEmpty();
    assertThat(totals("/big").complete()).isTrue();
    assertThat(totals("/big").typesComplete()).isEqualTo(type != null);
    namenodes.get(0).reaper.reapAll();
    assertThat(QuotaCheck.run(namenodes.get(0).store)).as("seed " + seed).isEmpty();
    assertThat(totals("/big").names())
        .isEqualTo(
            namenodes.get(0).tree().keySet().stream().filter(p -> p.startsWith("/big/")).count());
  }

  /** Nobody hears that somebody else counts the same directory. */
  @Test
  void clientsSetPoliciesOfTheSameSmallDirectories() throws Exception {
    int directories = 30;
    for (int i = 0; i < directories; i++) {
      namenodes.get(0).touch("/q/" + i + "/f");
    }
    NamespaceFixture first = namenodes.get(0);
    first.quotas.set(first.root(), "/q", KEEP, 1_000, StorageType.SSD);
    List<Callable<Void>> clients = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      NamespaceFixture namenode = namenodes.get(i % namenodes.size());
      String policy = POLICIES.get(i % POLICIES.size());
      clients.add(
          () -> {
            for (int directory = 0; directory < directories; directory++) {
              namenode.policies.set(namenode.root(), "/q/" + directory, policy);
            }
            return null;
          });
    }
    inParallel(clients);
    assertThat(QuotaCheck.run(first.store)).isEmpty();
    assertThat(totals("/q/0").typesComplete()).isTrue();
  }

  private static void churn(NamespaceFixture namenode, Random random) {
    String some = "/big/" + random.nextInt(7) + "/" + random.nextInt(3);
    String other = "/big/" + random.nextInt(7) + "/" + random.nextInt(3);
    try {
      switch (random.nextInt(6)) {
        case 5 ->
            namenode.policies.set(
                namenode.root(), some, POLICIES.get(random.nextInt(POLICIES.size())));
        case 0 -> namenode.touch(some + "/" + random.nextInt(900));
        case 1 ->
            namenode.deletions.delete(namenode.root(), some + "/" + random.nextInt(900), false);
        case 2 ->
            namenode.renames.rename2(namenode.root(), some, other + "x" + random.nextInt(3), false);
        case 3 ->
            namenode.renames.rename2(namenode.root(), other + "x" + random.nextInt(3), some, false);
        default ->
            namenode.renames.rename2(namenode.root(), some, "/out" + random.nextInt(3), false);
      }
    } catch (IOException e) {
      // Another client has changed the tree.
    }
  }
}
