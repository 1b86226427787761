package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.audit.QuotaCheck;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.LaggingStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Test;

/** How many rows a change writes and locks, without quotas and with them. */
class QuotaCostTest {
  private static final long KEEP = QuotaServiceTest.KEEP;

  private final NamespaceFixture real;

  QuotaCostTest() throws IOException {
    real = new NamespaceFixture(new InMemoryStore(2_000));
    real.mkdirs("/d");
    real.mkdirs("/e");
  }

  private interface Change {
    void run() throws IOException;
  }

  /** The numbers of rows that a change adds, changes or deletes, by table. */
  private Map<String, Integer> written(Change change) throws IOException {
    Map<String, Map<Object, Object>> before = rows();
    change.run();
    Map<String, Map<Object, Object>> after = rows();
    Map<String, Integer> written = new TreeMap<>();
    for (String table : after.keySet()) {
      Set<Object> same = new HashSet<>(before.get(table).entrySet());
      same.retainAll(after.get(table).entrySet());
      Set<Object> keys = new HashSet<>(before.get(table).keySet());
      keys.addAll(after.get(table).keySet());
      if (keys.size() > same.size()) {
        written.put(table, keys.size() - same.size());
      }
    }
    return written;
  }

  private Map<String, Map<Object, Object>> rows() throws IOException {
    Map<String, Map<Object, Object>> all = new HashMap<>();
    for (Table<?> table : Tables.ALL) {
      Map<Object, Object> rows = new HashMap<>();
      for (Row<?> row : real.store.scanAll(table, null, Integer.MAX_VALUE)) {
        rows.put(row.key(), row.value());
      }
      all.put(table.name(), rows);
    }
    return all;
  }

  private Handle create(String path) throws IOException {
    long id = real.creation.create(real.root(), real.request(path, "client", false)).id();
    return new Handle(path, id, "client", "127.0.0.1");
  }

  @Test
  void withoutAQuotaNoMoreRowsAreWrittenThanBefore() throws IOException {
    real.clock.advance(1);
    assertThat(written(() -> create("/d/f")))
        .isEqualTo(Map.of("inode", 2, "inodeName", 1, "lease", 1, "change", 1));
    real.clock.advance(1);
    assertThat(written(() -> real.mkdirs("/d/sub")))
        .isEqualTo(Map.of("inode", 2, "inodeName", 1, "change", 1));
    real.clock.advance(1);
    assertThat(written(() -> real.renames.rename2(real.root(), "/d/sub", "/e/sub", false)))
        .isEqualTo(Map.of("inode", 4, "inodeName", 1, "change", 1));
  }

  @Test
  void aQuotaAddsOneRowForEachDirectoryThatHasOne() throws IOException {
    real.mkdirs("/d/in");
    real.quotas.set(real.root(), "/d", 1_000, KEEP, null);
    real.clock.advance(1);
    assertThat(written(() -> create("/d/f")))
        .isEqualTo(Map.of("inode", 2, "inodeName", 1, "lease", 1, "change", 1, "quota", 1));
    real.quotas.set(real.root(), "/d/in", 1_000, KEEP, null);
    real.clock.advance(1);
    assertThat(written(() -> create("/d/in/f"))).containsEntry("quota", 2);
    assertThat(written(() -> create("/e/f"))).doesNotContainKey("quota");
  }

  /** A tree pays for types of storage only below a quota by type. */
  @Test
  void withoutAQuotaByTypeAPolicyCountsNothing() throws IOException {
    real.mkdirs("/d/in/below");
    real.quotas.set(real.root(), "/d", 1_000, KEEP, null);
    assertThat(written(() -> real.policies.set(real.root(), "/d/in", "ALL_SSD")))
        .isEqualTo(Map.of("inode", 1));
    create("/d/in/below/f");
    assertThat(real.store.scanAll(Tables.INODE, null, 100))
        .noneMatch(row -> row.value().hasCountedTypes());
    assertThat(real.store.scanAll(Tables.QUOTA, null, 100))
        .hasSize(QuotaRows.SHARDS)
        .allMatch(row -> row.value().getByPolicyCount() == 0);
  }

  @Test
  void withoutAQuotaByTypeAPolicyOfACountedDirectoryWritesNoRowOfAQuota() throws IOException {
    create("/d/in/f");
    real.quotas.set(real.root(), "/d", 1_000, KEEP, null);
    real.quotas.set(real.root(), "/d/in", 1_000, KEEP, null);
    assertThat(written(() -> real.policies.set(real.root(), "/d/in", "ALL_SSD")))
        .isEqualTo(Map.of("inode", 1));
    real.quotas.set(real.root(), "/d", KEEP, 1_000_000, StorageType.SSD);
    assertThat(QuotaCheck.run(real.store)).as("the sums know the policy now").isEmpty();
  }

  @Test
  void aPolicyBelowAQuotaByTypeChangesNoRowOfWhatFollowsIt() throws IOException {
    for (int i = 0; i < 50; i++) {
      create("/d/in/" + i);
    }
    real.quotas.set(real.root(), "/d", KEEP, 1_000_000, StorageType.SSD);
    real.policies.set(real.root(), "/d/in", "ALL_SSD");
    assertThat(written(() -> real.policies.set(real.root(), "/d/in", "HOT")))
        .isEqualTo(Map.of("inode", 1, "quota", QuotaRows.SHARDS));
    assertThat(written(() -> real.policies.set(real.root(), "/", "HOT")))
        .isEqualTo(Map.of("inode", 1));
    real.clock.advance(1);
    assertThat(written(() -> create("/d/in/f"))).containsEntry("quota", 2);
  }

  /** While somebody holds the rows of each quota that there could be, changes go on. */
  @Test
  void withoutAQuotaNoRowOfAQuotaIsLocked() throws Exception {
    MetadataStore store = real.store;
    List<RowLock> all = new ArrayList<>();
    for (String path : List.of("/", "/d", "/e")) {
      all.addAll(QuotaRows.locks(real.status(path).getFileId()));
    }
    all.sort(null);
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    CompletableFuture<Void> holder =
        CompletableFuture.runAsync(
            () -> {
              try {
                store.transact(
                    0,
                    transaction -> {
                      transaction.lock(all);
                      held.countDown();
                      try {
                        end.await(60, TimeUnit.SECONDS);
                      } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                      }
                      return null;
                    });
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    held.await();
    create("/d/f");
    real.mkdirs("/d/sub");
    real.renames.rename2(real.root(), "/d/sub", "/e/sub", false);
    real.deletions.delete(real.root(), "/e/sub", true);
    assertThat(holder).isNotDone();
    end.countDown();
    holder.get(60, TimeUnit.SECONDS);
  }

  @Test
  void aMoveBelowACommonQuotaLocksNoRowOfThatQuota() throws IOException {
    real.mkdirs("/d/one/moved");
    real.mkdirs("/d/two");
    for (String path : List.of("/d", "/d/one", "/d/two", "/d/one/moved")) {
      real.quotas.set(real.root(), path, 1_000, KEEP, null);
    }
    List<RowLock> common = QuotaRows.locks(real.status("/d").getFileId());
    real.store.transact(
        0,
        transaction -> {
          transaction.lock(common); // the rename would fail if it had to wait for these rows
          real.renames.rename2(real.root(), "/d/one/moved", "/d/two/moved", false);
          return null;
        });
    assertThat(real.tree()).containsKey("/d/two/moved/");
  }

  @Test
  void aChangeOfWhatDoesNotCountAsksForNoRowOfAQuota() throws IOException {
    LaggingStore store = new LaggingStore(new DirectoryHints());
    NamespaceFixture shared = new NamespaceFixture(store);
    shared.mkdirs("/q/in");
    shared.quotas.set(shared.root(), "/q", 100, KEEP, null);
    shared.quotas.set(shared.root(), "/q/in", 100, KEEP, null);
    shared.touch("/q/in/file");
    int before = store.reads(Tables.QUOTA);
    FsPermission open = new FsPermission(0777);
    shared.attributes.setPermission(shared.root(), "/q/in/file", open);
    shared.attributes.setPermission(shared.root(), "/q/in", open);
    shared.attributes.setTimes(shared.root(), "/q/in/file", 5, 6);
    shared.renames.rename2(shared.root(), "/q/in/file", "/q/in/renamed", false);
    assertThat(store.reads(Tables.QUOTA)).isEqualTo(before);
    shared.renames.rename2(shared.root(), "/q/in/renamed", "/q/out", false);
    assertThat(store.reads(Tables.QUOTA)).isGreaterThan(before);
  }

  @Test
  void manyClientsOfOneDirectoryDoNotShareARow() throws Exception {
    real.quotas.set(real.root(), "/d", 1_000_000, KEEP, null);
    Set<Object> shards = ConcurrentHashMap.newKeySet();
    for (int i = 0; i < QuotaRows.SHARDS; i++) {
      int number = i;
      Thread client =
          new Thread(
              () -> {
                try {
                  Map<String, Map<Object, Object>> before = rows();
                  real.touch("/d/" + number);
                  rows()
                      .get("quota")
                      .forEach(
                          (key, row) -> {
                            if (!row.equals(before.get("quota").get(key))) {
                              shards.add(key);
                            }
                          });
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              });
      client.start();
      client.join();
    }
    assertThat(shards).hasSizeGreaterThan(QuotaRows.SHARDS / 2);
  }
}
