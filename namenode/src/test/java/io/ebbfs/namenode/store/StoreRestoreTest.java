package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.leader.LeaderTimes;
import io.ebbfs.namenode.leader.Leadership;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.ExtendedAttributeProto;
import io.ebbfs.protocol.proto.StoreProtos.XAttrNamespaceProto;
import io.ebbfs.protocol.proto.StoreProtos.XAttrRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An empty shared store is filled from a backup, whole or not at all. */
class StoreRestoreTest {
  private static final int ROWS = 1_234;

  @TempDir Path directory;
  private final InMemoryStore store = InMemoryStore.shared();
  private Path backup;
  private long givenBlock;

  @BeforeEach
  void takeBackup() throws IOException {
    try (RocksDbStore rows = RocksDbStore.open(directory.resolve("store"))) {
      for (int i = 0; i < ROWS; i++) {
        put(rows, i);
      }
      StoreFormat.check(rows);
      givenBlock = IdGenerators.of(rows).blocks().next();
      leadership(rows, "first").tick();
      backup = new StoreBackups(rows, directory.resolve("backups"), 0, 3, new ManualClock()).take();
    }
  }

  private static void put(MetadataStore rows, long id) throws IOException {
    rows.transact(
        id,
        MetadataStore.Durability.RELAXED,
        transaction -> {
          transaction.put(
              Tables.BLOCK_OWNER, Tables.blockOwner(id), BlockOwnerRow.getDefaultInstance());
          return null;
        });
  }

  private static Leadership leadership(MetadataStore rows, String name) {
    return new Leadership(rows, name, name, LeaderTimes.of(2_000), System::nanoTime);
  }

  @Test
  void allRowsAreRestoredAndTheNextNamenodeSkipsIdsAndTerms() throws IOException {
    StoreRestore.run(backup, store);
    assertThat(store.scanAll(Tables.BLOCK_OWNER, null, 2 * ROWS)).hasSize(ROWS);
    StoreFormat.check(store);
    Leadership leadership = leadership(store, "second");
    leadership.tick();
    assertThat(leadership.holds()).isTrue();
    assertThat(leadership.term()).isGreaterThan(1_000_000);
    IdGenerators ids = IdGenerators.of(store);
    store.changes().open();
    long lost = store.changes().changesLost();
    long before = System.currentTimeMillis();
    assertThat(RestoredStore.skipIds(store, ids)).isPresent();
    store.changes().fold();
    assertThat(store.changes().changesLost())
        .as("another number at each restore")
        .isGreaterThanOrEqualTo(before)
        .isGreaterThan(lost);
    assertThat(ids.blocks().next()).isGreaterThan(1_000_000_000 + givenBlock);
  }

  @Test
  void aStoreWithRowsIsRefused() throws IOException {
    put(store, 1);
    assertThatThrownBy(() -> StoreRestore.run(backup, store))
        .hasMessageContaining("table 'blockOwner'")
        .hasMessageContaining("move the directories of the nodes away");
    StoreFormat.check(store);
  }

  @Test
  void aDirectoryThatIsNoBackupIsRefused() {
    assertThatThrownBy(() -> StoreRestore.run(directory, store))
        .hasMessageContaining("is no backup")
        .hasMessageContaining("name a directory 'metadata-TIME'");
    assertThat(directory.resolve("ebbfs.lock")).doesNotExist();
  }

  @Test
  void aBackupWithoutItsLastWriteIsRefused() throws IOException {
    delete(".log");
    assertRefused("lacks the mark");
    StoreFormat.check(store); // nothing was written
  }

  @Test
  void aBackupWithoutATableFileIsRefused() throws IOException {
    assertThat(delete(".sst")).isPositive();
    assertRefused("damaged");
  }

  @Test
  void aBackupThatLacksRowsIsRefusedAndNoNamenodeTakesThePart() throws IOException {
    try (RocksDbStore rows = RocksDbStore.open(backup)) {
      RestoredStore.noteRows(rows, ROWS + 7);
    }
    assertRefused("rows");
    assertThatThrownBy(() -> StoreFormat.check(store))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("empty the nodes of the store and restore again");
    assertThatThrownBy(() -> StoreRestore.run(backup, store))
        .hasMessageContaining("move the directories of the nodes away");
  }

  /** Keeps the most rows and bytes that one transaction writes. */
  private static final class MeasuringStore implements MetadataStore {
    private final InMemoryStore rows = InMemoryStore.shared();
    private long mostBytes;
    private long mostRows;

    @Override
    public <R> R transact(long hint, Durability durability, TransactionBody<R> body)
        throws IOException {
      return rows.transact(
          hint,
          durability,
          transaction -> {
            R result = body.run(transaction);
            Collection<MessageLite> written = ((BufferedTransaction) transaction).writes().values();
            mostRows = Math.max(mostRows, written.size());
            mostBytes =
                Math.max(
                    mostBytes, written.stream().mapToLong(MessageLite::getSerializedSize).sum());
            return result;
          });
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
      return rows.scanAll(table, after, limit);
    }

    @Override
    public ChangeLog changes() {
      return rows.changes();
    }

    @Override
    public void close() {}
  }

  /** 50 MiB of attributes in 50 rows, which one transaction of 500 rows would hold. */
  @Test
  void aTransactionOfARestoreHasFewBytes() throws IOException {
    int large = 50;
    try (RocksDbStore rows = RocksDbStore.open(directory.resolve("store"))) {
      for (int i = 0; i < large; i++) {
        XAttrRow row = attributes(1 << 20);
        long id = i;
        rows.transact(
            id,
            MetadataStore.Durability.RELAXED,
            transaction -> {
              transaction.put(Tables.XATTR, Tables.xattr(id), row);
              return null;
            });
      }
      backup = new StoreBackups(rows, directory.resolve("large"), 0, 3, new ManualClock()).take();
    }
    MeasuringStore measured = new MeasuringStore();
    StoreRestore.run(backup, measured);
    assertThat(measured.scanAll(Tables.XATTR, null, 1_000)).hasSize(large);
    assertThat(measured.scanAll(Tables.BLOCK_OWNER, null, 2 * ROWS)).hasSize(ROWS);
    assertThat(measured.mostBytes).isBetween(2L << 20, 10L << 20);
    assertThat(measured.mostRows).as("small rows").isBetween(100L, 500L);
  }

  private static XAttrRow attributes(int bytes) {
    return XAttrRow.newBuilder()
        .addAttributes(
            ExtendedAttributeProto.newBuilder()
                .setNamespace(XAttrNamespaceProto.USER)
                .setName("a")
                .setValue(ByteString.copyFrom(new byte[bytes])))
        .build();
  }

  private void assertRefused(String reason) {
    assertThatThrownBy(() -> StoreRestore.run(backup, store))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(reason)
        .hasMessageContaining("copy it again, or take an older one");
  }

  private int delete(String suffix) throws IOException {
    int deleted = 0;
    try (Stream<Path> files = Files.list(backup)) {
      for (Path file : files.filter(one -> one.toString().endsWith(suffix)).toList()) {
        Files.delete(file);
        deleted++;
      }
    }
    return deleted;
  }
}
