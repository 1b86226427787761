package io.ebbfs.namenode.store;

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
  static final int CURRENT = 1;
  static final Key KEY = Tables.named("storeFormat");

  private StoreFormat() {}

  /**
   * Writes the format into a store that has none.
   *
   * @throws StoreOpenException if the store has a newer format; nothing is written then
   */
  public static void check(MetadataStore store) throws IOException {
    String found = store.transact(KEY.partition(), StoreFormat::readOrWrite);
    if (!found.matches("[0-9]{1,9}") || Integer.parseInt(found) > CURRENT) {
      throw new StoreOpenException(
          "the metadata store has the format '%s', and this version of EbbFS knows formats up to %d: start the version that wrote the store, or a newer one"
              .formatted(found, CURRENT),
          null);
    }
  }

  private static String readOrWrite(Transaction transaction) throws IOException {
    transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, KEY)));
    Optional<SettingRow> row = transaction.get(Tables.SETTING, KEY);
    if (row.isPresent()) {
      return row.get().getValue();
    }
    String current = String.valueOf(CURRENT);
    transaction.put(Tables.SETTING, KEY, SettingRow.newBuilder().setValue(current).build());
    return current;
  }
}
