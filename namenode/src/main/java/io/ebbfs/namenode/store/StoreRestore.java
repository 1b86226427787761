package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.LeaderRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fills an empty shared store with the rows of a backup. Until all of them are there, the store has
 * a format that every namenode refuses. The mark of the backup comes last, so that the first
 * namenode to lead skips ids ({@link RestoredStore}).
 */
public final class StoreRestore {
  private static final Logger LOG = LoggerFactory.getLogger(StoreRestore.class);
  private static final long LOCK_TIMEOUT_MILLIS = 1_000;
  private static final long CACHE_BYTES = 64L << 20;

  /** A transaction ends once it has so many rows or bytes. */
  private static final int MOST_ROWS = 500;

  private static final long MOST_BYTES = 8 << 20;

  /** No cluster changes its leader so often between two backups. */
  private static final long SKIPPED_TERMS = 1_000_000;

  private final Path backup;
  private final MetadataStore store;

  private StoreRestore(Path backup, MetadataStore store) {
    this.backup = backup;
    this.store = store;
  }

  /**
   * Copies all rows of a backup.
   *
   * @param backup a directory that {@link StoreBackups} has made, of whatever kind of store
   * @param store without any row
   * @return the number of rows
   * @throws IOException with a remedy if the directory is no whole backup, or the store has rows.
   *     After a failure on the way the store holds a part of the rows, and has to be emptied
   */
  public static long run(Path backup, MetadataStore store) throws IOException {
    if (!Files.exists(backup.resolve("CURRENT"))) {
      throw new StoreOpenException(
          "%s is no backup: it has no file CURRENT; name a directory 'metadata-TIME' of the key 'backups'"
              .formatted(backup),
          null);
    }
    StoreRestore restore = new StoreRestore(backup, store);
    store.changes().setCopying(true);
    try (RocksDbStore copy = restore.open()) {
      return restore.copy(copy);
    } finally {
      store.changes().setCopying(false);
    }
  }

  private RocksDbStore open() throws IOException {
    try {
      return RocksDbStore.open(backup, LOCK_TIMEOUT_MILLIS, CACHE_BYTES);
    } catch (StoreOpenException e) {
      throw damaged(e.getMessage(), e);
    }
  }

  private long copy(MetadataStore copy) throws IOException {
    String taken =
        RestoredStore.time(copy)
            .orElseThrow(() -> damaged("it lacks the mark that is written last", null));
    String format = StoreFormat.ofBackup(copy);
    begin();
    long rows = 0;
    for (Table<?> table : Tables.ALL) {
      rows += copy(copy, table);
    }
    long expected = RestoredStore.rows(copy).orElse(rows);
    if (rows != expected) {
      throw damaged("it has %d of %d rows".formatted(rows, expected), null);
    }
    end(format, taken, page(copy, Tables.LEADER, null));
    LOG.info("Restored {} rows of the backup {}, taken at {}", rows, backup, taken);
    return rows;
  }

  private IOException damaged(String why, Exception cause) {
    return new IOException(
        "the backup %s is damaged or not whole: %s; copy it again, or take an older one, and restore it into empty nodes"
            .formatted(backup, why),
        cause);
  }

  /** Keeps namenodes away from the store. */
  private void begin() throws IOException {
    for (Table<?> table : Tables.ALL) {
      if (!store.scanAll(table, null, 1).isEmpty()) {
        throw new IOException(
            "the store has rows already (table '%s'), so the backup is not restored: stop all namenodes and store nodes, move the directories of the nodes away, start the nodes, and restore before a namenode starts"
                .formatted(table.name()));
      }
    }
    store.transact(StoreFormat.KEY.partition(), StoreFormat::beginRestore);
  }

  /** Lets a namenode take the store, which then skips ids. */
  private void end(String format, String taken, List<Row<LeaderRow>> leaders) throws IOException {
    store.transact(
        StoreFormat.KEY.partition(),
        transaction -> {
          transaction.lock(
              List.of(
                  RowLock.exclusive(Tables.SETTING, StoreFormat.KEY),
                  RowLock.exclusive(Tables.SETTING, RestoredStore.MARK)));
          StoreFormat.put(transaction, format);
          RestoredStore.mark(transaction, taken);
          leaders.forEach(row -> transaction.put(Tables.LEADER, row.key(), skipTerms(row.value())));
          return null;
        });
  }

  /** Chunk servers refuse a term below one that they know. */
  private static LeaderRow skipTerms(LeaderRow last) {
    return last.toBuilder()
        .setTerm(last.getTerm() + SKIPPED_TERMS)
        .setReadOnly(false)
        .setResigned(true)
        .build();
  }

  private <V extends MessageLite> long copy(MetadataStore copy, Table<V> table) throws IOException {
    long rows = 0;
    Key after = null;
    List<Row<V>> page;
    List<Row<V>> batch = new ArrayList<>();
    long bytes = 0;
    do {
      page = page(copy, table, after);
      for (Row<V> row : page) {
        after = row.key();
        rows += RestoredStore.isNote(table, row.key()) ? 0 : 1;
        if (isCopied(table, row.key())) {
          batch.add(row);
          bytes += row.value().getSerializedSize();
        }
        if (batch.size() == MOST_ROWS || bytes >= MOST_BYTES) {
          put(table, batch);
          batch.clear();
          bytes = 0;
        }
      }
    } while (page.size() == table.rowsOfAPage());
    put(table, batch);
    return rows;
  }

  private <V extends MessageLite> List<Row<V>> page(MetadataStore copy, Table<V> table, Key after)
      throws IOException {
    try {
      return copy.scanAll(table, after, table.rowsOfAPage());
    } catch (IOException | CorruptRowException e) {
      throw damaged(e.getMessage(), e);
    }
  }

  private static boolean isCopied(Table<?> table, Key key) {
    boolean isFormat = table == Tables.SETTING && key.equals(StoreFormat.KEY);
    return !isFormat && table != Tables.LEADER && !RestoredStore.isNote(table, key);
  }

  private <V extends MessageLite> void put(Table<V> table, List<Row<V>> rows) throws IOException {
    if (!rows.isEmpty()) {
      store.transact(
          rows.get(0).key().partition(),
          transaction -> {
            rows.forEach(row -> transaction.put(table, row.key(), row.value()));
            return null;
          });
    }
  }
}
