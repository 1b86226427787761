package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.audit.QuotaCheck;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.files.tree.ContentSummaryService.Consumption;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.PathIsNotDirectoryException;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.DSQuotaExceededException;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.NSQuotaExceededException;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Quotas: what counts, when, and what is refused. */
class QuotaServiceTest {
  static final long KEEP = HdfsConstants.QUOTA_DONT_SET;
  static final long NONE = HdfsConstants.QUOTA_RESET;
  private static final String CLIENT = "client";
  private static final long BLOCK = NamespaceFixture.BLOCK_BYTES;

  private NamespaceFixture real;
  private SimulatedDatanodes datanodes;

  MetadataStore store() {
    return new InMemoryStore();
  }

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(store());
    datanodes = new SimulatedDatanodes(real, 4);
    real.mkdirs("/q");
  }

  @AfterEach
  void theSumsAreThoseOfTheRows() throws IOException {
    assertThat(QuotaCheck.run(real.store)).isEmpty();
    real.reaper.reapAll();
    assertThat(QuotaCheck.run(real.store)).isEmpty();
  }

  private void limit(String path, long names, long bytes) throws IOException {
    real.quotas.set(real.root(), path, names, bytes, null);
  }

  private Consumption used(String path) throws IOException {
    return real.summaries.consumption(real.root(), path);
  }

  private Handle open(String path) throws IOException {
    Inode file = real.creation.create(real.root(), real.request(path, CLIENT, false));
    return new Handle(path, file.id(), CLIENT, "127.0.0.1");
  }

  private Block add(Handle file, Block previous) throws IOException {
    BlockRow added = real.writes.addBlock(file, previous, Set.of()).block();
    return new Block(added.getBlockId(), 0, added.getGenerationStamp());
  }

  private Block written(Block block, long bytes) throws IOException {
    Block finished = new Block(block.getBlockId(), bytes, block.getGenerationStamp());
    datanodes.reportAnywhere(finished);
    return finished;
  }

  private void write(String path, long bytes) throws IOException {
    Handle file = open(path);
    assertThat(real.writes.complete(file, written(add(file, null), bytes))).isTrue();
  }

  // ---- names ------------------------------------------------------------------------------------

  @Test
  void theDirectoryItselfCountsAndTheLimitIsExact() throws IOException {
    limit("/q", 4, KEEP);
    assertThat(used("/q").names()).isEqualTo(1);
    real.touch("/q/a");
    real.mkdirs("/q/d");
    real.touch("/q/d/b");
    assertThat(used("/q").names()).isEqualTo(4);
    assertThatThrownBy(() -> real.touch("/q/c"))
        .isInstanceOf(NSQuotaExceededException.class)
        .hasMessage(
            "The NameSpace quota (directories and files) of directory /q is exceeded: quota=4 file count=5");
    assertThatThrownBy(() -> real.mkdirs("/q/d/e")).isInstanceOf(NSQuotaExceededException.class);
    assertThat(real.tree()).doesNotContainKeys("/q/c", "/q/d/e/");
    real.touch(real.root(), "/q/a", true);
    real.deletions.delete(real.root(), "/q/a", false);
    real.touch("/q/c");
    assertThatThrownBy(() -> real.touch("/q/f")).isInstanceOf(NSQuotaExceededException.class);
  }

  @Test
  void manyNamesTakeWhatOtherShardsHaveLeft() throws IOException {
    limit("/q", 101, KEEP);
    for (int i = 0; i < 100; i++) {
      real.touch("/q/" + i);
    }
    assertThatThrownBy(() -> real.touch("/q/more")).isInstanceOf(NSQuotaExceededException.class);
  }

  @Test
  void aQuotaOnATreeThatExistsCountsTheTree() throws IOException {
    for (int i = 0; i < 450; i++) {
      real.touch("/q/d/" + i);
    }
    write("/q/d/data", 100);
    Handle open = open("/q/d/deeper/open");
    add(open, null);
    limit("/q", 1_000, 1L << 40);
    assertThat(used("/q").names()).isEqualTo(455);
    assertThat(used("/q").spaceBytes()).isEqualTo(3 * (100 + BLOCK));
  }

  @Test
  void aLimitBelowTheUsageIsSetAndOnlyRefusesMore() throws IOException {
    real.touch("/q/a");
    real.touch("/q/b");
    limit("/q", 1, KEEP);
    assertThat(used("/q").limits().getNames()).isEqualTo(1);
    assertThatThrownBy(() -> real.touch("/q/c")).isInstanceOf(NSQuotaExceededException.class);
    real.renames.rename2(real.root(), "/q/a", "/q/c", false);
    real.deletions.delete(real.root(), "/q/c", false);
    assertThatThrownBy(() -> real.touch("/q/d")).isInstanceOf(NSQuotaExceededException.class);
    limit("/q", NONE, KEEP);
    real.touch("/q/d");
  }

  @Test
  void nestedQuotasHoldBoth() throws IOException {
    real.mkdirs("/q/in");
    limit("/q", 5, KEEP);
    limit("/q/in", 3, KEEP);
    real.touch("/q/in/a");
    real.touch("/q/in/b");
    assertThatThrownBy(() -> real.touch("/q/in/c")).hasMessageContaining("/q/in is exceeded");
    real.touch("/q/c");
    limit("/q/in", 10, KEEP);
    assertThatThrownBy(() -> real.touch("/q/in/c"))
        .hasMessageContaining("directory /q is exceeded");
    assertThat(used("/q").names()).isEqualTo(5);
    assertThat(used("/q/in").names()).isEqualTo(3);
  }

  // ---- bounds of what holds threads
  // ----------------------------------------------------------------

  @Test
  void twoTreesAreCountedAtOnceAndOneWalkCountsATree() throws Exception {
    for (String top : List.of("/a", "/b", "/c", "/whole")) {
      real.touch(top + "/in/f");
    }
    limit("/whole", 10, KEEP);
    whileAAndBAreCounted(
        () -> {
          assertThatThrownBy(() -> limit("/c", 10, KEEP))
              .isInstanceOf(RetriableException.class)
              .hasMessageContaining("2 other trees");
          assertThatThrownBy(() -> limit("/a", 11, KEEP))
              .isInstanceOf(RetriableException.class)
              .hasMessageContaining("counting it already");
          assertThatThrownBy(() -> real.renames.rename2(real.root(), "/c", "/whole/c", false))
              .isInstanceOf(RetriableException.class);
          limit("/whole", 20, KEEP);
        });
    limit("/c", 10, KEEP);
    limit("/a", 11, KEEP);
    assertThat(used("/a").names()).isEqualTo(3);
  }

  @Test
  void aDirectoryWithFewFilesIsCountedWhileTwoTreesAre() throws Exception {
    for (String file : List.of("/a/in/f", "/b/in/f", "/q/few/f", "/q/tree/in/f")) {
      real.touch(file);
    }
    for (int i = 0; i < 200; i++) {
      real.touch("/q/many/" + i);
    }
    real.mkdirs("/q/empty");
    real.quotas.set(real.root(), "/q", KEEP, 1_000, StorageType.SSD);
    whileAAndBAreCounted(
        () -> {
          real.policies.set(real.root(), "/q/empty", "ALL_SSD");
          real.policies.set(real.root(), "/q/few", "ALL_SSD");
          for (String path : List.of("/q/tree", "/q/many")) {
            assertThatThrownBy(() -> real.policies.set(real.root(), path, "ALL_SSD"))
                .isInstanceOf(RetriableException.class);
          }
        });
    assertThat(used("/q/few").names()).isEqualTo(2);
  }

  /** Walks that stand still, because somebody holds a row that each of them needs. */
  private void whileAAndBAreCounted(Call call) throws Exception {
    int shards = real.rows(Tables.QUOTA);
    List<RowLock> held = new ArrayList<>();
    for (String top : List.of("/a", "/b")) {
      held.add(
          RowLock.exclusive(
              Tables.INODE,
              Tables.inode(
                  real.status(top + "/in").getFileId(), "f".getBytes(StandardCharsets.UTF_8))));
    }
    held.sort(null);
    List<CompletableFuture<Void>> walks = new ArrayList<>();
    real.store.transact(
        0,
        transaction -> {
          transaction.lock(held);
          walks.add(inBackground(() -> limit("/a", 10, KEEP)));
          walks.add(inBackground(() -> limit("/b", 10, KEEP)));
          awaitShards(shards + 2 * QuotaRows.SHARDS);
          call.run();
          return null;
        });
    for (CompletableFuture<Void> walk : walks) {
      walk.get(60, TimeUnit.SECONDS);
    }
  }

  private void awaitShards(int rows) throws IOException {
    for (int i = 0; i < 8_000 && real.rows(Tables.QUOTA) < rows; i++) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(real.rows(Tables.QUOTA)).isEqualTo(rows);
  }

  private interface Call {
    void run() throws IOException;
  }

  private static CompletableFuture<Void> inBackground(Call call) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                call.run();
                done.complete(null);
              } catch (IOException | RuntimeException e) {
                done.completeExceptionally(e);
              }
            });
    thread.start();
    return done;
  }

  // ---- renames and deletes
  // ------------------------------------------------------------------------

  @Test
  void aRenameIntoAQuotaIsVerifiedFirst() throws IOException {
    real.touch("/out/t/a");
    real.touch("/out/t/b");
    real.touch("/out/f");
    limit("/q", 3, KEEP);
    assertThatThrownBy(() -> real.renames.rename2(real.root(), "/out/t", "/q/t", false))
        .isInstanceOf(NSQuotaExceededException.class)
        .hasMessageContaining("quota=3 file count=4");
    assertThat(real.tree()).containsKey("/out/t/a");
    limit("/q", 4, KEEP);
    real.renames.rename2(real.root(), "/out/t", "/q/t", false);
    assertThat(used("/q").names()).isEqualTo(4);
    assertThatThrownBy(() -> real.renames.rename(real.root(), "/out/f", "/q/f"))
        .isInstanceOf(NSQuotaExceededException.class);
    assertThatThrownBy(() -> real.touch("/q/t/c")).isInstanceOf(NSQuotaExceededException.class);
    real.renames.rename2(real.root(), "/q/t/a", "/out/a", false);
    real.renames.rename2(real.root(), "/out/f", "/q/t/f", false);
    real.renames.rename2(real.root(), "/q/t", "/out/t", false);
    assertThat(used("/q").names()).isEqualTo(1);
  }

  @Test
  void aRenameWithinAQuotaNeedsNoRoom() throws IOException {
    real.touch("/q/d/f");
    limit("/q", 2, KEEP);
    real.renames.rename2(real.root(), "/q/d", "/q/e", false);
    real.renames.rename2(real.root(), "/q/e/f", "/q/f", false);
    assertThat(used("/q").names()).isEqualTo(3);
  }

  @Test
  void aDirectoryWithAQuotaTakesItsUsageAlong() throws IOException {
    write("/q/in/f", 10);
    limit("/q", 10, 100 * BLOCK);
    limit("/q/in", 5, KEEP);
    real.mkdirs("/other");
    limit("/other", 2, KEEP);
    assertThatThrownBy(() -> real.renames.rename2(real.root(), "/q/in", "/other/in", false))
        .isInstanceOf(NSQuotaExceededException.class);
    limit("/other", 3, KEEP);
    real.renames.rename2(real.root(), "/q/in", "/other/in", false);
    assertThat(used("/q").names()).isEqualTo(1);
    assertThat(used("/q").spaceBytes()).isZero();
    assertThat(used("/other").names()).isEqualTo(3);
    assertThat(used("/other/in").limits().getNames()).isEqualTo(5);
  }

  @Test
  void aDeleteFreesAFileAndACountedDirectoryAtOnceAndATreeWhenItIsReaped() throws IOException {
    real.touch("/q/t/a");
    real.touch("/q/t/b");
    real.mkdirs("/q/in/x");
    limit("/q", 100, KEEP);
    limit("/q/in", 100, KEEP);
    real.deletions.delete(real.root(), "/q/in", true);
    assertThat(used("/q").names()).isEqualTo(4);
    real.deletions.delete(real.root(), "/q/t", true);
    real.reaper.reapAll();
    assertThat(used("/q").names()).isEqualTo(1);
    assertThat(real.rows(Tables.QUOTA)).isEqualTo(16);
  }

  @Test
  void aCallWaitsForRoomThatADeletedTreeStillTakes() throws Exception {
    real.touch("/q/t/a");
    real.touch("/q/t/b");
    limit("/q", 4, KEEP);
    real.deletions.delete(real.root(), "/q/t", true);
    CompletableFuture<Void> made = inBackground(() -> real.touch("/q/c"));
    awaitWaiting(made);
    real.reaper.reapAll();
    made.get(60, TimeUnit.SECONDS);
    assertThat(used("/q").names()).isEqualTo(2);
  }

  private static void awaitWaiting(CompletableFuture<Void> call) {
    while (OptimisticTransactions.waitingForRoom() == 0 && !call.isDone()) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(call).isNotDone();
  }

  @Test
  void theDeletionsOfOthersHideNoneAndDelayNobody() throws Exception {
    for (int i = 0; i < 250; i++) {
      real.mkdirs("/other/" + i);
    }
    real.touch("/q/t/a");
    limit("/other", 1_000, KEEP);
    limit("/q", 3, KEEP);
    for (int i = 0; i < 250; i++) {
      real.deletions.delete(real.root(), "/other/" + i, true);
    }
    assertThatThrownBy(() -> NonBlocking.run(() -> real.touch("/q/c")))
        .isInstanceOf(NSQuotaExceededException.class);
    real.deletions.delete(real.root(), "/q/t", true);
    CompletableFuture<Void> made = inBackground(() -> real.touch("/q/c"));
    awaitWaiting(made);
    real.reaper.reapAll();
    made.get(60, TimeUnit.SECONDS);
    assertThat(used("/q").names()).isEqualTo(2);
  }

  /** Rewrites all shards of a directory. */
  private void rewriteShards(String path, UnaryOperator<QuotaRow> change) throws IOException {
    long id = real.status(path).getFileId();
    real.store.transact(
        id,
        transaction -> {
          for (int shard = 0; shard < QuotaRows.SHARDS; shard++) {
            Key key = Tables.quota(id, shard);
            QuotaRow row = transaction.get(Tables.QUOTA, key).orElseThrow();
            transaction.put(Tables.QUOTA, key, change.apply(row));
          }
          return null;
        });
  }

  /** As a version has left them that did not count pending deletions. */
  private void forgetDeletions(String path) throws IOException {
    rewriteShards(path, row -> row.toBuilder().clearDeleted().build());
  }

  @Test
  void aStoreThatDidNotCountPendingDeletionsLetsCallsWaitForThem() throws Exception {
    limit("/q", 4, KEEP);
    for (int round = 0; round < 3; round++) {
      real.touch("/q/t/a");
      real.touch("/q/t/b");
      real.deletions.delete(real.root(), "/q/t", true);
      if (round == 0) {
        forgetDeletions("/q"); // later rounds have the sum that is too low then
      }
      CompletableFuture<Void> made = inBackground(() -> real.touch("/q/c"));
      awaitWaiting(made);
      real.reaper.reapAll();
      made.get(60, TimeUnit.SECONDS);
      real.deletions.delete(real.root(), "/q/c", false);
    }
    assertThat(QuotaCheck.run(real.store)).hasSize(1).first().asString().contains("-1 pending");
    rewriteShards("/q", row -> row.toBuilder().setDeleted(0).build());
  }

  /** An older version has removed what this one had counted. */
  @Test
  void aNumberOfPendingDeletionsThatIsTooHighDelaysNobodyOnceAllAreRemoved() throws Exception {
    limit("/q", 1, KEEP);
    rewriteShards("/q", row -> row.toBuilder().setDeleted(2).build());
    assertThatThrownBy(() -> NonBlocking.run(() -> real.touch("/q/c")))
        .isInstanceOf(NSQuotaExceededException.class);
    rewriteShards("/q", row -> row.toBuilder().setDeleted(0).build());
  }

  @Test
  void aCallIsRefusedIfADeletedTreeStays() throws Exception {
    real.touch("/q/t/a");
    limit("/q", 3, KEEP);
    real.deletions.delete(real.root(), "/q/t", true);
    assertThatThrownBy(() -> real.touch("/q/c")).isInstanceOf(NSQuotaExceededException.class);
  }

  // ---- bytes ------------------------------------------------------------------------------------

  @Test
  void aBlockCountsAsAFullOneUntilItIsWritten() throws IOException {
    limit("/q", KEEP, 6 * BLOCK);
    Handle file = open("/q/f");
    Block first = add(file, null);
    assertThat(used("/q").spaceBytes()).isEqualTo(3 * BLOCK);
    Block second = add(file, written(first, 10));
    assertThat(used("/q").spaceBytes()).isEqualTo(30 + 3 * BLOCK);
    Block end = written(second, 20);
    assertThatThrownBy(() -> add(open("/q/too-much"), null).getBlockId())
        .isInstanceOf(DSQuotaExceededException.class)
        .hasMessageContaining("DiskSpace quota of /q is exceeded");
    assertThat(real.writes.complete(file, end)).isTrue();
    assertThat(used("/q").spaceBytes()).isEqualTo(90);
    Handle other = open("/q/g");
    real.writes.abandonBlock(other, add(other, null));
    assertThat(used("/q").spaceBytes()).isEqualTo(90);
  }

  @Test
  void aRefusedBlockReservesNoRoomOnTheDisks() throws IOException {
    limit("/q", KEEP, 1);
    Handle refused = openWithBlocksOfHalfADisk("/q/f");
    for (int i = 0; i < 10; i++) {
      assertThatThrownBy(() -> add(refused, null)).isInstanceOf(DSQuotaExceededException.class);
    }
    Handle file = openWithBlocksOfHalfADisk("/other");
    Block first = add(file, null);
    assertThat(add(file, null)).isEqualTo(first); // a repetition
    assertThat(add(openWithBlocksOfHalfADisk("/another"), null)).isNotEqualTo(first);
    assertThatThrownBy(() -> add(openWithBlocksOfHalfADisk("/last"), null))
        .hasMessageContaining("bytes free");
  }

  private Handle openWithBlocksOfHalfADisk(String path) throws IOException {
    FileCreationService.Request request =
        new FileCreationService.Request(
            path, 0644, CLIENT, "127.0.0.1", true, false, true, 4, SimulatedDatanodes.CAPACITY / 2);
    return new Handle(path, real.creation.create(real.root(), request).id(), CLIENT, "127.0.0.1");
  }

  @Test
  void moreReplicasNeedRoom() throws IOException {
    write("/q/f", 100);
    limit("/q", KEEP, 350);
    assertThatThrownBy(() -> real.replication.set(real.root(), "/q/f", 4))
        .isInstanceOf(DSQuotaExceededException.class);
    assertThat(real.status("/q/f").getReplication()).isEqualTo((short) 3);
    real.replication.set(real.root(), "/q/f", 2);
    assertThat(used("/q").spaceBytes()).isEqualTo(200);
    real.replication.set(real.root(), "/q/f", 3);
    assertThat(used("/q").spaceBytes()).isEqualTo(300);
  }

  // ---- who may, and what is refused
  // ---------------------------------------------------------------

  @Test
  void onlyTheSuperuserSetsQuotasOfDirectoriesThatExist() throws IOException {
    real.touch("/q/f");
    assertThatThrownBy(() -> real.quotas.set(real.user("ann"), "/q", 1, KEEP, null))
        .isInstanceOf(AccessControlException.class);
    assertThatThrownBy(() -> limit("/missing", 1, KEEP)).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> limit("/q/f", 1, KEEP))
        .isInstanceOf(PathIsNotDirectoryException.class);
    assertThatThrownBy(() -> limit("/q", -7, KEEP)).isInstanceOf(IllegalArgumentException.class);
    limit("/q", NONE, NONE);
    assertThat(real.rows(Tables.QUOTA)).isZero();
  }

  @Test
  void theRootHasAQuotaToo() throws IOException {
    limit("/", 3, KEEP);
    real.touch("/a");
    assertThatThrownBy(() -> real.touch("/b")).hasMessageContaining("directory / is exceeded");
    limit("/", NONE, KEEP);
    real.touch("/b");
  }
}
