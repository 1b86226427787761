package io.ebbfs.namespace.transition;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Table;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Keeps codes from changing under the stripes that use them. The fingerprint of a code's generator
 * is stored (table "setting", "code." and the name) before the first transition to it exists; when
 * the namenode starts, every code in use must be there and have the same one. Thread-safe.
 */
public final class CodeBook {
  private static final int PAGE = 1_000;

  private final MetadataStore store;
  private final Set<String> remembered = ConcurrentHashMap.newKeySet();

  private CodeBook(MetadataStore store) {
    this.store = store;
  }

  /**
   * Checks the codes of all stripes and of all transitions under way.
   *
   * @throws IOException if one is not defined, or defined otherwise than when it came into use;
   *     names the code, a stripe and the remedy. Nothing was changed then
   */
  public static CodeBook open(MetadataStore store) throws IOException {
    Map<String, String> users = new TreeMap<>();
    collect(
        store,
        Tables.TRANSITION,
        row -> "transition " + row.getId() + " makes stripes of",
        CodeBook::codeUnderWay,
        users);
    collect(
        store,
        Tables.STRIPE,
        row -> "stripe " + row.getId() + " is one of",
        row -> Optional.of(row.getCode()),
        users);
    CodeBook book = new CodeBook(store);
    for (Map.Entry<String, String> user : users.entrySet()) {
      book.check(user.getKey(), user.getValue());
    }
    return book;
  }

  private static Optional<String> codeUnderWay(TransitionRow row) {
    return TransitionIndex.isActive(row.getState())
        ? Optional.of(row.getToCode())
        : Optional.empty();
  }

  /** Notes of each code one row that uses it. */
  private static <V extends MessageLite> void collect(
      MetadataStore store,
      Table<V> table,
      Function<V, String> describe,
      Function<V, Optional<String>> code,
      Map<String, String> users)
      throws IOException {
    Key after = null;
    while (true) {
      List<Row<V>> page = store.scanAll(table, after, PAGE);
      for (Row<V> row : page) {
        code.apply(row.value())
            .ifPresent(name -> users.computeIfAbsent(name, n -> describe.apply(row.value())));
      }
      if (page.size() < PAGE) {
        return;
      }
      after = page.get(page.size() - 1).key();
    }
  }

  private void check(String name, String user) throws IOException {
    ErasureCode code;
    try {
      code = Codes.byName(name);
    } catch (IllegalArgumentException e) {
      throw new IOException(
          "%s code %s, which is not defined (%s): start with --codes FILE, or 'codes:' in namenode.yaml, naming the file that defined it"
              .formatted(user, name, e.getMessage()),
          e);
    }
    Optional<String> stored = stored(name);
    if (stored.isPresent() && !stored.get().equals(code.fingerprint())) {
      throw new IOException(
          "%s code %s, which had the fingerprint %s when it came into use and now has %s: give %s its old definition back, and the new one another name"
              .formatted(user, name, stored.get(), code.fingerprint(), name));
    }
    remember(code);
  }

  private Optional<String> stored(String name) throws IOException {
    Key key = key(name);
    return store.transact(
        key.partition(),
        transaction -> transaction.get(Tables.SETTING, key).map(SettingRow::getValue));
  }

  /** To be called before anything is planned that makes stripes of this code. */
  public void remember(ErasureCode code) throws IOException {
    if (remembered.contains(code.name())) {
      return;
    }
    Key key = key(code.name());
    SettingRow row = SettingRow.newBuilder().setValue(code.fingerprint()).build();
    store.transact(
        key.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, key)));
          if (!transaction.get(Tables.SETTING, key).equals(Optional.of(row))) {
            // Another one that is stored is of no stripe any more: that was checked at the start.
            transaction.put(Tables.SETTING, key, row);
          }
          return null;
        });
    remembered.add(code.name());
  }

  private static Key key(String name) {
    return Tables.named("code." + name);
  }
}
