package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.store.IdGenerators;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One namenode makes an entry in an empty directory while another one removes the directory. One of
 * them must fail: otherwise the entry would be lost with the directory.
 */
@Tag("process")
class EmptyDirectoryTest {
  private static final long SEED = Long.getLong("ebbfs.seed", System.nanoTime());
  private static final int ROUNDS = 150;
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("root", "supergroup");
  private static final Caller ROOT = new Caller("root", Set::of, SUPERUSER);

  @TempDir Path directory;

  /** The services of a namenode that make, remove and find directories. */
  private record Namenode(MkdirService mkdirs, DeleteService deletions, InodeLookup inodes) {
    static Namenode on(IgniteStore store) {
      return new Namenode(
          new MkdirService(
              store, IdGenerators.of(store).inodes(), Clock.systemUTC(), NamespaceLimits.DEFAULT),
          new DeleteService(store, Clock.systemUTC(), () -> {}),
          new InodeLookup(store));
    }

    /** Whether the directory was made: not if the directory above is gone. */
    boolean makes(String path) {
      try {
        return mkdirs.mkdirs(ROOT, path, new FsPermission(0755), false);
      } catch (FileNotFoundException e) {
        return false;
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    /** Whether the empty directory was removed: not if something is in it. */
    boolean removes(String path) {
      try {
        return deletions.delete(ROOT, path, false);
      } catch (PathIsNotEmptyDirectoryException e) {
        return false;
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  @Timeout(value = 180, unit = TimeUnit.SECONDS)
  void anEntryIsNotLostWithItsDirectory() throws Exception {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    int made = 0;
    int removed = 0;
    try (StoreNodes nodes = StoreNodes.start(directory, 1);
        IgniteStore one = IgniteStore.open(nodes.client());
        IgniteStore other = IgniteStore.open(nodes.client())) {
      Namenode maker = Namenode.on(one);
      Namenode remover = Namenode.on(other);
      maker.mkdirs().makeRoot(SUPERUSER);
      for (int round = 0; round < ROUNDS; round++) {
        String above = "/d" + round;
        maker.makes(above);
        // Both have changed the directory a moment ago, so they merge its times.
        maker.makes(above + "/first");
        remover.removes(above + "/first");
        long delay = random.nextInt(3_000_000);
        CompletableFuture<Boolean> making =
            CompletableFuture.supplyAsync(
                () -> {
                  LockSupport.parkNanos(delay);
                  return maker.makes(above + "/entry");
                });
        boolean wasRemoved = remover.removes(above);
        boolean wasMade = making.get(60, TimeUnit.SECONDS);
        String as = "seed %d, round %d".formatted(SEED, round);
        assertThat(wasMade && wasRemoved).as(as + ": an entry was lost").isFalse();
        assertThat(wasMade || wasRemoved).as(as + ": both have failed").isTrue();
        Optional<Inode> entry = maker.inodes().find(ROOT, above + "/entry");
        assertThat(entry.isPresent()).as(as).isEqualTo(wasMade);
        made += wasMade ? 1 : 0;
        removed += wasRemoved ? 1 : 0;
      }
    }
    assertThat(made).as("made").isPositive();
    assertThat(removed).as("removed").isPositive();
  }
}
