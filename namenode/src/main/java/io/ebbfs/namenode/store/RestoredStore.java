package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mark of a backup: a setting that only the copy has. A namenode that starts on rows with this
 * mark knows that they were restored: all ids that were given out since the backup may be in use on
 * chunk servers, so the sequences skip them.
 */
public final class RestoredStore {
  private static final Logger LOG = LoggerFactory.getLogger(RestoredStore.class);
  static final Key MARK = Tables.named("backup");
  private static final Key COUNT = Tables.named("backupRows");

  /** No namenode gives out so many ids between two backups. */
  private static final long SKIPPED_IDS = 1_000_000_000;

  private RestoredStore() {}

  /** Marks a store as a backup, with the time when it was taken. */
  public static void mark(MetadataStore backup, String time) throws IOException {
    put(backup, MARK, time);
  }

  /** Notes how many rows a backup has besides this note and the mark. */
  public static void noteRows(MetadataStore backup, long rows) throws IOException {
    put(backup, COUNT, String.valueOf(rows));
  }

  /** Whether a row exists in backups only. */
  static boolean isNote(Table<?> table, Key key) {
    return table == Tables.SETTING && (key.equals(MARK) || key.equals(COUNT));
  }

  /** When a backup was taken; empty if the store has no mark of a backup. */
  static Optional<String> time(MetadataStore store) throws IOException {
    return setting(store, MARK);
  }

  /** How many rows a backup has besides its notes; empty if nobody has counted them. */
  static Optional<Long> rows(MetadataStore backup) throws IOException {
    return setting(backup, COUNT).map(Long::valueOf);
  }

  private static Optional<String> setting(MetadataStore store, Key key) throws IOException {
    return store.transact(
        key.partition(),
        transaction -> transaction.get(Tables.SETTING, key).map(SettingRow::getValue));
  }

  private static void put(MetadataStore store, Key key, String value) throws IOException {
    store.transact(
        key.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, key)));
          put(transaction, key, value);
          return null;
        });
  }

  /** Marks the store of a transaction, which has locked {@link #MARK}, as restored. */
  static void mark(Transaction transaction, String time) {
    put(transaction, MARK, time);
  }

  private static void put(Transaction transaction, Key key, String value) {
    transaction.put(Tables.SETTING, key, SettingRow.newBuilder().setValue(value).build());
  }

  /**
   * Skips ids if the store is a restored backup. To be called once, before the first id is given
   * out. After a crash the next call skips ids again.
   *
   * @return when the backup was taken; empty if the store is no backup
   */
  public static Optional<String> skipIds(MetadataStore store, IdGenerators ids) throws IOException {
    Optional<String> taken = time(store);
    if (taken.isEmpty()) {
      return taken;
    }
    ids.inodes().skip(SKIPPED_IDS);
    ids.blocks().skip(SKIPPED_IDS);
    ids.generationStamps().skip(SKIPPED_IDS);
    ids.transitions().skip(SKIPPED_IDS);
    store.transact(
        MARK.partition(),
        transaction -> {
          transaction.lock(
              List.of(
                  RowLock.exclusive(Tables.SETTING, MARK),
                  RowLock.exclusive(Tables.SETTING, COUNT)));
          ChangeLog.noteRestored(transaction);
          transaction.delete(Tables.SETTING, MARK);
          transaction.delete(Tables.SETTING, COUNT);
          return null;
        });
    LOG.warn(
        "The metadata is a backup of {}. Block ids and generation stamps skip {}. Changes after the"
            + " backup are lost; blocks that were written after it stay on their disks for the time"
            + " of 'orphanWait'",
        taken.get(),
        SKIPPED_IDS);
    return taken;
  }
}
