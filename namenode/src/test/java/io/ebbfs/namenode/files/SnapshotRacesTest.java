package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.inodes.SnapshotEntries;
import io.ebbfs.namenode.files.io.FilePlaces;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.snapshots.SnapshotCleaner;
import io.ebbfs.namenode.files.snapshots.SnapshotService;
import io.ebbfs.namenode.files.tree.AttributeService;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.PendingDeletionReaper;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.TransactionBody;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.SnapshotException;
import org.junit.jupiter.api.Test;

/** What happens between the steps of calls and of the reaper, with snapshots. */
class SnapshotRacesTest {
  private static final String TOP = "/in";

  private final NamespaceFixture real = new NamespaceFixture(InMemoryStore.shared());
  private final SnapshotService snapshots = new SnapshotService(real.store, real.clock, () -> {});

  SnapshotRacesTest() throws IOException {
    real.mkdirs(TOP);
  }

  // ---- hooks ------------------------------------------------------------------------------------

  @FunctionalInterface
  private interface Event {
    void happen() throws IOException;
  }

  /** The store, in which an event happens once, before some call of a transaction. */
  private MetadataStore before(String call, int number, Event event) {
    int[] left = {number};
    return transactions(
        transaction ->
            (method, arguments) -> {
              if (method.getName().startsWith(call) && left[0]-- == 0) {
                event.happen();
              }
              return method.invoke(transaction, arguments);
            });
  }

  @FunctionalInterface
  private interface Hook {
    Hooked.Answer of(Transaction transaction);
  }

  private MetadataStore transactions(Hook hook) {
    return Hooked.of(
        MetadataStore.class,
        (method, arguments) -> {
          int last = arguments == null ? -1 : arguments.length - 1;
          if (last >= 0 && arguments[last] instanceof TransactionBody<?> body) {
            TransactionBody<?> hooked =
                transaction -> body.run(Hooked.of(Transaction.class, hook.of(transaction)));
            arguments[last] = hooked;
          }
          return method.invoke(real.store, arguments);
        });
  }

  // ---- files ------------------------------------------------------------------------------------

  /** A file of blocks of ten bytes. */
  private Inode file(String path, int blocks) throws IOException {
    Inode file = real.touch(path);
    return real.store.transact(
        0,
        transaction -> {
          for (int i = 0; i < blocks; i++) {
            long id = file.id() * 1_000 + i;
            transaction.put(
                Tables.BLOCK,
                Tables.block(file.id(), i),
                BlockRow.newBuilder()
                    .setBlockId(id)
                    .setGenerationStamp(1)
                    .setLengthBytes(10)
                    .setState(BlockStateProto.COMPLETE)
                    .setReplication(3)
                    .build());
            transaction.put(
                Tables.BLOCK_OWNER,
                Tables.blockOwner(id),
                BlockOwnerRow.newBuilder().setOwnerId(file.id()).setIndex(i).build());
          }
          InodeRow row = transaction.get(Tables.INODE, file.key()).orElseThrow();
          InodeRow longer = row.toBuilder().setBlocks(blocks).setLengthBytes(10L * blocks).build();
          transaction.put(Tables.INODE, file.key(), longer);
          return file.with(longer);
        });
  }

  private Event creates(String name) {
    return () -> snapshots.create(real.root(), TOP, name);
  }

  private void chmod(String path, int mode) throws IOException {
    real.attributes.setPermission(real.root(), path, new FsPermission((short) mode));
  }

  private FilePlaces places(String path) throws IOException {
    return real.reads.places(real.root(), path, 0, Long.MAX_VALUE, "");
  }

  private void assertSound() throws IOException {
    assertThat(MetadataChecker.run(CodeRegistry.builtIn(), real.store, real.cluster, 10)).isEmpty();
  }

  private void assertShows(String path) throws IOException {
    real.reaper.reapAll();
    assertSound();
    assertThat(places(path).blocks()).as(path).hasSize(1);
  }

  // ---- a snapshot is created meanwhile ----------------------------------------------------------

  @Test
  void aDeleteThatHasResolvedItsPathLeavesTheNewSnapshotWhatItShows() throws IOException {
    snapshots.allow(real.root(), TOP);
    real.mkdirs(TOP + "/d");
    file(TOP + "/d/f", 1);
    file(TOP + "/g", 1);
    for (String name : List.of("d", "g")) {
      MetadataStore hooked = before("lock", 0, creates("of" + name));
      new DeleteService(hooked, real.clock, () -> {}).delete(real.root(), TOP + "/" + name, true);
    }
    assertThat(real.status(TOP + "/d")).isNull();
    assertThat(real.status(TOP + "/g")).isNull();
    assertShows(TOP + "/.snapshot/ofd/d/f");
    assertShows(TOP + "/.snapshot/ofg/g");
  }

  @Test
  void aLongWalkOfADeleteIsNotDoneAgainForEachSnapshot() throws IOException {
    snapshots.allow(real.root(), TOP);
    Caller ann = real.user("ann", "users");
    chmod(TOP, 0777);
    real.mkdirs.mkdirs(ann, TOP + "/d", new FsPermission((short) 0755), true);
    real.touch(ann, TOP + "/d/f", false);
    int[] walks = {0};
    MetadataStore hooked =
        transactions(
            transaction ->
                (method, arguments) -> {
                  if (method.getName().equals("scan") && arguments.length == 4) {
                    snapshots.create(real.root(), TOP, "s" + walks[0]++);
                  }
                  return method.invoke(transaction, arguments);
                });
    new DeleteService(hooked, real.clock, () -> {}).delete(ann, TOP + "/d", true);
    assertThat(real.status(TOP + "/.snapshot/s0/d/f")).isNotNull();
    assertThat(real.status(TOP + "/d")).isNull();
    assertThat(walks[0]).isLessThan(5);
  }

  @Test
  void aRenameIntoADirectoryIsBeforeOrAfterASnapshot() throws IOException {
    snapshots.allow(real.root(), TOP);
    real.mkdirs(TOP + "/b");
    for (int i = 0; i < 12; i++) {
      String name = "f" + i;
      real.mkdirs(TOP + "/a" + i);
      file(TOP + "/a" + i + "/" + name, 1);
      RenameService renames =
          new RenameService(
              before("get", i, creates("s" + i)),
              real.clock,
              NamespaceLimits.DEFAULT,
              new TreeCounter(real.store),
              () -> {});
      renames.rename(real.root(), TOP + "/a" + i + "/" + name, TOP + "/b");
      if (snapshots.list(real.root(), TOP).rows().size() == i) {
        return; // the rename has read less often
      }
      chmod(TOP + "/b/" + name, 0600);
      String snapshot = TOP + "/.snapshot/s" + i;
      boolean atOldPlace = real.status(snapshot + "/a" + i + "/" + name) != null;
      boolean atNewPlace = real.status(snapshot + "/b/" + name) != null;
      assertThat(atOldPlace).as("call %d", i).isNotEqualTo(atNewPlace);
      real.deletions.delete(real.root(), TOP + "/b/" + name, true);
      assertShows(snapshot + (atOldPlace ? "/a" + i : "/b") + "/" + name);
    }
  }

  @Test
  void aChangeIsNotSeenInASnapshotThatWasReadBefore() throws IOException {
    snapshots.allow(real.root(), TOP);
    file(TOP + "/f", 1);
    AttributeService late = new AttributeService(before("lock", 0, creates("s")));
    late.setPermission(real.root(), TOP + "/f", new FsPermission((short) 0600));
    assertThat(real.status(TOP + "/f").getPermission().toShort()).isEqualTo((short) 0600);
    assertThat(real.status(TOP + "/.snapshot/s/f").getPermission().toShort())
        .isEqualTo((short) 0644);
  }

  @Test
  void theVeryFirstSnapshotOfAStoreRefusesADeleteThatIsLate() throws IOException {
    file(TOP + "/f", 1);
    Event first =
        () -> {
          snapshots.allow(real.root(), TOP);
          snapshots.create(real.root(), TOP, "s");
        };
    DeleteService late = new DeleteService(before("lock", 0, first), real.clock, () -> {});
    assertThatThrownBy(() -> late.delete(real.root(), TOP, true))
        .isInstanceOf(SnapshotException.class);
    assertShows(TOP + "/.snapshot/s/f");
  }

  // ---- a part of a commit is seen ---------------------------------------------------------------

  @Test
  void anEntryWhoseOldRowIsSeenLateIsReadAgain() throws IOException {
    snapshots.allow(real.root(), TOP);
    Inode file = file(TOP + "/f", 1);
    snapshots.create(real.root(), TOP, "s");
    long snapshotId = snapshots.list(real.root(), TOP).rows().get(0).key().firstLong();
    chmod(TOP + "/f", 0600);
    real.store.transact(
        0,
        transaction -> {
          assertThat(SnapshotEntries.entry(late(transaction), snapshotId, file.key())).isPresent();
          assertThat(
                  SnapshotEntries.page(
                      late(transaction), snapshotId, file.parentId(), new byte[0], 10))
              .hasSize(1);
          return null;
        });
  }

  /** A transaction whose first scan does not see old rows. */
  private static Transaction late(Transaction transaction) {
    boolean[] seen = {false};
    return Hooked.of(
        Transaction.class,
        (method, arguments) -> {
          boolean isLate =
              method.getName().equals("scan") && arguments[0] == Tables.VERSION && !seen[0];
          seen[0] |= isLate;
          return isLate ? List.of() : method.invoke(transaction, arguments);
        });
  }

  // ---- the reaper -------------------------------------------------------------------------------

  @Test
  void twoCleanersCountAnOldRowDownOnce() throws IOException {
    snapshots.allow(real.root(), TOP);
    file(TOP + "/f", 1);
    snapshots.create(real.root(), TOP, "s1");
    chmod(TOP + "/f", 0600);
    snapshots.create(real.root(), TOP, "s2");
    chmod(TOP + "/f", 0640);
    real.deletions.delete(real.root(), TOP + "/f", false);
    real.reaper.reapAll();
    snapshots.delete(real.root(), TOP, "s2");
    SnapshotCleaner other = new SnapshotCleaner(real.store, () -> true);
    MetadataStore hooked = before("lock", 1, () -> other.cleanAll(() -> {}));
    new SnapshotCleaner(hooked, () -> true).cleanAll(() -> {});
    assertShows(TOP + "/.snapshot/s1/f");
    snapshots.delete(real.root(), TOP, "s1");
    real.reaper.reapAll();
    assertSound();
    assertThat(real.rows(Tables.BLOCK)).isZero();
  }

  @Test
  void aLargeSnapshotThatIsRemovedLetsOtherWorkHaveItsTurn() throws IOException {
    snapshots.allow(real.root(), TOP);
    for (int i = 0; i < 200; i++) {
      real.touch(TOP + "/f" + i);
    }
    snapshots.create(real.root(), TOP, "s");
    for (int i = 0; i < 200; i++) {
      chmod(TOP + "/f" + i, 0600);
    }
    snapshots.delete(real.root(), TOP, "s");
    List<Integer> left = new ArrayList<>();
    new SnapshotCleaner(real.store, () -> true).cleanAll(() -> left.add(real.rows(Tables.VERSION)));
    assertThat(left.get(0)).isBetween(1, 399);
    assertThat(left.get(left.size() - 1)).isZero();
    assertThat(real.rows(Tables.SNAPSHOT)).isEqualTo(1);
  }

  @Test
  void aSnapshotThatCannotBeRemovedDoesNotHoldUpDeletedFiles() throws IOException {
    snapshots.allow(real.root(), TOP);
    file("/f", 1);
    snapshots.create(real.root(), TOP, "s");
    snapshots.delete(real.root(), TOP, "s");
    real.deletions.delete(real.root(), "/f", false);
    MetadataStore damaged =
        transactions(
            transaction ->
                (method, arguments) -> {
                  if (method.getName().equals("scan") && arguments[0] == Tables.VERSION) {
                    throw new IOException("damaged");
                  }
                  return method.invoke(transaction, arguments);
                });
    PendingDeletionReaper reaper = new PendingDeletionReaper(damaged, real.blocks, real.stripes);
    assertThatThrownBy(reaper::reapAll).hasMessage("damaged");
    assertThat(real.rows(Tables.BLOCK)).isZero();
  }

  /** Else nobody looks at the rest of the tree before another snapshot is deleted. */
  @Test
  void aDirectoryIsKeptOnlyAfterAllEntriesWereLookedAt() throws IOException {
    snapshots.allow(real.root(), TOP);
    for (int i = 0; i < 3; i++) {
      real.mkdirs(TOP + "/d/e" + i);
    }
    snapshots.create(real.root(), TOP, "s");
    for (int i = 0; i < 3; i++) {
      file(TOP + "/d/e" + i + "/new", 1);
    }
    real.deletions.delete(real.root(), TOP + "/d", true);
    for (int steps = 0; steps < 4; steps++) {
      int[] left = {steps};
      SnapshotCleaner broken = new SnapshotCleaner(real.store, () -> left[0]-- > 0);
      for (Inode deleted : pending()) {
        if (deleted.isDirectory()) {
          broken.keep(deleted);
        }
      }
    }
    real.reaper.reapAll();
    assertSound();
    assertThat(real.rows(Tables.BLOCK)).isZero();
  }

  private List<Inode> pending() throws IOException {
    long id = Inode.PENDING_DELETION_ID;
    return real.store.transact(id, transaction -> transaction.scan(Tables.INODE, id)).stream()
        .map(row -> new Inode(row.key(), row.value()))
        .toList();
  }

  // ---- what a snapshot shows --------------------------------------------------------------------

  @Test
  void aFileThatIsBeingTruncatedHasItsNewLengthInASnapshot() throws IOException {
    snapshots.allow(real.root(), TOP);
    Inode file = file(TOP + "/f", 3);
    real.store.transact(
        0,
        transaction -> {
          InodeRow open =
              file.row().toBuilder()
                  .setUnderConstruction(
                      UnderConstructionProto.newBuilder()
                          .setClientName("recovery")
                          .setClientMachine("")
                          .setTruncatedLengthBytes(15))
                  .build();
          transaction.put(Tables.INODE, file.key(), open);
          return null;
        });
    snapshots.create(real.root(), TOP, "s");
    String path = TOP + "/.snapshot/s/f";
    assertThat(real.status(path).getLen()).isEqualTo(15);
    assertThat(places(path).lengthBytes()).isEqualTo(15);
    chmod(TOP + "/f", 0600);
    assertThat(real.status(path).getLen()).isEqualTo(15);
    assertThat(places(path).blocks()).hasSize(2);
  }

  @Test
  void aMissingBlockIsNotPassedOver() throws IOException {
    snapshots.allow(real.root(), TOP);
    for (int missing = 0; missing < 3; missing++) {
      Inode file = file(TOP + "/f" + missing, 3);
      int index = missing;
      real.store.transact(
          0,
          transaction -> {
            transaction.delete(Tables.BLOCK, Tables.block(file.id(), index));
            return null;
          });
      snapshots.create(real.root(), TOP, "s" + missing);
      String path = TOP + "/.snapshot/s" + missing + "/f" + missing;
      assertThatThrownBy(() -> places(path)).hasMessageContaining("block " + missing + " of file");
    }
  }

  @Test
  void manySnapshotsAreFoundByNameAndCounted() throws IOException {
    snapshots.allow(real.root(), TOP);
    real.touch(TOP + "/f");
    for (int i = 0; i < 230; i++) {
      snapshots.create(real.root(), TOP, "s" + i);
    }
    assertThat(real.status(TOP + "/.snapshot/s229/f")).isNotNull();
    assertThat(real.status(TOP + "/.snapshot/none")).isNull();
    assertThat(snapshots.listDirectories(real.root()).orElseThrow().get(0).snapshots())
        .isEqualTo(230);
    snapshots.delete(real.root(), TOP, "s229");
    chmod(TOP + "/f", 0600);
    assertThat(real.status(TOP + "/.snapshot/s228/f").getPermission().toShort())
        .isEqualTo((short) 0644);
    long directoryId = real.inodes.get(real.root(), TOP).id();
    byte[] name = "f".getBytes(StandardCharsets.UTF_8);
    boolean isKept =
        real.store.transact(
            0,
            transaction ->
                transaction
                    .get(Tables.VERSION, SnapshotTables.version(directoryId, name, 229))
                    .isPresent());
    assertThat(isKept).isTrue();
  }
}
