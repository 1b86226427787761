package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.audit.MetadataChecker.Finding;
import io.ebbfs.namenode.audit.QuotaCheck;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StoreBackups;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.StoreRestore;
import io.ebbfs.namenode.store.Tables;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.NSQuotaExceededException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Quotas on disk: after a restart, in a backup, after a count that was broken off, and damaged. */
class DurableQuotaTest {
  private static final long KEEP = QuotaServiceTest.KEEP;

  @TempDir Path directory;

  @BeforeEach
  void fill() throws IOException {
    try (MetadataStore store = open()) {
      StoreFormat.check(store);
      NamespaceFixture real = new NamespaceFixture(store);
      for (int i = 0; i < 300; i++) {
        real.touch("/q/" + i % 5 + "/" + i);
      }
      real.mkdirs("/out");
    }
  }

  private MetadataStore open() throws IOException {
    return RocksDbStore.open(directory.resolve("store"));
  }

  private static void limit(NamespaceFixture real, long names) throws IOException {
    real.quotas.set(real.root(), "/q", names, KEEP, null);
  }

  private static void isFull(MetadataStore store) throws IOException {
    NamespaceFixture real = new NamespaceFixture(store);
    assertThat(real.summaries.consumption(real.root(), "/q").names()).isEqualTo(306);
    assertThat(real.summaries.consumption(real.root(), "/q").limits().getNames()).isEqualTo(306);
    assertThatThrownBy(() -> real.touch("/q/more")).isInstanceOf(NSQuotaExceededException.class);
    assertThat(QuotaCheck.run(store)).isEmpty();
  }

  @Test
  void aLimitAndTheSumsOutliveARestart() throws IOException {
    try (MetadataStore store = open()) {
      limit(new NamespaceFixture(store), 306);
    }
    try (MetadataStore store = open()) {
      isFull(store);
    }
  }

  @Test
  void aBackupHasThem() throws IOException {
    Path backup;
    try (MetadataStore store = open()) {
      NamespaceFixture real = new NamespaceFixture(store);
      limit(real, 306);
      backup = new StoreBackups(store, directory.resolve("backups"), 0, 3, real.clock).take();
    }
    try (MetadataStore store = RocksDbStore.open(backup)) {
      isFull(store);
    }
  }

  @Test
  void aSharedStoreGetsThemFromABackup() throws IOException {
    Path backup;
    try (MetadataStore store = open()) {
      NamespaceFixture real = new NamespaceFixture(store);
      limit(real, 306);
      backup = new StoreBackups(store, directory.resolve("backups"), 0, 3, real.clock).take();
    }
    MetadataStore shared = InMemoryStore.shared();
    StoreRestore.run(backup, shared);
    isFull(shared);
  }

  /** What the first transactions of a count leave if the process ends then. */
  private static void beginCount(NamespaceFixture real, String path) throws IOException {
    real.store.transact(
        0,
        transaction -> {
          Inode found = PathResolver.resolve(transaction, path).last().orElseThrow();
          transaction.lock(List.of(RowLock.exclusive(Tables.INODE, found.key())));
          transaction.put(
              Tables.INODE, found.key(), found.row().toBuilder().setCounted(true).build());
          return null;
        });
  }

  @Test
  void aCountThatWasBrokenOffBeginsAnew() throws IOException {
    try (MetadataStore store = open()) {
      beginCount(new NamespaceFixture(store), "/q");
    }
    try (MetadataStore store = open()) {
      NamespaceFixture real = new NamespaceFixture(store);
      real.touch("/q/new");
      assertThat(QuotaCheck.run(store)).isEmpty();
      assertThat(real.summaries.consumption(real.root(), "/q").names()).isEqualTo(307);
      limit(real, 307);
      assertThatThrownBy(() -> real.touch("/q/more")).isInstanceOf(NSQuotaExceededException.class);
      assertThat(QuotaCheck.run(store)).isEmpty();
    }
  }

  /** The walk of the outer directory counts what a broken walk of an inner one has left. */
  @Test
  void aBrokenCountInsideDoesNotHideWhatLiesThere() throws IOException {
    try (MetadataStore store = open()) {
      NamespaceFixture real = new NamespaceFixture(store);
      beginCount(real, "/q/1");
      limit(real, 306);
      isFull(store);
    }
  }

  @Test
  void aRenameOutOfABrokenCountTakesEverythingAlong() throws IOException {
    try (MetadataStore store = open()) {
      NamespaceFixture real = new NamespaceFixture(store);
      beginCount(real, "/q");
      real.renames.rename2(real.root(), "/q/1", "/out/1", false);
      real.quotas.set(real.root(), "/out", 1_000, KEEP, null);
      assertThat(real.summaries.consumption(real.root(), "/out").names()).isEqualTo(62);
      limit(real, 1_000);
      assertThat(real.summaries.consumption(real.root(), "/q").names()).isEqualTo(245);
      assertThat(QuotaCheck.run(store)).isEmpty();
    }
  }

  @Test
  void theCheckFindsSumsThatAreWrong() throws IOException {
    try (MetadataStore store = open()) {
      NamespaceFixture real = new NamespaceFixture(store);
      limit(real, 306);
      Key key = Tables.quota(real.status("/q").getFileId(), 3);
      store.transact(
          0,
          transaction -> {
            transaction.put(
                Tables.QUOTA,
                key,
                transaction.get(Tables.QUOTA, key).orElseThrow().toBuilder()
                    .setBytes(7)
                    .setNameCredit(5)
                    .build());
            return null;
          });
      assertThat(MetadataChecker.run(CodeRegistry.builtIn(), store, real.cluster, 100))
          .extracting(Finding::message)
          .anySatisfy(text -> assertThat(text).contains("said to hold 306 names and 7 bytes"))
          .anySatisfy(text -> assertThat(text).contains("credit of 5 names"));
    }
  }
}
