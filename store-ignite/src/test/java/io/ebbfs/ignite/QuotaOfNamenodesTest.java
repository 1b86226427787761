package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.audit.QuotaCheck;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.quotas.QuotaService;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.tree.ContentSummaryService;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.store.IdGenerators;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.NSQuotaExceededException;
import org.apache.hadoop.ipc.RetriableException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two namenodes count a tree and change it at the same time, each with several clients. In the end
 * the sums are those of the rows, and the directory holds exactly its limit.
 */
@Tag("process")
class QuotaOfNamenodesTest {
  private static final long SEED = Long.getLong("ebbfs.seed", System.nanoTime());
  private static final int CLIENTS = 6;
  private static final int STEPS = 25;
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("root", "supergroup");
  private static final Caller ROOT = new Caller("root", Set::of, SUPERUSER);

  @TempDir Path directory;

  private record Namenode(
      MkdirService mkdirs,
      FileCreationService creation,
      RenameService renames,
      DeleteService deletions,
      QuotaService quotas,
      ContentSummaryService summaries) {
    static Namenode on(IgniteStore store) throws IOException {
      Clock clock = Clock.systemUTC();
      IdGenerators ids = IdGenerators.of(store);
      LeaseManager leases = new LeaseManager(clock, Long.MAX_VALUE, Long.MAX_VALUE);
      NamespaceLimits limits = NamespaceLimits.DEFAULT;
      TreeCounter counter = new TreeCounter(store);
      return new Namenode(
          new MkdirService(store, ids.inodes(), clock, limits),
          new FileCreationService(
              store, ids.inodes(), clock, limits, leases, null, () -> {}), // no lease ends
          new RenameService(store, clock, limits, counter, () -> {}),
          new DeleteService(store, clock, () -> {}),
          new QuotaService(store, counter),
          new ContentSummaryService(store));
    }

    void mkdirs(String path) throws IOException {
      mkdirs.mkdirs(ROOT, path, new FsPermission(0755), true);
    }

    Inode create(String path) throws IOException {
      return creation.create(
          ROOT,
          new FileCreationService.Request(
              path, 0644, "client", "127.0.0.1", true, true, false, 1, 1 << 20));
    }

    void limit(String path, long names) throws IOException {
      while (true) {
        try {
          quotas.set(ROOT, path, names, HdfsConstants.QUOTA_DONT_SET, null);
          return;
        } catch (RetriableException e) {
          // A stock client repeats the call, too.
        }
      }
    }

    /** One change, which may fail because another client has changed the tree. */
    void step(Random random) throws IOException {
      String some = "/q/" + random.nextInt(3);
      String other = "/q/" + random.nextInt(3);
      try {
        switch (random.nextInt(6)) {
          case 0, 1 -> create(some + "/" + random.nextInt(40));
          case 2 -> deletions.delete(ROOT, some + "/" + random.nextInt(40), false);
          case 3 -> renames.rename2(ROOT, some, other + "/x" + random.nextInt(2), false);
          case 4 -> renames.rename2(ROOT, other + "/x" + random.nextInt(2), some, false);
          default -> {
            renames.rename2(ROOT, some, "/out" + random.nextInt(2), false);
            renames.rename2(ROOT, "/out" + random.nextInt(2), other, false);
          }
        }
      } catch (FileNotFoundException | FileAlreadyExistsException | RetriableException e) {
        // Another client was first, or many trees are being counted.
      } catch (IOException e) {
        if (!String.valueOf(e.getMessage()).contains("under source")) {
          throw e;
        }
      }
    }
  }

  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void theSumsAreThoseOfTheRowsAndTheLimitIsExact() throws Exception {
    System.out.println("seed " + SEED);
    try (StoreNodes nodes = StoreNodes.start(directory, 1);
        IgniteStore one = IgniteStore.open(nodes.client());
        IgniteStore other = IgniteStore.open(nodes.client())) {
      List<Namenode> namenodes = List.of(Namenode.on(one), Namenode.on(other));
      namenodes.get(0).mkdirs().makeRoot(SUPERUSER);
      for (int i = 0; i < 3; i++) {
        namenodes.get(0).mkdirs("/q/" + i + "/below");
        namenodes.get(0).create("/q/" + i + "/below/file");
      }
      List<Callable<Void>> work = new ArrayList<>();
      work.add(
          () -> {
            namenodes.get(1).limit("/q", 1_000_000);
            return null;
          });
      for (int client = 0; client < CLIENTS; client++) {
        Random random = new Random(SEED + client);
        Namenode namenode = namenodes.get(client % 2);
        work.add(
            () -> {
              for (int step = 0; step < STEPS; step++) {
                namenode.step(random);
              }
              return null;
            });
      }
      inParallel(work);
      assertThat(QuotaCheck.run(one)).as("seed " + SEED).isEmpty();
      fill(namenodes);
      assertThat(QuotaCheck.run(other)).as("seed " + SEED).isEmpty();
    }
  }

  /** All clients add names until there is no room. */
  private void fill(List<Namenode> namenodes) throws Exception {
    namenodes.get(0).mkdirs("/q/full");
    long used = names(namenodes.get(1));
    namenodes.get(1).limit("/q", used + 60);
    List<Callable<Void>> work = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      work.add(
          () -> {
            for (int file = 0; ; file++) {
              try {
                namenodes.get(client % 2).create("/q/full/" + client + "-" + file);
              } catch (NSQuotaExceededException e) {
                return null;
              }
            }
          });
    }
    inParallel(work);
    assertThat(names(namenodes.get(0))).as("seed " + SEED).isEqualTo(used + 60);
  }

  private static long names(Namenode namenode) throws IOException {
    return namenode.summaries().consumption(ROOT, "/q").names();
  }

  private static void inParallel(List<Callable<Void>> work) throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(work.size());
    try {
      List<Future<Void>> running = new ArrayList<>();
      work.forEach(one -> running.add(executor.submit(one)));
      for (Future<Void> one : running) {
        one.get(300, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
  }
}
