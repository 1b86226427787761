package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.io.FilePlaces;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.files.snapshots.SnapshotService;
import io.ebbfs.namenode.files.tree.PendingDeletionReaper;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.SnapshotException;
import org.junit.jupiter.api.Test;

/**
 * Random changes through two namenodes on one store: each snapshot keeps showing the tree that was
 * there, with its blocks, while trees are deleted and the reaper dies; and when the last snapshot
 * is deleted, nothing is left.
 */
class SnapshotModelTest {
  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final String TOP = "/in";

  private final InMemoryStore store = InMemoryStore.shared();
  private final NamespaceFixture one;
  private final NamespaceFixture other;
  private final Map<NamespaceFixture, SnapshotService> snapshots = new HashMap<>();
  // What each snapshot shows, by its name.
  private final Map<String, Map<String, String>> shown = new TreeMap<>();

  SnapshotModelTest() throws IOException {
    one = new NamespaceFixture(store);
    other = new NamespaceFixture(store.besides(System::nanoTime));
    for (NamespaceFixture real : List.of(one, other)) {
      snapshots.put(real, new SnapshotService(real.store, real.clock, () -> {}));
    }
    one.mkdirs(TOP);
    one.mkdirs("/out");
    snapshots.get(one).allow(one.root(), TOP);
  }

  /** Adds a block at the end of a file, as a client that appends to it. */
  private static void append(NamespaceFixture real, String path) throws IOException {
    long blockId = real.blocks.hashCode() * 1_000L + System.nanoTime();
    real.store.transact(
        0,
        transaction -> {
          Inode found = PathResolver.resolve(transaction, path).requireFile();
          Inode file = InodeLocks.lock(transaction, List.of(found)).get(0);
          int index = file.row().getBlocks();
          transaction.put(
              Tables.BLOCK,
              Tables.block(file.id(), index),
              BlockRow.newBuilder()
                  .setBlockId(blockId)
                  .setGenerationStamp(1)
                  .setLengthBytes(10)
                  .setState(BlockStateProto.COMPLETE)
                  .setReplication(3)
                  .build());
          transaction.put(
              Tables.BLOCK_OWNER,
              Tables.blockOwner(blockId),
              BlockOwnerRow.newBuilder().setOwnerId(file.id()).setIndex(index).build());
          transaction.put(
              Tables.INODE,
              file.key(),
              file.row().toBuilder()
                  .setBlocks(index + 1)
                  .setLengthBytes(file.row().getLengthBytes() + 10)
                  .build());
          return null;
        });
  }

  /** Everything below a path, with the ids of the blocks. */
  private static Map<String, String> tree(NamespaceFixture real, String top) throws IOException {
    Map<String, String> found = new TreeMap<>();
    collect(real, top, "", found);
    return found;
  }

  private static void collect(
      NamespaceFixture real, String top, String below, Map<String, String> found)
      throws IOException {
    for (Inode entry : real.reads.list(real.root(), top + below, new byte[0]).inodes()) {
      String path = below + "/" + entry.nameText();
      String text = entry.row().getPermission() + " " + entry.row().getLengthBytes();
      if (entry.isDirectory()) {
        collect(real, top, path, found);
      } else {
        FilePlaces places = real.reads.places(real.root(), top + path, 0, Long.MAX_VALUE, "");
        text += places.blocks().stream().map(block -> block.block().getBlockId()).toList();
      }
      found.put(path, text);
    }
  }

  private NamespaceFixture any(Random random) {
    return random.nextBoolean() ? one : other;
  }

  private static String path(Random random) {
    StringBuilder path = new StringBuilder(random.nextInt(3) == 0 ? "/out" : TOP);
    int depth = 1 + random.nextInt(3);
    for (int i = 0; i < depth; i++) {
      path.append('/').append(NAMES.get(random.nextInt(NAMES.size())));
    }
    return path.toString();
  }

  private void step(Random random, int number) throws IOException {
    NamespaceFixture real = any(random);
    String path = path(random);
    try {
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> {
          real.touch(real.root(), path, true);
          append(real, path);
        }
        case 3 -> real.mkdirs(path);
        case 4 -> append(real, path);
        case 5 ->
            real.attributes.setPermission(
                real.root(), path, new FsPermission((short) (0700 + random.nextInt(64))));
        case 6 -> real.deletions.delete(real.root(), path, true);
        case 7, 8 -> real.renames.rename2(real.root(), path, path(random), true);
        case 9 -> create(real, "s" + number);
        case 10 -> delete(real, random);
        default -> reap(random);
      }
    } catch (FileAlreadyExistsException | ParentNotDirectoryException e) {
      assertThat(e).isNotNull();
    } catch (IOException e) {
      assertThat(e.getMessage()).doesNotContain("damaged");
    }
  }

  private void create(NamespaceFixture real, String name) throws IOException {
    snapshots.get(real).create(real.root(), TOP, name);
    shown.put(name, tree(real, TOP));
  }

  private void delete(NamespaceFixture real, Random random) throws IOException {
    if (!shown.isEmpty()) {
      String name = List.copyOf(shown.keySet()).get(random.nextInt(shown.size()));
      snapshots.get(real).delete(real.root(), TOP, name);
      shown.remove(name);
    }
  }

  /** Runs the reaper, which may die at some transaction. */
  private void reap(Random random) throws IOException {
    int dies = random.nextInt(30);
    int[] calls = {0};
    MetadataStore dying =
        (MetadataStore)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {MetadataStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().startsWith("transact") && calls[0]++ == dies) {
                    throw new IOException("the reaper dies");
                  }
                  try {
                    return method.invoke(one.store, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    try {
      new PendingDeletionReaper(dying, one.blocks, one.stripes).reapAll();
      assertSound();
    } catch (IOException e) {
      assertThat(e).hasMessage("the reaper dies");
    }
  }

  private void assertSound() throws IOException {
    assertThat(MetadataChecker.run(CodeRegistry.builtIn(), one.store, one.cluster, 10)).isEmpty();
  }

  private void assertShown(Random random) throws IOException {
    for (Map.Entry<String, Map<String, String>> snapshot : shown.entrySet()) {
      assertThat(tree(any(random), TOP + "/.snapshot/" + snapshot.getKey()))
          .as("snapshot %s", snapshot.getKey())
          .isEqualTo(snapshot.getValue());
    }
  }

  @Test
  void eachSnapshotShowsItsTreeUntilItIsDeletedAndThenNothingIsLeft() throws IOException {
    long seed = Long.getLong("seed", new Random().nextLong());
    try {
      run(new Random(seed));
    } catch (AssertionError | IOException e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private void run(Random random) throws IOException {
    for (int i = 0; i < 1_500; i++) {
      step(random, i);
      if (i % 10 == 0) {
        assertShown(random);
      }
    }
    one.reaper.reapAll();
    assertSound();
    assertShown(random);
    one.deletions.delete(one.root(), "/out", true);
    for (Inode entry : one.reads.list(one.root(), TOP, new byte[0]).inodes()) {
      one.deletions.delete(one.root(), TOP + "/" + entry.nameText(), true);
    }
    one.reaper.reapAll();
    assertShown(random);
    while (!shown.isEmpty()) {
      delete(any(random), random);
      one.reaper.reapAll();
      assertSound();
      assertShown(random);
    }
    assertThat(one.rows(Tables.INODE)).as("the root and the directory").isEqualTo(2);
    assertThat(one.rows(Tables.INODE_NAME)).isEqualTo(2);
    assertThat(one.rows(Tables.BLOCK)).isZero();
    assertThat(one.rows(Tables.BLOCK_OWNER)).isZero();
    assertThat(one.rows(Tables.VERSION)).isZero();
    assertThat(one.rows(Tables.SNAPSHOT)).as("the directory").isEqualTo(1);
  }

  @Test
  void aRepeatedCallHasNoSecondEffect() throws IOException {
    SnapshotService service = snapshots.get(one);
    String created = call(1, false, () -> service.create(one.root(), TOP, null));
    one.clock.advance(5_000);
    assertThat(call(1, true, () -> service.create(one.root(), TOP, null))).isEqualTo(created);
    assertThat(service.list(one.root(), TOP).rows()).hasSize(1);
    String name = FsPath.parse(created).lastName();
    call(2, false, () -> renamed(service, name, "new"));
    assertThat(call(2, true, () -> renamed(service, name, "new"))).isTrue();
    call(3, false, () -> deleted(service, "new"));
    service.create(one.root(), TOP, "new");
    assertThat(call(3, true, () -> deleted(service, "new"))).isTrue();
    assertThat(service.list(one.root(), TOP).rows()).hasSize(1);
    assertThatThrownBy(() -> call(4, false, () -> deleted(service, "none")))
        .isInstanceOf(SnapshotException.class);
  }

  private static <R> R call(int id, boolean repeated, ClientCall.Work<R> work) throws IOException {
    return RepeatedCallTest.call(id, "root", repeated, work);
  }

  private boolean renamed(SnapshotService service, String from, String to) throws IOException {
    service.rename(one.root(), TOP, from, to);
    return true;
  }

  private boolean deleted(SnapshotService service, String name) throws IOException {
    service.delete(one.root(), TOP, name);
    return true;
  }

  @Test
  void aFileThatASnapshotShowsIsNotShortenedAndGivesNoBlocksAway() throws IOException {
    for (String file : List.of("/in/f", "/in/g")) {
      one.touch(file);
      append(one, file);
    }
    snapshots.get(one).create(one.root(), TOP, "s");
    TruncateService.Request request = new TruncateService.Request("/in/f", 5, "client", "");
    assertThatThrownBy(() -> one.truncation.truncate(one.root(), request))
        .isInstanceOf(SnapshotException.class)
        .hasMessageContaining("/in/f");
    assertThatThrownBy(() -> one.concat.concat(one.root(), "/in/f", List.of("/in/g")))
        .isInstanceOf(SnapshotException.class);
    one.attributes.setPermission(one.root(), "/in/f", new FsPermission((short) 0600));
    one.renames.rename2(one.root(), "/in/f", "/out/f", false);
    TruncateService.Request moved = new TruncateService.Request("/out/f", 5, "client", "");
    assertThatThrownBy(() -> one.truncation.truncate(one.root(), moved))
        .isInstanceOf(SnapshotException.class);
  }

  @Test
  void aDeletedDirectoryThatASnapshotShowsCountsUntilTheSnapshotIsDeleted() throws IOException {
    one.quotas.set(one.root(), TOP, 100, HdfsConstants.QUOTA_DONT_SET, null);
    one.mkdirs(TOP + "/d/e");
    one.touch(TOP + "/d/f");
    snapshots.get(one).create(one.root(), TOP, "s");
    one.deletions.delete(one.root(), TOP + "/d", true);
    one.reaper.reapAll();
    assertSound();
    assertThat(names()).isEqualTo(4);
    snapshots.get(one).delete(one.root(), TOP, "s");
    one.reaper.reapAll();
    assertSound();
    assertThat(names()).isEqualTo(1);
  }

  private long names() throws IOException {
    return one.summaries.consumption(one.root(), TOP).names();
  }

  @Test
  void aStoreWithoutSnapshotsKeepsNothing() throws IOException {
    one.touch("/out/f");
    one.renames.rename2(one.root(), "/out/f", "/out/g", false);
    one.touch("/in/f");
    one.deletions.delete(one.root(), "/in/f", false);
    assertThat(one.rows(Tables.VERSION)).isZero();
    assertThat(one.store.scanAll(Tables.SNAPSHOT, null, 10))
        .extracting(row -> row.key())
        .containsExactly(SnapshotTables.snapshottable(one.inodes.get(one.root(), TOP).id()));
  }
}
