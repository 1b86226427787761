package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.SnapshotNotes;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Paths in a store that others share: guessed keys, and hints that are wrong. */
class GuessedPathTest {
  private static final long SEED = Long.getLong("ebbfs.seed", System.nanoTime());
  private static final String DEEP = "/a/b/c/d/e/f";

  private final MetadataStore store = InMemoryStore.shared();
  private NamespaceFixture real;

  @BeforeEach
  void make() throws IOException {
    real = new NamespaceFixture(store);
    real.mkdirs.mkdirs(real.root(), "/a/b/c/d/e", new FsPermission(0755), true);
    real.touch(DEEP);
  }

  /** A transaction with hints of its own that counts the calls that read. */
  private static final class Counted implements Transaction {
    private final Transaction inner;
    private final DirectoryHints hints;
    private int roundTrips;

    Counted(Transaction inner, DirectoryHints hints) {
      this.inner = inner;
      this.hints = hints;
    }

    @Override
    public SnapshotNotes snapshots() {
      return inner.snapshots();
    }

    @Override
    public Optional<DirectoryHints> hints() {
      return Optional.of(hints);
    }

    @Override
    public void lock(List<RowLock> locks) throws IOException {
      inner.lock(locks);
    }

    @Override
    public <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
      roundTrips++;
      return inner.get(table, key);
    }

    @Override
    public <V extends MessageLite> List<Optional<V>> getAll(Table<V> table, List<Key> keys)
        throws IOException {
      roundTrips++;
      return inner.getAll(table, keys);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
      roundTrips++;
      return inner.scan(table, partition, after, before, limit);
    }

    @Override
    public <V extends MessageLite> void put(Table<V> table, Key key, V value) {
      inner.put(table, key, value);
    }

    @Override
    public void delete(Table<?> table, Key key) {
      inner.delete(table, key);
    }

    @Override
    public void afterCommit(AfterCommit effect) {
      inner.afterCommit(effect);
    }
  }

  /** What a resolution found, and what it cost. */
  private record Found(ResolvedPath path, int roundTrips) {}

  private Found resolve(DirectoryHints hints, String path) throws IOException {
    return store.transact(
        Inode.ROOT_ID,
        transaction -> {
          Counted counted = new Counted(transaction, hints);
          return new Found(PathResolver.resolve(counted, path), counted.roundTrips);
        });
  }

  @Test
  void aKnownPathNeedsOneRoundTrip() throws IOException {
    DirectoryHints hints = new DirectoryHints();
    assertThat(resolve(hints, DEEP).roundTrips()).isEqualTo(6);
    Found again = resolve(hints, DEEP);
    assertThat(again.path().exists()).isTrue();
    assertThat(again.roundTrips()).isEqualTo(1);
    assertThat(resolve(hints, "/a/b/c/d/e/none").roundTrips()).isEqualTo(1);
    assertThat(resolve(hints, "/a/b/c/d/e/none").path().exists()).isFalse();
    assertThat(resolve(hints, DEEP + "/below/a/file").path().lastFound().isFile()).isTrue();
    assertThat(resolve(hints, "/").path().exists()).isTrue();
  }

  /** A list is a part of the row of its inode, so no check of a permission reads another row. */
  @Test
  void aPathWithAccessControlListsNeedsOneRoundTripToo() throws IOException {
    for (String path : List.of("/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/b/c/d/e", DEEP)) {
      real.acls.modify(real.root(), path, AclEntry.parseAclSpec("user:ann:r-x", true));
    }
    DirectoryHints hints = new DirectoryHints();
    resolve(hints, DEEP);
    Found found = resolve(hints, DEEP);
    assertThat(found.roundTrips()).isEqualTo(1);
    PermissionChecker.checkTraverse(real.user("ann"), found.path());
  }

  @Test
  void aDirectoryThatWasReplacedIsNotFoundByItsOldId() throws IOException {
    DirectoryHints hints = new DirectoryHints();
    resolve(hints, DEEP);
    real.renames.rename(real.root(), "/a/b", "/old");
    assertThat(resolve(hints, DEEP).path().exists()).isFalse();
    assertThat(resolve(hints, "/old/c/d/e/f").path().exists()).isTrue();
    real.mkdirs.mkdirs(real.root(), "/a/b/c", new FsPermission(0755), true);
    ResolvedPath now = resolve(hints, DEEP).path();
    assertThat(now.missing()).isEqualTo(3);
    assertThat(resolve(hints, DEEP).roundTrips()).isEqualTo(1);
  }

  /** Two namenodes: what one remembers is changed by the other. */
  @Test
  void guessesFindWhatAWalkFinds() throws IOException {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    DirectoryHints hints = new DirectoryHints();
    for (int step = 0; step < 2_000; step++) {
      String path = path(random);
      try {
        switch (random.nextInt(4)) {
          case 0 -> real.touch(path);
          case 1 -> real.deletions.delete(real.root(), path, true);
          case 2 -> real.renames.rename(real.root(), path, path(random));
          default -> real.mkdirs.mkdirs(real.root(), path, new FsPermission(0755), true);
        }
      } catch (IOException e) {
        // the tree does not allow it
      }
      String asked = path(random);
      ResolvedPath guessed = resolve(hints, asked).path();
      ResolvedPath walked = resolve(new DirectoryHints(), asked).path();
      assertThat(guessed.inodes()).as("%s, step %d", asked, step).isEqualTo(walked.inodes());
      long id = walked.lastFound().id();
      assertThat(attached(hints, id)).contains(walked.lastFound().key());
      long any = Inode.ROOT_ID + random.nextInt(step + 20);
      assertThat(attached(hints, any)).isEqualTo(attached(new DirectoryHints(), any));
    }
  }

  private Optional<Key> attached(DirectoryHints hints, long id) throws IOException {
    return store.transact(
        Inode.ROOT_ID,
        transaction -> PathResolver.attachedKey(new Counted(transaction, hints), id));
  }

  private static String path(Random random) {
    StringBuilder path = new StringBuilder();
    for (int depth = 1 + random.nextInt(4); depth > 0; depth--) {
      path.append('/').append((char) ('a' + random.nextInt(3)));
    }
    return path.toString();
  }
}
