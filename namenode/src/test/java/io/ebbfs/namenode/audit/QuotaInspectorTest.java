package io.ebbfs.namenode.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.audit.QuotaFinding.WrongSums;
import io.ebbfs.namenode.audit.QuotaInspector.Run;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.policies.PolicyService;
import io.ebbfs.namenode.files.quotas.QuotaService;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.store.BytesByPolicy;
import io.ebbfs.namenode.store.FailingStore;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.QuotaCorrection;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.StoreBackups;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.PolicyBytesProto;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.ipc.RetriableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator can do about sums of quotas that are wrong, while clients go on. */
class QuotaInspectorTest {
  private static final long SEED = Long.getLong("ebbfs.seed", System.nanoTime());
  private static final long KEEP = HdfsConstants.QUOTA_DONT_SET;
  private static final Caller.Superuser SUPERUSER = new Caller.Superuser("root", "supergroup");
  private static final Caller ROOT = new Caller("root", Set::of, SUPERUSER);

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock();
  private RocksDbStore store;
  private TreeCounter counter;
  private StoreBackups backups;
  private MkdirService mkdirs;
  private RenameService renames;
  private DeleteService deletions;
  private QuotaService quotas;
  private long runs;

  @BeforeEach
  void start() throws IOException {
    store = RocksDbStore.open(directory.resolve("store"));
    StoreFormat.check(store);
    store.changes().open();
    counter = new TreeCounter(store);
    backups = new StoreBackups(store, directory.resolve("backups"), 0, 2, clock);
    NamespaceLimits limits = NamespaceLimits.DEFAULT;
    mkdirs = new MkdirService(store, IdGenerators.of(store).inodes(), clock, limits);
    renames = new RenameService(store, clock, limits, counter, () -> {});
    deletions = new DeleteService(store, clock, () -> {});
    quotas = new QuotaService(store, counter);
    mkdirs.makeRoot(SUPERUSER);
  }

  @AfterEach
  void stop() throws IOException {
    store.close();
  }

  private void mkdirs(String path) throws IOException {
    mkdirs.mkdirs(ROOT, path, new FsPermission(0755), true);
  }

  private void limit(String path, long names) throws IOException {
    quotas.set(ROOT, path, names, KEEP, null);
  }

  private Inode inode(String path) throws IOException {
    return store.transact(0, t -> PathResolver.resolve(t, path).last().orElseThrow());
  }

  /** Makes the sums of a directory wrong. */
  private void spoil(String path, long names, long bytes, long deleted) throws IOException {
    long id = inode(path).id();
    store.transact(
        id,
        transaction -> {
          QuotaRow row = transaction.get(Tables.QUOTA, Tables.quota(id, 3)).orElseThrow();
          transaction.put(
              Tables.QUOTA,
              Tables.quota(id, 3),
              row.toBuilder()
                  .setNames(row.getNames() + names)
                  .setBytes(row.getBytes() + bytes)
                  .setDeleted(row.getDeleted() + deleted)
                  .build());
          return null;
        });
  }

  private Run inspect(boolean mend) throws Exception {
    return inspect(mend, backups::onCopy);
  }

  private Run inspect(boolean mend, QuotaInspector.Copies copies) throws Exception {
    try (QuotaInspector inspector = new QuotaInspector(store, counter, copies)) {
      inspector.start(++runs, mend);
      inspector.awaitEnd();
      return inspector.last();
    }
  }

  @Test
  void wrongSumsAreToldAndMendedInAllDirectoriesAbove() throws Exception {
    mkdirs("/a/b/c");
    limit("/a", 1_000);
    limit("/a/b", 1_000);
    assertThat(inspect(false).found()).isZero();
    spoil("/a/b", 7, -300, 2);
    spoil("/a", 7, -300, 2); // as a sum goes wrong: in all directories above
    spoil("/a", -1, 0, 0);
    Run told = inspect(false);
    assertThat(told.mended()).isZero();
    assertThat(told.failure()).isEmpty();
    assertThat(told.texts())
        .satisfiesExactlyInAnyOrder(
            text ->
                assertThat(text)
                    .startsWith(
                        "directory %d, without counted directories in it, is said to hold 0 names and 0 bytes, but holds 1 and 0;"
                            .formatted(inode("/a").id())),
            text ->
                assertThat(text)
                    .startsWith(
                        "directory %d, without counted directories in it, is said to hold 9 names and -300 bytes, but holds 2 and 0; is said to hold 2 pending deletions, but holds 0;"
                            .formatted(inode("/a/b").id()))
                    .contains("has a credit of 998 names, and its sums say 9 of 1000"));
    Run mended = inspect(true);
    assertThat(mended.mended()).isEqualTo(2);
    assertThat(QuotaCheck.run(store)).isEmpty();
    assertThat(inspect(true).found()).isZero();
    assertThat(directory.resolve("backups")).isEmptyDirectory();
  }

  @Test
  void aDifferenceIsTakenOffOnce() throws Exception {
    mkdirs("/a");
    limit("/a", 10);
    spoil("/a", 5, 0, 0);
    long id = inode("/a").id();
    var difference = new QuotaCorrection.Difference(id, 5, 0, 0, new BytesByPolicy(), 0);
    assertThat(QuotaCorrection.apply(store, difference)).isTrue();
    assertThat(QuotaCorrection.apply(store, difference)).isFalse();
    assertThat(QuotaCheck.run(store)).isEmpty();
    deletions.delete(ROOT, "/a", true);
    assertThat(QuotaCorrection.apply(store, difference)).isFalse();
  }

  @Test
  void bytesAndMarksOfInodesAreMended() throws Exception {
    mkdirs("/a/b/c/d");
    limit("/a", 1_000);
    spoilMark("/a/b/c");
    spoilMark("/a/b/c/d");
    assertThat(inspect(false).texts()).hasSize(1);
    Run mended = inspect(true);
    assertThat(mended.failure()).isEmpty();
    assertThat(mended.mended()).isEqualTo(mended.found());
    assertThat(QuotaCheck.run(store)).isEmpty();
    assertThat(inode("/a/b/c/d").row().getCountedIn()).isEqualTo(inode("/a").id());
  }

  private void spoilMark(String path) throws IOException {
    Inode inode = inode(path);
    InodeRow unmarked = inode.row().toBuilder().clearCountedIn().build();
    store.transact(
        0,
        transaction -> {
          transaction.put(Tables.INODE, inode.key(), unmarked);
          return null;
        });
  }

  /** As a version has left them that did not count pending deletions. */
  private void forgetDeletions(String path) throws IOException {
    long id = inode(path).id();
    store.transact(
        id,
        transaction -> {
          for (int shard = 0; shard < QuotaRows.SHARDS; shard++) {
            Key key = Tables.quota(id, shard);
            QuotaRow row = transaction.get(Tables.QUOTA, key).orElseThrow();
            transaction.put(Tables.QUOTA, key, row.toBuilder().clearDeleted().build());
          }
          return null;
        });
  }

  @Test
  void aNumberOfPendingDeletionsThatIsUnknownBecomesKnown() throws Exception {
    mkdirs("/a/b");
    limit("/a", 10);
    forgetDeletions("/a");
    assertThat(QuotaCheck.run(store)).as("nothing is wrong").isEmpty();
    Run told = inspect(false);
    assertThat(told.texts()).hasSize(1).first().asString().contains("does not know how many");
    assertThat(inspect(true).mended()).isEqualTo(1);
    assertThat(inspect(false).found()).isZero();
    long id = inode("/a").id();
    for (int shard = 0; shard < QuotaRows.SHARDS; shard++) {
      Key key = Tables.quota(id, shard);
      Optional<QuotaRow> row =
          store.transact(id, transaction -> transaction.get(Tables.QUOTA, key));
      assertThat(row.orElseThrow().hasDeleted()).isTrue();
    }
  }

  // ---- types of storage
  // -------------------------------------------------------------------------

  private void limitSsd(String path) throws IOException {
    quotas.set(ROOT, path, KEEP, 1_000, StorageType.SSD);
  }

  private void policy(String path, String policy) throws IOException {
    new PolicyService(store, counter).set(ROOT, path, policy);
  }

  private interface RowChange {
    void of(QuotaRow.Builder row);
  }

  private void rewriteShard(String path, int shard, RowChange change) throws IOException {
    Key key = Tables.quota(inode(path).id(), shard);
    store.transact(
        0,
        transaction -> {
          QuotaRow.Builder row = transaction.get(Tables.QUOTA, key).orElseThrow().toBuilder();
          change.of(row);
          transaction.put(Tables.QUOTA, key, row.build());
          return null;
        });
  }

  private static PolicyBytesProto bytes(int policy, long bytes) {
    PolicyBytesProto.Builder row = PolicyBytesProto.newBuilder().setCopies(3).setBytes(bytes);
    return policy == 0 ? row.build() : row.setPolicy(policy).build();
  }

  private Map<StorageType, Long> types(String path) throws IOException {
    long id = inode(path).id();
    return store
        .transact(0, transaction -> QuotaRows.totals(transaction, id))
        .orElseThrow()
        .types(StoragePolicies.UNSPECIFIED);
  }

  @Test
  void wrongBytesOfTypesAreToldAndMendedInAllDirectoriesAbove() throws Exception {
    mkdirs("/a/b");
    limitSsd("/a");
    policy("/a/b", "HOT");
    int hot = StoragePolicies.named("HOT").orElseThrow().getId();
    rewriteShard("/a/b", 3, row -> row.addByPolicy(bytes(0, 300)));
    rewriteShard("/a", 5, row -> row.addByPolicy(bytes(hot, 300)));
    assertThat(types("/a")).isEqualTo(Map.of(StorageType.DISK, 300L));
    Run told = inspect(false);
    assertThat(told.texts())
        .hasSize(1)
        .first()
        .asString()
        .contains("said to hold 300 bytes of 3 copies with policy 0, but holds none");
    assertThat(inspect(true).mended()).isEqualTo(1);
    assertThat(types("/a")).isEmpty();
    assertThat(inspect(false).found()).isZero();
  }

  @Test
  void aCreditOfATypeThatIsTooHighIsToldAndMended() throws Exception {
    mkdirs("/a");
    limitSsd("/a");
    rewriteShard(
        "/a", 3, row -> row.setTypeCredits(0, row.getTypeCredits(0).toBuilder().setBytes(1_001)));
    assertThat(inspect(true).texts())
        .singleElement()
        .asString()
        .contains("bytes on SSD, and its sums say 0 of 1000");
    assertThat(inspect(false).found()).isZero();
  }

  @Test
  void marksOfTypesAndDirectoriesWithPoliciesAreMended() throws Exception {
    mkdirs("/a/b/c");
    mkdirs("/a/d");
    limitSsd("/a");
    rewrite("/a/b", row -> row.clearCountedTypes());
    rewrite("/a/d", row -> row.setStoragePolicy(7));
    assertThat(inspect(false).texts())
        .isNotEmpty()
        .allSatisfy(text -> assertThat(text).contains("by type of storage"));
    assertThat(inspect(true).failure()).isEmpty();
    assertThat(QuotaCheck.run(store)).isEmpty();
    assertThat(inode("/a/b").row().getCountedTypes()).isTrue();
    assertThat(inode("/a/d").row().getCounted()).isTrue();
  }

  private interface InodeChange {
    void of(InodeRow.Builder row);
  }

  private void rewrite(String path, InodeChange change) throws IOException {
    Inode inode = inode(path);
    InodeRow.Builder row = inode.row().toBuilder();
    change.of(row);
    store.transact(
        0,
        transaction -> {
          transaction.put(Tables.INODE, inode.key(), row.build());
          return null;
        });
  }

  @Test
  void limitsOfTypesOfAnOlderVersionAreToldAndCountedThen() throws Exception {
    mkdirs("/a/b");
    limit("/a", 10);
    rewriteShard(
        "/a",
        0,
        row ->
            row.setLimits(
                row.getLimits().toBuilder()
                    .addTypes(TypeLimitProto.newBuilder().setType("SSD").setBytes(5))));
    assertThat(QuotaCheck.run(store)).as("nothing is wrong").isEmpty();
    assertThat(inspect(false).texts())
        .singleElement()
        .asString()
        .contains("(/a) has limits")
        .contains("counts all bytes as bytes on DISK")
        .contains("Set the policy HOT on the directory first");
    assertThat(inspect(true).mended()).isEqualTo(1);
    assertThat(inspect(false).found()).isZero();
    assertThat(inode("/a/b").row().getCountedTypes()).isTrue();
  }

  /** As a version has counted it that kept no types and renamed it among trees with types. */
  @Test
  void aDirectoryThatAnOlderVersionHasCountedIsToldAndCountedByType() throws Exception {
    mkdirs("/a/b/c");
    limitSsd("/a");
    policy("/a/b", "HOT");
    rewriteShard("/a/b", 0, row -> row.clearTypesComplete());
    assertThat(inspect(false).texts())
        .singleElement()
        .asString()
        .contains("(/a/b) is to count by type of storage");
    assertThat(inspect(true).mended()).isEqualTo(1);
    assertThat(inspect(false).found()).isZero();
  }

  @Test
  void aPolicyThatTheShardsDoNotKnowIsPutRightBySettingItAnew() throws Exception {
    mkdirs("/a/b/c");
    limitSsd("/a");
    policy("/a/b", "HOT");
    for (int shard = 0; shard < QuotaRows.SHARDS; shard++) {
      rewriteShard("/a/b", shard, row -> row.clearPolicy());
    }
    Run told = inspect(true);
    assertThat(told.mended()).isZero();
    assertThat(told.texts())
        .singleElement()
        .asString()
        .contains("(/a/b) has the storage policy 7, but its shards say 0")
        .contains("set another policy on it, and the old one again")
        .doesNotContain("backup");
    policy("/a/b", "COLD");
    policy("/a/b", "HOT");
    assertThat(inspect(false).found()).isZero();
  }

  @Test
  void noMarkCountsAsMendedBelowADirectoryThatCannotBeWalked() throws Exception {
    mkdirs("/a/b");
    limit("/a", 10);
    FailingStore failing = new FailingStore(store);
    QuotaMender mender = new QuotaMender(store, new TreeCounter(failing.store()));
    QuotaFinding mark = new QuotaFinding.WrongMark(inode("/a").id(), "counts elsewhere");
    failing.failNext(1);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> mender.mend(mark)).hasMessageContaining("does not answer");
    }
    new QuotaMender(store, new TreeCounter(failing.store())).mend(mark);
  }

  @Test
  void manyDirectoriesAreComparedInSeveralPasses() throws Exception {
    for (int i = 0; i < 7; i++) {
      mkdirs("/a/" + i + "/below");
      limit("/a/" + i, 100 + i);
    }
    limit("/a", 1_000);
    spoil("/a/3", 5, 0, 0);
    spoil("/a", 5, 0, 0);
    List<QuotaFinding> found = new ArrayList<>();
    new QuotaCheck(store, 3, found::add).compare();
    assertThat(found)
        .hasSize(2) // the credits of both directories are too high, too
        .anyMatch(one -> one instanceof WrongSums sums && sums.difference().names() == 5)
        .anyMatch(one -> one instanceof WrongSums sums && sums.difference().names() == 0);
    for (QuotaFinding one : found) {
      new QuotaMender(store, counter).mend(one);
    }
    assertThat(QuotaCheck.run(store)).isEmpty();
  }

  /**
   * Clients change the tree, and directories with wrong sums move, between the copy and the end.
   */
  @Test
  void clientsThatGoOnMakeNoSumWrong() throws Exception {
    System.out.println("seed " + SEED);
    for (int i = 0; i < 4; i++) {
      mkdirs("/q" + i % 2 + "/" + i + "/below");
      limit("/q" + i % 2 + "/" + i, 1_000_000);
      limit("/q" + i % 2, 1_000_000);
    }
    Random random = new Random(SEED);
    for (String path : List.of("/q0", "/q1", "/q0/0", "/q1/1", "/q0/2")) {
      spoil(path, random.nextInt(100) - 50, random.nextInt(100) - 50, random.nextInt(3));
    }
    AtomicBoolean goesOn = new AtomicBoolean(true);
    AtomicReference<Exception> failed = new AtomicReference<>();
    CountDownLatch copied = new CountDownLatch(2);
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      clients.add(client(new Random(random.nextLong()), goesOn, failed, copied));
    }
    Run run =
        inspect(
            true,
            work ->
                backups.onCopy(
                    copy -> {
                      clients.forEach(Thread::start);
                      await(copied); // each client has changed something since the copy
                      work.on(copy);
                    }));
    goesOn.set(false);
    for (Thread client : clients) {
      client.join();
    }
    assertThat(failed.get()).as("seed " + SEED).isNull();
    assertThat(run.failure()).as("seed " + SEED).isEmpty();
    assertThat(run.found()).as("seed " + SEED).isPositive().isEqualTo(run.mended());
    assertThat(QuotaCheck.run(store)).as("seed " + SEED).isEmpty();
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      if (!latch.await(60, TimeUnit.SECONDS)) {
        throw new IOException("the clients do not work");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private Thread client(
      Random random,
      AtomicBoolean goesOn,
      AtomicReference<Exception> failed,
      CountDownLatch copied) {
    return new Thread(
        () -> {
          try {
            int steps = 0;
            while (goesOn.get()) {
              try {
                step(random);
              } catch (RetriableException e) {
                // Another client has the same tree counted.
              }
              if (++steps == 50) {
                copied.countDown();
              }
            }
          } catch (IOException | RuntimeException e) {
            failed.set(e);
            copied.countDown();
          }
        });
  }

  private void step(Random random) throws IOException {
    String top = "/q" + random.nextInt(2);
    String counted = top + "/" + random.nextInt(4);
    switch (random.nextInt(5)) {
      case 0, 1 -> mkdirs(top + "/made/" + random.nextInt(20));
      case 2 -> deletions.delete(ROOT, top + "/made/" + random.nextInt(20), true);
      case 3 -> renames.rename(ROOT, counted, "/q" + random.nextInt(2));
      default -> renames.rename(ROOT, top + "/made", "/q" + random.nextInt(2) + "/x");
    }
  }

  @Test
  void oneRunAtATimeAndARepeatedCallBeginsNone() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    try (QuotaInspector inspector =
        new QuotaInspector(
            store,
            counter,
            work -> {
              await(held);
              backups.onCopy(work);
            })) {
      assertThat(inspector.last().id()).isZero();
      inspector.start(5, false);
      inspector.start(5, false);
      assertThat(inspector.last().ended()).isFalse();
      assertThatThrownBy(() -> inspector.start(6, true)).hasMessageContaining("already");
      held.countDown();
      inspector.awaitEnd();
      inspector.start(5, false);
      assertThat(inspector.last().ended()).isTrue();
    }
  }

  @Test
  void whatABrokenOffRunHasLeftGoes() throws Exception {
    Path left = directory.resolve("backups/check.partial");
    Files.createDirectories(left);
    Files.writeString(left.resolve("CURRENT"), "?");
    assertThat(inspect(false).failure()).isEmpty();
    assertThat(left).doesNotExist();
    Run failed =
        inspect(
            false,
            work -> {
              throw new IOException("no room");
            });
    assertThat(failed.ended()).isTrue();
    assertThat(failed.failure()).isEqualTo("no room");
    Run died =
        inspect(
            false,
            work -> {
              throw new StackOverflowError();
            });
    assertThat(died.ended()).isTrue();
    assertThat(died.failure()).contains("see the log");
  }

  @Test
  void aStoreWithoutQuotasIsRight() throws Exception {
    mkdirs("/a/b");
    assertThat(inspect(true).inodes()).isZero();
    MetadataStore same = store;
    assertThat(QuotaCheck.run(same)).isEmpty();
  }
}
