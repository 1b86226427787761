package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PendingDeletions;
import io.ebbfs.namenode.replicas.ReplicaRows;
import io.ebbfs.namenode.store.MetadataStore.TransactionBody;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ChangeRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The part of {@link MetadataStoreContract} that is about the change stream. */
public abstract class ChangeStreamContract {
  private static final long TOP = Inode.ROOT_ID;
  private static final long DIRECTORY = 20_001;
  private static final long FILE = 20_002;
  private static final long STRIPE = 20_003;
  private static final Key DIRECTORY_KEY = place(TOP, "directory");
  private static final Key FILE_KEY = place(DIRECTORY, "file");

  protected MetadataStore store;
  private Recorder published;

  /** A publisher that keeps the published ids, and that a test may have fail. */
  private final class Recorder implements ChangePublisher {
    final List<String> records = new ArrayList<>();
    final List<Integer> rowsThen = new ArrayList<>();
    boolean fails;
    boolean dies;

    @Override
    public boolean publish(ChangedIds ids) throws InterruptedIOException {
      if (fails) {
        return false;
      }
      records.add(text(ids.files(), ids.directories(), ids.stripes()));
      rowsThen.add(changeRows().size());
      if (dies) {
        throw new InterruptedIOException("on purpose");
      }
      return true;
    }

    @Override
    public void publishMark(String mark) {
      records.add(mark);
    }
  }

  private static String text(long[] files, long[] directories, long[] stripes) {
    return "files %s directories %s stripes %s"
        .formatted(Arrays.toString(files), Arrays.toString(directories), Arrays.toString(stripes));
  }

  private static String file(long... ids) {
    return text(ids, new long[0], new long[0]);
  }

  private static String directory(long... ids) {
    return text(new long[0], ids, new long[0]);
  }

  private static String stripe(long... ids) {
    return text(new long[0], new long[0], ids);
  }

  @AfterEach
  void publishNoMore() {
    store.changes().publishTo(ChangePublisher.NONE); // some stores outlive a test
  }

  /** A directory with a file, whose changes are folded already. */
  private void begin() throws IOException {
    published = new Recorder(); // some stores use one instance of the class for all tests
    store.changes().open();
    commit(
        transaction -> {
          DirectoryRows.put(
              transaction, DIRECTORY_KEY, row(DIRECTORY, InodeKindProto.DIRECTORY, 1));
          return DirectoryRows.put(transaction, FILE_KEY, row(FILE, InodeKindProto.FILE, 1));
        });
    store.changes().fold();
    store.changes().publishTo(published);
  }

  private static Key place(long parentId, String name) {
    return Tables.inode(parentId, name.getBytes(StandardCharsets.UTF_8));
  }

  private static InodeRow row(long id, InodeKindProto kind, long modifiedMillis) {
    return InodeRow.newBuilder()
        .setId(id)
        .setKind(kind)
        .setOwner("o")
        .setGroup("g")
        .setPermission(0)
        .setModifiedMillis(modifiedMillis)
        .build();
  }

  private static BlockRow.Builder block(long lengthBytes) {
    return BlockRow.newBuilder()
        .setBlockId(1)
        .setGenerationStamp(1)
        .setLengthBytes(lengthBytes)
        .setState(BlockStateProto.COMPLETE)
        .setReplication(3);
  }

  private static ReplicaRow replica() {
    return ReplicaRow.newBuilder()
        .setState(ReplicaStateProto.CORRUPT)
        .setGenerationStamp(1)
        .setLengthBytes(ReplicaRows.NOT_REPORTED)
        .build();
  }

  private static StripeRow stripeRow() {
    return StripeRow.newBuilder()
        .setId(STRIPE)
        .setCode("RS(6,3)")
        .setUnitLengthBytes(1)
        .setGeneration(1)
        .setPolicy("p")
        .setCreatedMillis(1)
        .build();
  }

  private <R> void commit(TransactionBody<R> body) throws IOException {
    store.transact(DIRECTORY, body);
  }

  private List<ChangeRow> changeRows() {
    try {
      return store.scanAll(Tables.CHANGE, null, 1_000).stream().map(Row::value).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the rows of changes say now, one line a row. */
  private List<String> changes() {
    return changeRows().stream()
        .map(
            row ->
                text(
                    numbers(row.getFileIdsList()),
                    numbers(row.getDirectoryIdsList()),
                    numbers(row.getStripeIdsList())))
        .toList();
  }

  private static long[] numbers(List<Long> ids) {
    return ids.stream().mapToLong(Long::longValue).toArray();
  }

  // ---- which ids a transaction changes ----------------------------------------------------------

  @Test
  void aCreateNamesTheFileButNotItsDirectory() throws IOException {
    begin();
    commit(
        transaction -> {
          transaction.put(Tables.INODE, DIRECTORY_KEY, row(DIRECTORY, InodeKindProto.DIRECTORY, 2));
          return DirectoryRows.put(
              transaction, place(DIRECTORY, "new"), row(30_000, InodeKindProto.FILE, 2));
        });
    assertThat(changes()).containsExactly(file(30_000));
  }

  @Test
  void theTimesOfADirectoryAreNoChange() throws IOException {
    begin();
    commit(
        transaction -> {
          transaction.put(Tables.INODE, DIRECTORY_KEY, row(DIRECTORY, InodeKindProto.DIRECTORY, 2));
          return null;
        });
    assertThat(changes()).isEmpty();
  }

  @Test
  void aMovedDirectoryIsNamedAndNothingBelowIt() throws IOException {
    begin();
    commit(
        transaction -> {
          transaction.delete(Tables.INODE, DIRECTORY_KEY);
          return DirectoryRows.put(
              transaction, place(TOP, "elsewhere"), row(DIRECTORY, InodeKindProto.DIRECTORY, 1));
        });
    assertThat(changes()).containsExactly(directory(DIRECTORY));
  }

  @Test
  void aFileThatReplacesAnotherOneIsNamedWithIt() throws IOException {
    begin();
    commit(
        transaction ->
            DirectoryRows.put(transaction, FILE_KEY, row(30_000, InodeKindProto.FILE, 1)));
    assertThat(changes()).containsExactly(file(FILE, 30_000));
  }

  @Test
  void whatIsDeletedIsNamed() throws IOException {
    begin();
    InodeRow directory = row(DIRECTORY, InodeKindProto.DIRECTORY, 1);
    commit(transaction -> PendingDeletions.put(transaction, new Inode(DIRECTORY_KEY, directory)));
    assertThat(changes()).containsExactly(directory(DIRECTORY));
    store.changes().fold();
    InodeRow file = row(FILE, InodeKindProto.FILE, 1);
    commit(transaction -> PendingDeletions.put(transaction, new Inode(FILE_KEY, file)));
    assertThat(changes()).containsExactly(file(FILE));
  }

  @Test
  void aBlockNamesItsOwner() throws IOException {
    begin();
    commit(
        transaction -> {
          transaction.put(Tables.BLOCK, Tables.block(FILE, 0), block(7).build());
          transaction.put(
              Tables.BLOCK, Tables.block(STRIPE, 4), block(7).setStripeId(STRIPE).build());
          return null;
        });
    assertThat(changes())
        .containsExactly(text(new long[] {FILE}, new long[0], new long[] {STRIPE}));
  }

  @Test
  void aStripeIsNamed() throws IOException {
    begin();
    commit(
        transaction -> {
          transaction.put(Tables.STRIPE, Tables.stripe(STRIPE), stripeRow());
          transaction.put(Tables.REPLICA, Tables.replica(STRIPE, 1, "disk"), replica());
          return null;
        });
    assertThat(changes()).containsExactly(stripe(STRIPE));
    store.changes().fold();
    commit(
        transaction -> {
          transaction.delete(Tables.STRIPE, Tables.stripe(STRIPE));
          transaction.delete(Tables.BLOCK, Tables.block(STRIPE, 4));
          return null;
        });
    assertThat(changes()).containsExactly(stripe(STRIPE));
  }

  @Test
  void aReplicaNamesTheFileOrTheStripeThatItsTransactionHasLocked() throws IOException {
    begin();
    long otherFile = 30_000; // without a name: only the lock tells that it is a file
    commit(
        transaction -> {
          transaction.lock(
              List.of(
                  RowLock.exclusive(Tables.INODE, FILE_KEY),
                  RowLock.exclusive(Tables.STRIPE, Tables.stripe(STRIPE))));
          transaction.put(Tables.REPLICA, Tables.replica(otherFile, 1, "disk"), replica());
          transaction.put(Tables.REPLICA, Tables.replica(STRIPE, 2, "disk"), replica());
          return null;
        });
    assertThat(changes())
        .containsExactly(text(new long[] {otherFile}, new long[0], new long[] {STRIPE}));
  }

  @Test
  void withoutLocksTheOwnerOfAReplicaIsAFileIfItHasAName() throws IOException {
    begin();
    commit(
        transaction -> {
          transaction.put(Tables.REPLICA, Tables.replica(FILE, 1, "disk"), replica());
          transaction.put(Tables.REPLICA, Tables.replica(STRIPE, 2, "disk"), replica());
          return null;
        });
    assertThat(changes())
        .containsExactly(text(new long[] {FILE}, new long[0], new long[] {STRIPE}));
  }

  // ---- publication ------------------------------------------------------------------------------

  private void touchFile(long millis) throws IOException {
    commit(
        transaction -> {
          transaction.put(Tables.INODE, FILE_KEY, row(FILE, InodeKindProto.FILE, millis));
          return null;
        });
  }

  private void makeFile(long id) throws IOException {
    commit(
        transaction ->
            DirectoryRows.put(
                transaction, place(DIRECTORY, "file-" + id), row(id, InodeKindProto.FILE, 1)));
  }

  private void assertExact(ChangeLog log) throws IOException {
    assertThat(log.usage()).isEqualTo(ChangeLog.scan(store));
  }

  @Test
  void changesArePublishedOnceBeforeTheirRowsGo() throws IOException {
    begin();
    long lost = store.changes().changesLost();
    for (int i = 0; i < 10; i++) {
      touchFile(i);
    }
    makeFile(30_000);
    store.changes().fold();
    assertThat(published.records).containsExactly(file(FILE, 30_000));
    assertThat(published.rowsThen).containsExactly(11);
    assertThat(changes()).isEmpty();
    assertThat(store.changes().changesLost()).isEqualTo(lost);
    assertExact(store.changes());
    store.changes().fold();
    assertThat(published.records).as("a fold without changes").hasSize(1);
  }

  @Test
  void changesThatCannotBePublishedAreCountedAndFolded() throws IOException {
    begin();
    long lost = store.changes().changesLost();
    published.fails = true;
    touchFile(2);
    makeFile(30_000);
    store.changes().fold();
    assertThat(changes()).isEmpty();
    assertThat(store.changes().changesLost()).isEqualTo(lost + 1);
    assertExact(store.changes());

    store.changes().fold();
    assertThat(store.changes().changesLost()).as("nothing to publish").isEqualTo(lost + 1);
    makeFile(30_001);
    store.changes().foldEverything();
    assertThat(store.changes().changesLost()).isEqualTo(lost + 2);
    assertExact(store.changes());

    ChangeLog ofNext = new ChangeLog(store);
    ofNext.open();
    assertThat(ofNext.changesLost()).isEqualTo(lost + 2);
    published.fails = false;
    makeFile(30_002);
    store.changes().fold();
    assertThat(published.records).containsExactly(file(30_002));
    assertThat(store.changes().changesLost()).isEqualTo(lost + 2);
  }

  @Test
  void aProcessThatDiesBetweenPublicationAndFoldPublishesAgain() throws IOException {
    begin();
    makeFile(30_000);
    published.dies = true;
    assertThatThrownBy(() -> store.changes().fold()).hasMessage("on purpose");
    assertThat(changes()).hasSize(1);
    published.dies = false;
    long lost = store.changes().changesLost();
    ChangeLog ofNext = new ChangeLog(store);
    ofNext.publishTo(published);
    ofNext.open();
    assertThat(published.records).containsExactly(file(30_000), file(30_000));
    assertThat(changes()).isEmpty();
    assertThat(ofNext.changesLost()).isEqualTo(lost);
    assertExact(ofNext);
  }

  @Test
  void whoeverFoldsThePublicationOfAnotherProcessCountsItOnce() throws IOException {
    begin();
    ChangeLog ofOther = new ChangeLog(store);
    ofOther.open();
    ofOther.publishTo(published);
    makeFile(30_000);
    ofOther.foldEverything();
    assertThat(published.records).containsExactly(file(30_000));
    long lost = ofOther.changesLost();
    published.fails = true; // the rows are folded already, so that nothing is lost
    store.changes().fold();
    assertThat(store.changes().changesLost()).isEqualTo(lost);
    assertExact(store.changes());
    assertExact(ofOther);
  }

  @Test
  void aMarkComesAfterTheChangesOfAllProcesses() throws IOException {
    begin();
    ChangeLog ofLeader = new ChangeLog(store);
    ofLeader.open();
    ofLeader.publishTo(published);
    makeFile(30_000);
    touchFile(2);
    ofLeader.publishMark("mark");
    assertThat(published.records).containsExactly(file(FILE, 30_000), "mark");
    ofLeader.publishMark("next");
    assertThat(published.records).hasSize(3).endsWith("next");
  }
}
