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
  private static final Key MARK = Tables.named("backup");

  /** No namenode gives out so many ids between two backups. */
  private static final long SKIPPED_IDS = 1_000_000_000;

  private RestoredStore() {}

  /** Marks a store as a backup, with the time when it was taken. */
  public static void mark(MetadataStore backup, String time) throws IOException {
    backup.transact(
        MARK.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, MARK)));
          transaction.put(Tables.SETTING, MARK, SettingRow.newBuilder().setValue(time).build());
          return null;
        });
  }

  /**
   * Skips ids if the store is a restored backup. To be called once, before the first id is given
   * out. After a crash the next call skips ids again.
   *
   * @return when the backup was taken; empty if the store is no backup
   */
  public static Optional<String> skipIds(MetadataStore store, IdGenerators ids) throws IOException {
    Optional<String> taken =
        store.transact(
            MARK.partition(),
            transaction -> transaction.get(Tables.SETTING, MARK).map(SettingRow::getValue));
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
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, MARK)));
          transaction.delete(Tables.SETTING, MARK);
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
