package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.Test;

/** A transaction in a shared store that sees parts of the commit that creates a snapshot. */
class SnapshotLedgerTest {
  private static final long TOP = 100;
  private static final Key ENTRY = Tables.inode(TOP, "f".getBytes(StandardCharsets.UTF_8));
  private static final Key SNAPSHOT = SnapshotTables.snapshot(TOP, 5);

  private final Map<RowKey, MessageLite> rows = new HashMap<>();
  // Rows of a commit that are seen only under their locks.
  private final Set<Key> late = new HashSet<>();
  private final BufferedTransaction transaction =
      new BufferedTransaction(
          new Rows(), new LockTable(1_000).holder(), Optional.of(new DirectoryHints()));

  private final class Rows implements BufferedTransaction.Committed {
    @Override
    @SuppressWarnings("unchecked") // the test puts rows of the type of their table
    public <V extends MessageLite> V get(Table<V> table, Key key) {
      return late.contains(key) ? null : (V) rows.get(new RowKey(table, key));
    }

    @Override
    public <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys) {
      return keys.stream().map(key -> get(table, key)).toList();
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scan(
        Table<V> table, long partition, Key after, Key before, int limit) {
      return List.of();
    }
  }

  /** Lets the transaction see late rows that it locks. */
  private Transaction locking() {
    return (Transaction)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Transaction.class},
            (self, method, arguments) -> {
              if (method.getName().equals("lock")) {
                ((List<?>) arguments[0]).forEach(lock -> late.remove(((RowLock) lock).key()));
              }
              try {
                return method.invoke(transaction, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static InodeRow file(int permission) {
    return InodeRow.newBuilder()
        .setId(101)
        .setKind(InodeKindProto.FILE)
        .setOwner("o")
        .setGroup("g")
        .setPermission(permission)
        .setModifiedMillis(0)
        .build();
  }

  private void change() throws IOException {
    rows.put(new RowKey(Tables.INODE, ENTRY), file(0644));
    transaction.put(Tables.INODE, ENTRY, file(0600));
    new ChangeLog(new InMemoryStore()).addTo(transaction, locking());
  }

  private boolean keepsSomething() {
    return transaction.writes().keySet().stream().anyMatch(row -> row.table() == Tables.VERSION);
  }

  @Test
  void aSnapshotWhoseRowIsSeenLateLosesNothing() {
    rows.put(new RowKey(Tables.SNAPSHOT, SNAPSHOT), SnapshotRow.getDefaultInstance());
    late.add(SNAPSHOT);
    transaction.snapshots().note(TOP, List.of(SnapshotTables.span(TOP, 5)));
    assertThatThrownBy(this::change).isInstanceOf(StaleReadException.class);
  }

  @Test
  void nothingIsKeptForASnapshotThatWasDeleted() throws IOException {
    transaction.snapshots().note(TOP, List.of(SnapshotTables.span(TOP, 5)));
    change();
    assertThat(keepsSomething()).isFalse();
  }

  @Test
  void aTransactionThatHasNotSeenTheNewestSnapshotRunsAgain() {
    rows.put(
        new RowKey(Tables.SNAPSHOT, SnapshotTables.snapshottable(TOP)),
        SnapshotRow.newBuilder().setNewest(5).build());
    transaction.snapshots().noteTop(TOP, 5);
    transaction.snapshots().noteTop(TOP, 4);
    assertThatThrownBy(this::change).isInstanceOf(StaleReadException.class);
  }

  @Test
  void theRowsOfAnOlderVersionDoNotTellTheNewestSnapshot() throws IOException {
    rows.put(
        new RowKey(Tables.SNAPSHOT, SnapshotTables.snapshottable(TOP)),
        SnapshotRow.getDefaultInstance());
    rows.put(new RowKey(Tables.SNAPSHOT, SNAPSHOT), SnapshotRow.getDefaultInstance());
    transaction.snapshots().note(TOP, List.of(SnapshotTables.span(TOP, 5)));
    transaction.snapshots().noteTop(TOP, 5);
    change();
    assertThat(keepsSomething()).isTrue();
  }
}
