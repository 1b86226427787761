package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The format of the rows of a store: a number that grows when rows get a meaning that older
 * versions of EbbFS would misread. A new field that they may ignore does not raise the format, and
 * they refuse a table that they do not know.
 */
public final class StoreFormat {
  /** The format of a new store. */
  private static final int FIRST = 1;

  /** The store has counted directories: whoever writes inodes keeps the sums of quotas. */
  private static final int WITH_QUOTAS = 2;

  /** The store has had a transition of a kind that older versions cannot parse. */
  private static final int WITH_RELEASES = 3;

  /** An inode has had an access control list, which older versions would not obey. */
  private static final int WITH_ACLS = 4;

  /**
   * A directory may have snapshots, of which older versions would change and free what they show.
   */
  private static final int WITH_SNAPSHOTS = 5;

  /** Clients may write block groups: files whose blocks older versions would not find. */
  private static final int WITH_BLOCK_GROUPS = 6;

  /** The sums of quotas tell bytes by storage policy, which older versions would not keep. */
  private static final int WITH_TYPE_QUOTAS = 7;

  private static final int NEWEST = WITH_TYPE_QUOTAS;

  /** Instead of a number, while the rows of a backup are being written. */
  private static final String RESTORING = "a restore that has not ended";

  static final Key KEY = Tables.named("storeFormat");

  private StoreFormat() {}

  /**
   * Writes the format into a store that has none.
   *
   * @throws StoreOpenException if the store has a newer format, or a part of the rows of a backup;
   *     nothing is written then
   */
  public static void check(MetadataStore store) throws IOException {
    refuseUnknown(store.transact(KEY.partition(), StoreFormat::readOrWrite));
  }

  /**
   * The format of a backup, which is not changed.
   *
   * @throws StoreOpenException if it is newer than this version
   */
  static String ofBackup(MetadataStore backup) throws IOException {
    String found =
        backup
            .transact(KEY.partition(), transaction -> transaction.get(Tables.SETTING, KEY))
            .map(SettingRow::getValue)
            .orElse(String.valueOf(FIRST));
    refuseUnknown(found);
    return found;
  }

  private static void refuseUnknown(String found) throws StoreOpenException {
    if (found.equals(RESTORING)) {
      throw new StoreOpenException(
          "the metadata store has a part of the rows of a backup: wait until the restore ends; if"
              + " it failed, empty the nodes of the store and restore again",
          null);
    }
    if (!found.matches("[0-9]{1,9}") || Integer.parseInt(found) > NEWEST) {
      throw new StoreOpenException(
          "the metadata store has the format '%s', and this version of EbbFS knows formats up to %d: start the version that wrote the store, or a newer one"
              .formatted(found, NEWEST),
          null);
    }
  }

  private static String readOrWrite(Transaction transaction) throws IOException {
    transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, KEY)));
    Optional<SettingRow> row = transaction.get(Tables.SETTING, KEY);
    if (row.isPresent()) {
      return row.get().getValue();
    }
    String first = String.valueOf(FIRST);
    put(transaction, first);
    return first;
  }

  /**
   * To be called before a directory is counted. Versions that know no quotas refuse the store from
   * then on.
   */
  public static void raiseToQuotas(MetadataStore store) throws IOException {
    raise(store, WITH_QUOTAS);
  }

  /**
   * To be called before the bytes of a directory are counted by type of storage. Versions that
   * would not keep such sums refuse the store from then on.
   */
  public static void raiseToTypeQuotas(MetadataStore store) throws IOException {
    raise(store, WITH_TYPE_QUOTAS);
  }

  /**
   * To be called before a transition is registered whose kind is SUBTRACT or RELEASE. Versions that
   * cannot parse its row refuse the store from then on.
   */
  public static void raiseToReleases(MetadataStore store) throws IOException {
    raise(store, WITH_RELEASES);
  }

  /**
   * To be called before an inode gets an access control list. Versions that would not obey it
   * refuse the store from then on.
   */
  public static void raiseToAcls(MetadataStore store) throws IOException {
    raise(store, WITH_ACLS);
  }

  /**
   * To be called before a directory or a file gets an erasure coding policy. Versions that do not
   * know block groups refuse the store from then on.
   */
  public static void raiseToBlockGroups(MetadataStore store) throws IOException {
    raise(store, WITH_BLOCK_GROUPS);
  }

  /** Whether the format is raised for block groups. */
  static boolean hasBlockGroups(Transaction transaction) throws IOException {
    return read(transaction) >= WITH_BLOCK_GROUPS;
  }

  /** Whether the format is raised for access control lists. */
  public static boolean hasAcls(Transaction transaction) throws IOException {
    return read(transaction) >= WITH_ACLS;
  }

  /**
   * To be called before a directory may have snapshots. Versions that would change what a snapshot
   * shows refuse the store from then on.
   */
  public static void raiseToSnapshots(MetadataStore store) throws IOException {
    raise(store, WITH_SNAPSHOTS);
  }

  /** Whether the format is raised for snapshots. */
  public static boolean hasSnapshots(Transaction transaction) throws IOException {
    return read(transaction) >= WITH_SNAPSHOTS;
  }

  private static void raise(MetadataStore store, int wanted) throws IOException {
    int seen = store.transact(KEY.partition(), Durability.RELAXED, StoreFormat::read);
    if (seen < wanted) {
      store.transact(
          KEY.partition(),
          transaction -> {
            transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, KEY)));
            if (read(transaction) < wanted) { // another namenode may have raised it further
              put(transaction, String.valueOf(wanted));
            }
            return null;
          });
    }
  }

  /** The format of a store that this process has opened, so the row is a number if it is there. */
  private static int read(Transaction transaction) throws IOException {
    return transaction
        .get(Tables.SETTING, KEY)
        .map(row -> Integer.parseInt(row.getValue()))
        .orElse(FIRST);
  }

  /** Has namenodes refuse an empty store, unless one of them has taken the store already. */
  static Object beginRestore(Transaction transaction) throws IOException {
    transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, KEY)));
    if (transaction.get(Tables.SETTING, KEY).isPresent()) {
      throw new IOException(
          "a namenode has taken the store just now: stop all namenodes, empty the nodes of the"
              + " store and restore again");
    }
    put(transaction, RESTORING);
    return null;
  }

  /** Sets the format in a transaction that has locked {@link #KEY}. */
  static void put(Transaction transaction, String format) {
    transaction.put(Tables.SETTING, KEY, SettingRow.newBuilder().setValue(format).build());
  }
}
