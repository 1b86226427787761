package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PendingDeletions;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files and directories, by page and by id. */
class FileListingTest {
  private static final long A = 20_001;
  private static final long B = 20_002;
  private static final long FILE = 20_003;
  private static final long TOP_FILE = 20_004;

  private final InMemoryStore store = new InMemoryStore();
  private final FileListing listing = new FileListing(store, 3);

  @BeforeEach
  void makeTree() throws IOException {
    put(Inode.ROOT_KEY, Inode.ROOT_ID, InodeKindProto.DIRECTORY);
    put(place(Inode.ROOT_ID, "a"), A, InodeKindProto.DIRECTORY);
    put(place(A, "b"), B, InodeKindProto.DIRECTORY);
    put(place(B, "file"), FILE, InodeKindProto.FILE);
    put(place(Inode.ROOT_ID, "top"), TOP_FILE, InodeKindProto.FILE);
  }

  private static Key place(long parentId, String name) {
    return Tables.inode(parentId, name.getBytes(StandardCharsets.UTF_8));
  }

  private static InodeRow row(long id, InodeKindProto kind) {
    return InodeRow.newBuilder()
        .setId(id)
        .setKind(kind)
        .setOwner("o")
        .setGroup("g")
        .setPermission(0)
        .setModifiedMillis(1)
        .build();
  }

  private void put(Key key, long id, InodeKindProto kind) throws IOException {
    store.transact(id, transaction -> DirectoryRows.put(transaction, key, row(id, kind)));
  }

  private void deletePending(Key key, long id) throws IOException {
    store.transact(
        id,
        transaction -> {
          Inode inode = new Inode(key, transaction.get(Tables.INODE, key).orElseThrow());
          return PendingDeletions.put(transaction, inode);
        });
  }

  private ListFilesResponseProto byId(long... ids) throws IOException {
    ListFilesRequestProto.Builder request = ListFilesRequestProto.newBuilder();
    LongStream.of(ids).forEach(request::addInodeIds);
    return listing.list(request.build());
  }

  @Test
  void aPageIsInTheOrderOfNamesWhateverTheIds() throws IOException {
    put(place(A, "x"), 20_007, InodeKindProto.FILE);
    put(place(A, "y"), 20_005, InodeKindProto.FILE);
    put(place(A, "z"), 20_006, InodeKindProto.FILE);
    assertThat(
            listing.list(ListFilesRequestProto.newBuilder().setPath("/a").build()).getFilesList())
        .extracting(FileStatusProto::getPath, FileStatusProto::getFileId)
        .containsExactly(
            tuple("/a/x", 20_007L),
            tuple("/a/y", 20_005L),
            tuple("/a/z", 20_006L),
            tuple("/a/b/file", FILE));
  }

  @Test
  void aFileOrDirectoryHasItsOwnPinOnly() throws IOException {
    assertThat(byId(A, FILE).getDirectories(0).hasPin()).isFalse();
    pin(place(Inode.ROOT_ID, "a"), PinProto.FAST);
    assertThat(byId(A, B, FILE).getDirectoriesList())
        .extracting(d -> d.getDirectoryId() + " " + (d.hasPin() ? d.getPin() : "none"))
        .containsExactlyInAnyOrder(A + " FAST", B + " none");
    assertThat(byId(FILE).getFiles(0).hasPin()).isFalse();
    pin(place(B, "file"), PinProto.REPLICAS);
    assertThat(byId(FILE).getFiles(0).getPin()).isEqualTo(PinProto.REPLICAS);
  }

  private void pin(Key key, PinProto pin) throws IOException {
    store.transact(
        key.partition(),
        transaction -> {
          InodeRow row = transaction.get(Tables.INODE, key).orElseThrow();
          transaction.put(Tables.INODE, key, row.toBuilder().setPin(pin).build());
          return null;
        });
  }

  private static List<String> files(List<FileStatusProto> files) {
    return files.stream()
        .map(f -> f.getFileId() + " " + f.getParentId() + " " + f.getPath())
        .toList();
  }

  @Test
  void aFileHasItsOwnerAndGroup() throws Exception {
    FileStatusProto file = byId(FILE).getFiles(0);
    assertThat(List.of(file.getOwner(), file.getGroup())).containsExactly("o", "g");
  }

  private static List<String> directories(List<DirectoryStatusProto> directories) {
    return directories.stream()
        .map(d -> d.getDirectoryId() + " " + d.getParentId() + " " + d.getPath())
        .toList();
  }

  @Test
  void filesAndDirectoriesAreFoundById() throws IOException {
    ListFilesResponseProto answer = byId(FILE, B, TOP_FILE, FILE, Inode.ROOT_ID, 99);
    assertThat(files(answer.getFilesList()))
        .containsExactlyInAnyOrder(
            FILE + " " + B + " /a/b/file", TOP_FILE + " " + Inode.ROOT_ID + " /top");
    assertThat(directories(answer.getDirectoriesList())).containsExactly(B + " " + A + " /a/b");
    assertThat(answer.hasCursor()).isFalse();
  }

  @Test
  void whatLiesBelowADeletedDirectoryIsLeftOut() throws IOException {
    deletePending(place(Inode.ROOT_ID, "a"), A);
    ListFilesResponseProto answer = byId(A, B, FILE, TOP_FILE);
    assertThat(files(answer.getFilesList()))
        .containsExactly(TOP_FILE + " " + Inode.ROOT_ID + " /top");
    assertThat(answer.getDirectoriesList()).isEmpty();
  }

  @Test
  void aNameWithoutItsInodeIsLeftOut() throws IOException {
    store.transact(
        B,
        transaction -> {
          transaction.delete(Tables.INODE, place(B, "file"));
          return null;
        });
    assertThat(byId(FILE).getFilesList()).isEmpty();
  }

  /** A change that is being written, and of which somebody has heard, is waited for. */
  @Test
  @Timeout(60)
  void anInodeIsNotReadWhileItIsBeingChanged() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      AtomicReference<Thread> asker = new AtomicReference<>();
      Future<ListFilesResponseProto> answer =
          store.transact(
              A,
              transaction -> {
                Key old = place(B, "file");
                transaction.lock(List.of(RowLock.exclusive(Tables.INODE, old)));
                Future<ListFilesResponseProto> asked =
                    other.submit(
                        () -> {
                          asker.set(Thread.currentThread());
                          return byId(TOP_FILE, FILE);
                        });
                awaitEndOrLock(asked, asker);
                InodeRow row = transaction.get(Tables.INODE, old).orElseThrow();
                transaction.delete(Tables.INODE, old);
                DirectoryRows.put(transaction, place(Inode.ROOT_ID, "renamed"), row);
                return asked;
              });
      assertThat(files(answer.get().getFilesList()))
          .containsExactlyInAnyOrder(
              FILE + " " + Inode.ROOT_ID + " /renamed", TOP_FILE + " " + Inode.ROOT_ID + " /top");
    } finally {
      other.shutdownNow();
    }
  }

  private static void awaitEndOrLock(Future<?> work, AtomicReference<Thread> worker) {
    Set<Thread.State> waiting = Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);
    while (!work.isDone() && (worker.get() == null || !waiting.contains(worker.get().getState()))) {
      Thread.onSpinWait();
    }
  }

  @Test
  void theBytesOfAGroupCountInItsStripe() throws IOException {
    store.transact(
        FILE,
        transaction -> {
          transaction.put(
              Tables.BLOCK,
              Tables.block(FILE, 0),
              BlockRow.newBuilder()
                  .setBlockId(16)
                  .setGenerationStamp(1)
                  .setLengthBytes(100)
                  .setState(BlockStateProto.COMPLETE)
                  .setReplication(1)
                  .setEcPolicyId(SystemErasureCodingPolicies.RS_3_2_POLICY_ID)
                  .setInternalOwnerId(30_000)
                  .build());
          return null;
        });
    FileStatusProto file = byId(FILE).getFiles(0);
    assertThat(file.getLengthBytes()).isEqualTo(100);
    assertThat(file.getReplicatedBytes()).isZero();
  }

  @Test
  void moreIdsThanAPageAreRefused() {
    assertThatThrownBy(() -> byId(LongStream.range(0, 2_001).toArray()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("2001")
        .hasMessageContaining("2000 at most: ask for them in several calls");
  }

  @Test
  void aPageHasDirectoriesOnlyIfAskedFor() throws IOException {
    ListFilesResponseProto filesOnly = listing.list(ListFilesRequestProto.getDefaultInstance());
    assertThat(files(filesOnly.getFilesList()))
        .containsExactlyInAnyOrder(
            FILE + " " + B + " /a/b/file", TOP_FILE + " " + Inode.ROOT_ID + " /top");
    assertThat(filesOnly.getDirectoriesList()).isEmpty();

    ListFilesRequestProto below =
        ListFilesRequestProto.newBuilder().setWithDirectories(true).setPath("/a/b").build();
    assertThat(files(listing.list(below).getFilesList()))
        .containsExactly(FILE + " " + B + " /a/b/file");
    assertThat(directories(listing.list(below).getDirectoriesList()))
        .containsExactly(B + " " + A + " /a/b");
  }

  @Test
  void directoriesCountTowardsTheLimitOfAPage() throws IOException {
    ListFilesRequestProto.Builder request =
        ListFilesRequestProto.newBuilder().setWithDirectories(true).setLimit(1);
    List<String> seen = new ArrayList<>();
    ListFilesResponseProto page;
    do {
      page = listing.list(request.build());
      assertThat(page.getFilesCount() + page.getDirectoriesCount()).isLessThanOrEqualTo(1);
      page.getFilesList().forEach(file -> seen.add(file.getPath()));
      page.getDirectoriesList().forEach(directory -> seen.add(directory.getPath()));
      request.setCursor(page.getCursor());
    } while (page.hasCursor());
    assertThat(seen).containsExactlyInAnyOrder("/a", "/a/b", "/a/b/file", "/top");
  }
}
