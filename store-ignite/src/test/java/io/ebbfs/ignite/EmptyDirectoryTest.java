package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.store.IdGenerators;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.EnumMap;
import java.util.Map;
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
 * One namenode makes an entry in an empty directory (a directory, a file, or one that was
 * elsewhere) while another one removes the directory. One of them must fail: otherwise the entry
 * would be lost with the directory.
 */
@Tag("process")
class EmptyDirectoryTest {
  private static final long SEED = Long.getLong("ebbfs.seed", System.nanoTime());
  private static final int ROUNDS = 150;
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("root", "supergroup");
  private static final Caller ROOT = new Caller("root", Set::of, SUPERUSER);

  @TempDir Path directory;

  /** How an entry comes into a directory. */
  private enum Addition {
    MKDIR,
    CREATE,
    RENAME
  }

  /** The services of a namenode that make, remove and find directories and files. */
  private record Namenode(
      MkdirService mkdirs,
      FileCreationService creation,
      RenameService renames,
      DeleteService deletions,
      InodeLookup inodes) {
    static Namenode on(IgniteStore store) throws IOException {
      Clock clock = Clock.systemUTC();
      IdGenerators ids = IdGenerators.of(store);
      LeaseManager leases = new LeaseManager(clock, Long.MAX_VALUE, Long.MAX_VALUE);
      return new Namenode(
          new MkdirService(store, ids.inodes(), clock, NamespaceLimits.DEFAULT),
          new FileCreationService(
              store,
              ids.inodes(),
              clock,
              NamespaceLimits.DEFAULT,
              leases,
              null, // no lease ends
              () -> {}),
          new RenameService(
              store, clock, NamespaceLimits.DEFAULT, new TreeCounter(store), () -> {}),
          new DeleteService(store, clock, () -> {}),
          new InodeLookup(store));
    }

    /** Whether an entry was added: not if the directory above is gone. */
    boolean adds(Addition how, String path, String source) {
      try {
        switch (how) {
          case MKDIR -> mkdirs.mkdirs(ROOT, path, new FsPermission(0755), false);
          case CREATE -> creation.create(ROOT, file(path));
          case RENAME -> renames.rename2(ROOT, source, path, false);
        }
        return true;
      } catch (FileNotFoundException e) {
        return false;
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    private static FileCreationService.Request file(String path) {
      return new FileCreationService.Request(
          path, 0644, "client", "127.0.0.1", true, false, false, 1, 1 << 20);
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
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void anEntryIsNotLostWithItsDirectory() throws Exception {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    Map<Addition, Integer> made = new EnumMap<>(Addition.class);
    Map<Addition, Integer> removed = new EnumMap<>(Addition.class);
    try (StoreNodes nodes = StoreNodes.start(directory, 1);
        IgniteStore one = IgniteStore.open(nodes.client());
        IgniteStore other = IgniteStore.open(nodes.client())) {
      Namenode maker = Namenode.on(one);
      Namenode remover = Namenode.on(other);
      maker.mkdirs().makeRoot(SUPERUSER);
      maker.adds(Addition.MKDIR, "/source", "");
      long removalNanos = 3_000_000;
      for (int round = 0; round < ROUNDS; round++) {
        Addition how = Addition.values()[round % Addition.values().length];
        String above = "/d" + round;
        maker.adds(Addition.MKDIR, above, "");
        // Both have changed the directory a moment ago, so they merge its times.
        maker.adds(Addition.MKDIR, above + "/first", "");
        remover.removes(above + "/first");
        long delay = random.nextLong(removalNanos);
        CompletableFuture<Boolean> making =
            CompletableFuture.supplyAsync(
                () -> {
                  LockSupport.parkNanos(delay);
                  return maker.adds(how, above + "/entry", "/source");
                });
        long began = System.nanoTime();
        boolean wasRemoved = remover.removes(above);
        // On a slow machine the additions begin later, so that they still meet the removal.
        removalNanos = System.nanoTime() - began;
        boolean wasMade = making.get(60, TimeUnit.SECONDS);
        String as = "seed %d, round %d, %s".formatted(SEED, round, how);
        assertThat(wasMade && wasRemoved).as(as + ": an entry was lost").isFalse();
        assertThat(wasMade || wasRemoved).as(as + ": both have failed").isTrue();
        Optional<Inode> entry = maker.inodes().find(ROOT, above + "/entry");
        assertThat(entry.isPresent()).as(as).isEqualTo(wasMade);
        (wasMade ? made : removed).merge(how, 1, Integer::sum);
        if (wasMade && how == Addition.RENAME) {
          maker.adds(Addition.RENAME, "/source", above + "/entry");
        }
      }
    }
    System.out.println("made " + made + ", removed " + removed);
    assertThat(made).as("made").containsOnlyKeys(Addition.values());
    assertThat(removed).as("removed").containsOnlyKeys(Addition.values());
  }
}
