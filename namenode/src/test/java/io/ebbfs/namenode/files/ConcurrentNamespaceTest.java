package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.store.Tables;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.Test;

/** With many clients at once the tree stays a tree, and no acknowledged change is lost. */
class ConcurrentNamespaceTest {
  private static final int THREADS = 8;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final NamespaceFixture real;

  ConcurrentNamespaceTest() throws IOException {
    real = new NamespaceFixture();
    System.out.println("seed " + seed);
  }

  private void inParallel(Callable<?>... tasks) throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(tasks.length);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (Callable<?> task : tasks) {
        running.add(executor.submit(task));
      }
      for (Future<?> one : running) {
        one.get(60, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
  }

  /** Each of the two renames alone is fine; both together would make a cycle. */
  @Test
  void twoRenamesNeverMakeACycle() throws Exception {
    for (int round = 0; round < 300; round++) {
      String top = "/r" + round;
      real.mkdirs(top + "/a/d");
      real.mkdirs(top + "/b/c");
      inParallel(
          () -> real.renames.rename(real.root(), top + "/a", top + "/b/c/a"),
          () -> real.renames.rename(real.root(), top + "/b", top + "/a/d/b"));
    }
    // Each top has four directories below it, and each of them is reachable.
    assertThat(real.tree()).hasSize(300 * 5);
  }

  @Test
  void randomMovesOfDirectoriesLoseNone() throws Exception {
    int directories = 30;
    for (int i = 0; i < directories; i++) {
      real.mkdirs("/d" + i);
    }
    Set<Long> before = new HashSet<>(real.tree().values());
    Callable<?>[] movers = new Callable<?>[THREADS];
    for (int thread = 0; thread < THREADS; thread++) {
      Random random = new Random(seed + thread);
      movers[thread] =
          () -> {
            for (int i = 0; i < 300; i++) {
              List<String> paths = new ArrayList<>(real.glimpse().keySet());
              String src = trim(paths.get(random.nextInt(paths.size())));
              String dst = trim(paths.get(random.nextInt(paths.size())));
              attempt(() -> real.renames.rename(real.root(), src, dst));
            }
            return null;
          };
    }
    inParallel(movers);
    assertThat(new HashSet<>(real.tree().values())).as("seed %d", seed).isEqualTo(before);
  }

  private static String trim(String path) {
    return path.substring(0, path.length() - 1);
  }

  /** Another client may have removed a path: then the failure of the call is the right answer. */
  private static boolean attempt(Callable<Boolean> call) throws Exception {
    try {
      return call.call();
    } catch (AccessControlException
        | FileNotFoundException
        | ParentNotDirectoryException
        | FileAlreadyExistsException e) {
      return false;
    }
  }

  @Test
  void oneOfManyCreatorsWins() throws Exception {
    for (int round = 0; round < 100; round++) {
      String path = "/shared/f" + round;
      List<Boolean> won = Collections.synchronizedList(new ArrayList<>());
      Callable<?>[] creators = new Callable<?>[4];
      for (int i = 0; i < creators.length; i++) {
        String client = "client" + i;
        creators[i] =
            () ->
                won.add(
                    attempt(
                        () -> {
                          try {
                            real.creation.create(real.root(), real.request(path, client, false));
                            return true;
                          } catch (AlreadyBeingCreatedException e) {
                            return false;
                          }
                        }));
      }
      inParallel(creators);
      assertThat(won).as(path).containsOnlyOnce(true);
    }
  }

  /** Files are made in a directory while it is deleted. Each file that remains is reachable. */
  @Test
  void nothingIsLeftBehindByCreatesThatRaceWithADelete() throws Exception {
    for (int round = 0; round < 50; round++) {
      String top = "/t" + round;
      real.mkdirs(top + "/x/y");
      inParallel(
          () -> {
            for (int i = 0; i < 20; i++) {
              int n = i;
              attempt(
                  () -> {
                    real.creation.create(
                        real.root(),
                        new FileCreationService.Request(
                            top + "/x/y/f" + n, 0644, "c", "m", true, false, false, 3, 1 << 20));
                    return true;
                  });
            }
            return null;
          },
          () -> real.deletions.delete(real.root(), top, true),
          () -> {
            real.reaper.reapAll();
            return null;
          });
    }
    real.reaper.reapAll();
    assertThat(real.rows(Tables.INODE)).isEqualTo(real.tree().size() + 1);
    assertThat(real.rows(Tables.INODE_NAME)).isEqualTo(real.tree().size() + 1);
    assertThat(real.rows(Tables.LEASE)).isZero();
  }

  @Test
  void creationsInOneDirectoryAllSucceed() throws Exception {
    Callable<?>[] creators = new Callable<?>[THREADS];
    for (int thread = 0; thread < THREADS; thread++) {
      int number = thread;
      creators[thread] =
          () -> {
            for (int i = 0; i < 200; i++) {
              real.mkdirs.mkdirs(
                  real.root(), "/one/dir/n" + number + "-" + i, new FsPermission(0755), true);
            }
            return null;
          };
    }
    inParallel(creators);
    assertThat(real.tree()).hasSize(2 + THREADS * 200);
  }
}
