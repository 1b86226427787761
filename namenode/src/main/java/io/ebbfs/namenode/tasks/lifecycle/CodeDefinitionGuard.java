package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a user-defined code from changing while stripes use it. Before the first transition to a
 * code is created, the fingerprint of its generator matrix is stored (table "setting", key "code."
 * and the name). When the namenode starts, every code in use must be defined and have the stored
 * fingerprint; otherwise it does not start. Stripes and transitions are read only if a stored
 * fingerprint is not that of a defined code, or if the store is of a version that kept no
 * fingerprints. Thread-safe.
 */
public final class CodeDefinitionGuard {
  private static final Logger LOG = LoggerFactory.getLogger(CodeDefinitionGuard.class);
  private static final String CODE = "code.";

  /** The setting that says that all codes in use have a stored fingerprint. */
  private static final Key COMPLETE = Tables.named("codesAreComplete");

  private final CodeRegistry codes;
  private final MetadataStore store;
  private final Set<String> remembered = ConcurrentHashMap.newKeySet();

  private CodeDefinitionGuard(CodeRegistry codes, MetadataStore store) {
    this.codes = codes;
    this.store = store;
  }

  /**
   * Checks the codes of all stripes and of all active transitions.
   *
   * @throws IOException if a code is not defined, or its definition is not the one with which it
   *     came into use. The message names the code, a stripe and the remedy; nothing was changed
   */
  public static CodeDefinitionGuard open(CodeRegistry codes, MetadataStore store)
      throws IOException {
    CodeDefinitionGuard book = new CodeDefinitionGuard(codes, store);
    if (!book.hasFingerprintsOfAll()) {
      book.checkAllInUse();
    }
    return book;
  }

  /** Whether all codes in use have a stored fingerprint, and are defined so here. */
  private boolean hasFingerprintsOfAll() throws IOException {
    boolean[] complete = {false};
    boolean[] defined = {true};
    store.eachRow(
        Tables.SETTING,
        (key, row) -> {
          String name = new String(key.rest(), StandardCharsets.UTF_8);
          if (key.equals(COMPLETE)) {
            complete[0] = true;
          } else if (name.startsWith(CODE)) {
            if (!isDefinedAs(name.substring(CODE.length()), row.getValue())) {
              LOG.info("All stripes are read: {} is not defined here as it was used once", name);
              defined[0] = false;
            }
          }
        });
    return complete[0] && defined[0];
  }

  private boolean isDefinedAs(String name, String fingerprint) {
    try {
      return codes.byName(name).fingerprint().equals(fingerprint);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private void checkAllInUse() throws IOException {
    Map<String, String> users = new TreeMap<>();
    collect(
        store,
        Tables.TRANSITION,
        row -> "transition " + row.getId() + " makes stripes of",
        CodeDefinitionGuard::codeUnderWay,
        users);
    collect(
        store,
        Tables.STRIPE,
        row -> "stripe " + row.getId() + " is one of",
        row -> Optional.of(row.getCode()),
        users);
    for (Map.Entry<String, String> user : users.entrySet()) {
      check(user.getKey(), user.getValue());
    }
    put(COMPLETE, SettingRow.newBuilder().setValue("").build());
  }

  private static Optional<String> codeUnderWay(TransitionRow row) {
    return TransitionIndex.isActive(row.getState())
        ? Optional.of(row.getToCode())
        : Optional.empty();
  }

  /** Adds, for each code, the description of one row that uses it. */
  private static <V extends MessageLite> void collect(
      MetadataStore store,
      Table<V> table,
      Function<V, String> describe,
      Function<V, Optional<String>> code,
      Map<String, String> users)
      throws IOException {
    store.eachRow(
        table,
        (key, row) ->
            code.apply(row)
                .ifPresent(name -> users.computeIfAbsent(name, n -> describe.apply(row))));
  }

  private void check(String name, String user) throws IOException {
    ErasureCode code;
    try {
      code = codes.byName(name);
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

  /** Stores the fingerprint of a code. The caller creates no transition to the code before. */
  public void remember(ErasureCode code) throws IOException {
    if (remembered.contains(code.name())) {
      return;
    }
    // A different fingerprint belongs to no stripe any more: the check at the start has shown it.
    put(key(code.name()), SettingRow.newBuilder().setValue(code.fingerprint()).build());
    remembered.add(code.name());
  }

  private void put(Key key, SettingRow row) throws IOException {
    store.transact(
        key.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, key)));
          if (!transaction.get(Tables.SETTING, key).equals(Optional.of(row))) {
            transaction.put(Tables.SETTING, key, row);
          }
          return null;
        });
  }

  private static Key key(String name) {
    return Tables.named(CODE + name);
  }
}
