package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.audit.QuotaCheck;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.files.tree.ContentSummaryService.Consumption;
import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Quotas by type of storage: what counts on which type, when, and what is refused. */
class TypeQuotaTest {
  private static final long KEEP = HdfsConstants.QUOTA_DONT_SET;
  private static final long MUCH = 1L << 50;
  private static final String CLIENT = "client";
  private static final long BLOCK = NamespaceFixture.BLOCK_BYTES;
  private static final StorageType SSD = StorageType.SSD;
  private static final StorageType DISK = StorageType.DISK;

  private NamespaceFixture real;
  private SimulatedDatanodes datanodes;

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(new InMemoryStore());
    datanodes = new SimulatedDatanodes(real, 4);
    datanodes.type("disk-0", SSD);
    datanodes.type("disk-1", StorageType.ARCHIVE);
    real.mkdirs("/q");
  }

  @AfterEach
  void theSumsAreThoseOfTheRows() throws IOException {
    assertThat(QuotaCheck.run(real.store)).isEmpty();
    real.reaper.reapAll();
    assertThat(QuotaCheck.run(real.store)).isEmpty();
  }

  private void limit(String path, StorageType type, long bytes) throws IOException {
    real.quotas.set(real.root(), path, KEEP, bytes, type);
  }

  private void policy(String path, String policy) throws IOException {
    real.policies.set(real.root(), path, policy);
  }

  private void rename(String from, String to) throws IOException {
    real.renames.rename2(real.root(), from, to, false);
  }

  private Consumption used(String path) throws IOException {
    return real.summaries.consumption(real.root(), path);
  }

  /** What the sums say, after a look at each file that they say the same. */
  private Map<StorageType, Long> types(String path) throws IOException {
    Map<StorageType, Long> kept = new EnumMap<>(StorageType.class);
    kept.putAll(used(path).typeBytes());
    kept.values().removeIf(bytes -> bytes == 0);
    assertThat(kept).as(path).isEqualTo(ofFiles(path));
    return kept;
  }

  /** The bytes of all files below a path, one by one, by the policy that holds for each. */
  private Map<StorageType, Long> ofFiles(String path) throws IOException {
    Map<StorageType, Long> sum = new EnumMap<>(StorageType.class);
    for (String below : real.tree().keySet()) {
      if (below.startsWith(path + "/") && !below.endsWith("/")) {
        ResolvedPath file = resolve(below);
        int policy = file.policyId();
        InodeRow row = file.lastFound().row();
        if (policy != StoragePolicies.UNSPECIFIED && row.getCountedBytes() > 0) {
          StoragePolicies.withId(policy).chooseStorageTypes((short) row.getReplication()).stream()
              .filter(StorageType::supportTypeQuota)
              .forEach(
                  type -> sum.merge(type, row.getCountedBytes() / row.getReplication(), Long::sum));
        }
      }
    }
    return sum;
  }

  private ResolvedPath resolve(String path) throws IOException {
    return real.store.transact(0, transaction -> PathResolver.resolve(transaction, path));
  }

  private Handle open(String path) throws IOException {
    Inode file = real.creation.create(real.root(), real.request(path, CLIENT, false));
    return new Handle(path, file.id(), CLIENT, "127.0.0.1");
  }

  private Block add(Handle file, Block previous) throws IOException {
    BlockRow added = real.writes.addBlock(file, previous, Set.of()).block();
    return new Block(added.getBlockId(), 0, added.getGenerationStamp());
  }

  private void write(String path, long bytes) throws IOException {
    Handle file = open(path);
    Block block = add(file, null);
    Block written = new Block(block.getBlockId(), bytes, block.getGenerationStamp());
    datanodes.reportAnywhere(written);
    assertThat(real.writes.complete(file, written)).isTrue();
  }

  // ---- what counts
  // --------------------------------------------------------------------------------

  @Test
  void eachReplicaCountsOnTheTypeOfThePolicy() throws IOException {
    real.mkdirs("/q/one");
    real.mkdirs("/q/all/below");
    policy("/q/one", "ONE_SSD");
    limit("/q", SSD, MUCH);
    policy("/q/all", "ALL_SSD");
    write("/q/none", 7);
    assertThat(types("/q")).isEmpty();
    write("/q/one/f", 10);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 10L, DISK, 20L));
    write("/q/all/below/f", 100);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 310L, DISK, 20L));
    policy("/q/none", "WARM");
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 310L, DISK, 27L, StorageType.ARCHIVE, 14L));
    assertThat(used("/q").spaceBytes()).isEqualTo(3 * 117);
  }

  @Test
  void aBlockThatIsWrittenCountsAsAFullOne() throws IOException {
    policy("/q", "ONE_SSD");
    limit("/q", SSD, MUCH);
    Handle file = open("/q/f");
    Block block = add(file, null);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, BLOCK, DISK, 2 * BLOCK));
    real.writes.abandonBlock(file, block);
    assertThat(types("/q")).isEmpty();
  }

  @Test
  void replicationAndDeletesAreCounted() throws IOException {
    policy("/q", "ONE_SSD");
    write("/q/d/f", 100);
    limit("/q", DISK, 250);
    real.replication.set(real.root(), "/q/d/f", 1);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 100L));
    real.replication.set(real.root(), "/q/d/f", 3);
    assertThatThrownBy(() -> real.replication.set(real.root(), "/q/d/f", 4))
        .isInstanceOf(QuotaByStorageTypeExceededException.class)
        .hasMessageContaining("DISK");
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 100L, DISK, 200L));
    real.deletions.delete(real.root(), "/q/d", true);
    real.reaper.reapAll();
    assertThat(types("/q")).isEmpty();
  }

  @Test
  void whatIsInMemoryCountsAsOnDisk() throws IOException {
    policy("/q", "LAZY_PERSIST");
    limit("/q", DISK, MUCH);
    write("/q/f", 10);
    assertThat(types("/q")).isEqualTo(Map.of(DISK, 30L));
    policy("/q", "ALL_SSD");
    assertThat(types("/q")).as("the file has the policy of its creation").containsOnlyKeys(DISK);
  }

  // ---- limits
  // -------------------------------------------------------------------------------------

  @Test
  void aLimitRefusesWithHdfssWords() throws IOException {
    policy("/q", "ONE_SSD");
    limit("/q", SSD, BLOCK + 5);
    write("/q/f", 10);
    assertThatThrownBy(() -> add(open("/q/g"), null))
        .isInstanceOf(QuotaByStorageTypeExceededException.class)
        .hasMessage(
            new QuotaByStorageTypeExceededException(BLOCK + 5, BLOCK + 10, SSD) {
              private static final long serialVersionUID = 1;

              {
                setPathName("/q");
              }
            }.getMessage());
    real.replication.set(real.root(), "/q/f", 2);
    limit("/q", SSD, HdfsConstants.QUOTA_RESET);
    add(open("/q/h"), null);
  }

  @Test
  void aLimitIsExactUpToTheLastByte() throws IOException {
    policy("/q", "ALL_SSD");
    limit("/q", SSD, 3 * BLOCK + 3 * 19);
    for (int i = 0; i < 20; i++) {
      write("/q/" + i, 1);
    }
    assertThatThrownBy(() -> add(open("/q/more"), null))
        .isInstanceOf(QuotaByStorageTypeExceededException.class);
    real.deletions.delete(real.root(), "/q/3", false);
    add(open("/q/again"), null);
  }

  @Test
  void limitsOfNestedDirectoriesHoldBoth() throws IOException {
    real.mkdirs("/q/in");
    policy("/q", "ALL_SSD");
    policy("/q/in", "HOT");
    limit("/q", DISK, 3 * BLOCK);
    limit("/q/in", DISK, MUCH);
    write("/q/in/f", 1);
    assertThatThrownBy(() -> add(open("/q/in/g"), null))
        .isInstanceOf(QuotaByStorageTypeExceededException.class)
        .hasMessageContaining("/q ");
    add(open("/q/h"), null);
    assertThat(types("/q/in")).isEqualTo(Map.of(DISK, 3L));
  }

  // ---- policies that change
  // -----------------------------------------------------------------------

  @Test
  void aPolicyOfADirectoryMovesAllThatFollowsIt() throws IOException {
    policy("/q", "HOT");
    limit("/q", SSD, 40);
    write("/q/d/e/f", 10);
    write("/q/d/own", 5);
    policy("/q/d/own", "HOT");
    write("/q/d/cold/f", 1);
    policy("/q/d/cold", "WARM");
    policy("/q/d", "ALL_SSD");
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 30L, DISK, 15L + 1, StorageType.ARCHIVE, 2L));
    assertThat(types("/q/d")).isEqualTo(types("/q"));
    policy("/q", "ALL_SSD");
    write("/q/d/cold/g", 100);
    policy("/q/d/cold", "ALL_SSD");
    assertThat(types("/q").get(SSD)).as("no limit refuses a policy").isEqualTo(333L);
    assertThatThrownBy(() -> add(open("/q/more"), null))
        .isInstanceOf(QuotaByStorageTypeExceededException.class);
    real.policies.unset(real.root(), "/q/d");
    policy("/q", "HOT");
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 303L, DISK, 45L));
  }

  @Test
  void aPolicyAboveTheQuotaMovesWhatCountsAndNoOldCreditIsUsed() throws IOException {
    real.mkdirs("/top/u/q");
    policy("/top", "HOT");
    limit("/top/u/q", SSD, 4 * BLOCK);
    for (int i = 0; i < 4; i++) {
      write("/top/u/q/" + i, BLOCK);
    }
    assertThat(types("/top/u/q")).isEqualTo(Map.of(DISK, 12 * BLOCK));
    policy("/top", "ALL_SSD");
    assertThat(types("/top/u/q")).isEqualTo(Map.of(SSD, 12 * BLOCK));
    assertThatThrownBy(() -> add(open("/top/u/q/more"), null))
        .isInstanceOf(QuotaByStorageTypeExceededException.class);
    real.mkdirs("/other");
    policy("/other", "HOT");
    rename("/top/u", "/other/u");
    assertThat(types("/other/u/q")).isEqualTo(Map.of(DISK, 12 * BLOCK));
    add(open("/other/u/q/again"), null);
  }

  /**
   * A credit of SSD is as large as a block with its replicas, and of the time of another policy.
   */
  @Test
  void aCreditOfAnotherPolicyIsNotUsed() throws IOException {
    real.mkdirs("/top/q");
    policy("/top", "HOT");
    limit("/top/q", SSD, QuotaRows.SHARDS * 3 * BLOCK);
    for (int i = 0; i <= QuotaRows.SHARDS; i++) {
      write("/top/q/" + i, BLOCK);
    }
    policy("/top", "ALL_SSD");
    assertThatThrownBy(() -> add(open("/top/q/more"), null))
        .isInstanceOf(QuotaByStorageTypeExceededException.class);
  }

  @Test
  void aQuotaOnATreeThatExistsFindsItsPolicies() throws IOException {
    for (int i = 0; i < 5; i++) {
      write("/q/" + i + "/a/b/f", 10);
      write("/q/" + i + "/g", 1);
    }
    policy("/q/1", "ALL_SSD");
    policy("/q/1/a/b", "HOT");
    policy("/q/2/a", "ONE_SSD");
    policy("/q/3/g", "WARM");
    limit("/q/1/a", DISK, MUCH);
    limit("/q", SSD, MUCH);
    assertThat(types("/q"))
        .isEqualTo(Map.of(SSD, 3L + 10, DISK, 30L + 20 + 1, StorageType.ARCHIVE, 2L));
    assertThat(types("/q/1/a")).isEqualTo(Map.of(DISK, 30L));
    limit("/", SSD, MUCH);
    assertThat(used("/").typeBytes().get(SSD)).isEqualTo(13L);
  }

  /** The sums learn the policy of a counted directory when its bytes begin to count by type. */
  @Test
  void aPolicyOfACountedDirectoryMayBeOlderThanTheQuotaByType() throws IOException {
    real.mkdirs("/q/d/e");
    real.quotas.set(real.root(), "/q", 100, KEEP, null);
    real.quotas.set(real.root(), "/q/d", 100, KEEP, null);
    limit("/q/d/e", DISK, MUCH);
    write("/q/d/e/f", 10);
    write("/q/d/g", 1);
    policy("/q/d", "ALL_SSD");
    assertThat(types("/q/d/e")).isEqualTo(Map.of(SSD, 30L));
    policy("/q/d", "ONE_SSD");
    limit("/q", SSD, MUCH);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 11L, DISK, 22L));
    policy("/q/d", "ALL_SSD");
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 33L));
  }

  // ---- concat and renames
  // ------------------------------------------------------------------------------------

  /** HDFS asks no limit of a type here, because the replication is the same. */
  @Test
  void aConcatIsComparedWithTheTypesOfTheTarget() throws IOException {
    policy("/q", "HOT");
    limit("/q", SSD, 40);
    write("/q/target", 10);
    policy("/q/target", "ALL_SSD");
    write("/q/source", 10);
    List<String> sources = List.of("/q/source");
    assertThatThrownBy(() -> real.concat.concat(real.root(), "/q/target", sources))
        .isInstanceOf(QuotaByStorageTypeExceededException.class)
        .hasMessageContaining("SSD");
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 30L, DISK, 30L));
    limit("/q", SSD, 60);
    real.concat.concat(real.root(), "/q/target", sources);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 60L));
  }

  @Test
  void aRenameCountsByThePolicyOfTheNewPlace() throws IOException {
    for (String top : List.of("/q/ssd", "/q/hot", "/out")) {
      real.mkdirs(top);
    }
    policy("/q/ssd", "ALL_SSD");
    policy("/q/hot", "HOT");
    limit("/q", SSD, MUCH);
    write("/q/hot/f", 10);
    write("/q/hot/d/g", 1);
    write("/q/hot/d/e/own", 100);
    policy("/q/hot/d/e/own", "ONE_SSD");
    assertThat(types("/q")).isEqualTo(Map.of(DISK, 30L + 3 + 200, SSD, 100L));
    rename("/q/hot/f", "/q/ssd/f");
    assertThat(types("/q")).isEqualTo(Map.of(DISK, 3L + 200, SSD, 130L));
    rename("/q/hot/d", "/q/ssd/d");
    assertThat(types("/q")).isEqualTo(Map.of(DISK, 200L, SSD, 133L));
    rename("/q/ssd/d", "/out/d");
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 30L));
    rename("/out/d/e", "/q/hot/e");
    assertThat(types("/q")).isEqualTo(Map.of(DISK, 200L, SSD, 130L));
    rename("/q/ssd", "/q/hot/ssd");
    assertThat(types("/q")).isEqualTo(Map.of(DISK, 200L, SSD, 130L));
  }

  @Test
  void aTreeWithPoliciesIsCountedBeforeItEnters() throws IOException {
    write("/out/t/a/f", 10);
    write("/out/t/b/f", 1);
    policy("/out/t/b", "ALL_SSD");
    policy("/q", "HOT");
    limit("/q", DISK, 29);
    assertThatThrownBy(() -> rename("/out/t", "/q/t"))
        .isInstanceOf(QuotaByStorageTypeExceededException.class)
        .hasMessageContaining("DISK");
    limit("/q", DISK, 30);
    rename("/out/t", "/q/t");
    assertThat(types("/q")).isEqualTo(Map.of(DISK, 30L, SSD, 3L));
    write("/q/t/b/g", 100);
    assertThat(types("/q")).isEqualTo(Map.of(DISK, 30L, SSD, 303L));
  }

  /** As in HDFS: directories above both places do not refuse a rename between them. */
  @Test
  void aRenameBelowADirectoryIsNotRefusedByItsLimit() throws IOException {
    real.mkdirs("/q/ssd");
    policy("/q", "HOT");
    policy("/q/ssd", "ALL_SSD");
    limit("/q", SSD, 5);
    write("/q/f", 10);
    write("/q/d/g", 10);
    rename("/q/f", "/q/ssd/f");
    rename("/q/d", "/q/ssd/d");
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 60L));
    limit("/q/ssd", SSD, 5);
    write("/q/h", 10);
    assertThatThrownBy(() -> rename("/q/h", "/q/ssd/h"))
        .isInstanceOf(QuotaByStorageTypeExceededException.class);
  }

  /** As a namenode leaves a tree that ends while it marks the tree for a first limit of a type. */
  @Test
  void aDirectoryKeepsItsMarksWhereOthersHaveNone() throws IOException {
    write("/q/a/t/f", 10);
    real.mkdirs("/q/b");
    real.quotas.set(real.root(), "/q", 100, KEEP, null);
    markTypes("/q/a/t");
    markTypes("/q/a/t/f");
    rename("/q/a/t", "/q/b/t");
    assertThat(resolve("/q/b/t").lastFound().row().getCountedTypes()).isTrue();
    write("/q/b/t/g", 10);
    assertThat(resolve("/q/b/t/g").lastFound().row().getCountedTypes()).isTrue();
    policy("/q", "ALL_SSD");
    limit("/q", SSD, MUCH);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 60L));
  }

  private void markTypes(String path) throws IOException {
    Inode inode = resolve(path).lastFound();
    real.store.transact(
        0,
        transaction -> {
          transaction.put(
              Tables.INODE, inode.key(), inode.row().toBuilder().setCountedTypes(true).build());
          return null;
        });
  }

  // ---- stores of older versions
  // -------------------------------------------------------------------

  /** As a version has left the rows that counted all bytes as bytes on DISK. */
  private void forgetTypes() throws IOException {
    real.store.transact(
        0,
        transaction -> {
          for (Row<InodeRow> row : real.store.scanAll(Tables.INODE, null, 1_000)) {
            transaction.put(
                Tables.INODE, row.key(), row.value().toBuilder().clearCountedTypes().build());
          }
          return null;
        });
    real.store.transact(
        0,
        transaction -> {
          for (Row<QuotaRow> row : real.store.scanAll(Tables.QUOTA, null, 1_000)) {
            QuotaRow.Builder old = row.value().toBuilder().clearByPolicy().clearPolicy();
            old.clearTypesComplete().clearTypeCredits().clearCreditPolicy().setByteCredit(0);
            transaction.put(Tables.QUOTA, row.key(), old.build());
          }
          return null;
        });
  }

  @Test
  void anOldStoreCountsAllOnDiskUntilItsTypesAreCounted() throws IOException {
    write("/q/ssd/f", 10);
    write("/q/ssd/d/in/g", 1);
    policy("/q/ssd", "ALL_SSD");
    policy("/q/ssd/d/in", "HOT");
    limit("/q", DISK, 3 * BLOCK + 3);
    forgetTypes();
    assertThat(QuotaCheck.run(real.store)).as("nothing is wrong").isEmpty();
    assertThat(used("/q").typeBytes()).isEqualTo(Map.of(DISK, 33L));
    assertThatThrownBy(() -> add(open("/q/ssd/more"), null))
        .isInstanceOf(QuotaByStorageTypeExceededException.class)
        .hasMessageContaining("DISK");
    limit("/q", SSD, 60);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 30L, DISK, 3L));
    write("/q/ssd/d/in/h", 1);
    assertThat(types("/q")).isEqualTo(Map.of(SSD, 30L, DISK, 6L));
    for (int shard = 0; shard < QuotaRows.SHARDS; shard++) {
      Key key = Tables.quota(real.status("/q").getFileId(), shard);
      QuotaRow row =
          real.store.transact(0, transaction -> transaction.get(Tables.QUOTA, key)).orElseThrow();
      assertThat(row.hasByteCredit()).as("a credit for all bytes").isFalse();
    }
  }
}
