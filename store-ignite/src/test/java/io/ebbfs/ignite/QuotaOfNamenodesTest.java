package io.ebbfs.ignite;

import static io.ebbfs.ignite.NamenodeServices.ROOT;
import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.audit.QuotaCheck;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.StorageType;
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

  @TempDir Path directory;

  private static void limit(NamenodeServices namenode, String path, long names) throws IOException {
    set(namenode, path, names, HdfsConstants.QUOTA_DONT_SET, null);
  }

  private static void set(
      NamenodeServices namenode, String path, long names, long bytes, StorageType type)
      throws IOException {
    while (true) {
      try {
        namenode.quotas().set(ROOT, path, names, bytes, type);
        return;
      } catch (RetriableException e) {
        // A stock client repeats the call, too.
      }
    }
  }

  /** One change, which may fail because another client has changed the tree. */
  private static void step(NamenodeServices namenode, Random random) throws IOException {
    String some = "/q/" + random.nextInt(3);
    String other = "/q/" + random.nextInt(3);
    try {
      switch (random.nextInt(7)) {
        case 6 -> namenode.policies().set(ROOT, some, random.nextBoolean() ? "HOT" : "ALL_SSD");
        case 0, 1 -> namenode.create(some + "/" + random.nextInt(40));
        case 2 -> namenode.deletions().delete(ROOT, some + "/" + random.nextInt(40), false);
        case 3 -> namenode.renames().rename2(ROOT, some, other + "/x" + random.nextInt(2), false);
        case 4 -> namenode.renames().rename2(ROOT, other + "/x" + random.nextInt(2), some, false);
        default -> {
          namenode.renames().rename2(ROOT, some, "/out" + random.nextInt(2), false);
          namenode.renames().rename2(ROOT, "/out" + random.nextInt(2), other, false);
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

  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void theSumsAreThoseOfTheRowsAndTheLimitIsExact() throws Exception {
    System.out.println("seed " + SEED);
    try (StoreNodes nodes = StoreNodes.start(directory, 1);
        IgniteStore one = IgniteStore.open(nodes.client());
        IgniteStore other = IgniteStore.open(nodes.client())) {
      List<NamenodeServices> namenodes =
          List.of(NamenodeServices.on(one), NamenodeServices.on(other));
      namenodes.get(0).makeRoot();
      for (int i = 0; i < 3; i++) {
        namenodes.get(0).mkdirs("/q/" + i + "/below");
        namenodes.get(0).create("/q/" + i + "/below/file");
      }
      List<Callable<Void>> work = new ArrayList<>();
      work.add(
          () -> {
            limit(namenodes.get(1), "/q", 1_000_000);
            set(namenodes.get(1), "/q", HdfsConstants.QUOTA_DONT_SET, 1L << 50, StorageType.SSD);
            return null;
          });
      for (int client = 0; client < CLIENTS; client++) {
        Random random = new Random(SEED + client);
        NamenodeServices namenode = namenodes.get(client % 2);
        work.add(
            () -> {
              for (int step = 0; step < STEPS; step++) {
                step(namenode, random);
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
  private void fill(List<NamenodeServices> namenodes) throws Exception {
    namenodes.get(0).mkdirs("/q/full");
    long used = names(namenodes.get(1));
    limit(namenodes.get(1), "/q", used + 60);
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

  private static long names(NamenodeServices namenode) throws IOException {
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
