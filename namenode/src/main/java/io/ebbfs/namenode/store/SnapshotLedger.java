package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Keeps what snapshots show. The ledger compares the inode rows that a transaction writes with the
 * rows as they were, and writes an old row to the table version in the same commit, if a snapshot
 * sees it. So no operation has to remember snapshots. Which directories snapshots may see is in the
 * {@link SnapshotNotes} of the transaction; without notes, the ledger does nothing.
 *
 * <p>A row says behind which snapshot it was changed. So only the first change of a row after a
 * snapshot looks for snapshots and keeps something.
 */
final class SnapshotLedger {
  private static final SnapshotLedger NOTHING = new SnapshotLedger(null, null);

  private final Transaction transaction;
  private final BufferedTransaction buffered;
  // The rows of the snapshots for which something is kept: they must exist until the commit.
  private final TreeSet<Key> keptFor = new TreeSet<>();

  private SnapshotLedger(Transaction transaction, BufferedTransaction buffered) {
    this.transaction = transaction;
    this.buffered = buffered;
  }

  /**
   * Writes the old rows that snapshots see.
   *
   * @param transaction as its body sees it
   * @param buffered the same, for the rows as they were before it
   */
  static SnapshotLedger keep(Transaction transaction, BufferedTransaction buffered)
      throws IOException {
    if (buffered.snapshots().isEmpty()) {
      return NOTHING;
    }
    SnapshotLedger ledger = new SnapshotLedger(transaction, buffered);
    ledger.keep();
    return ledger;
  }

  /**
   * Locks the snapshots for which something was kept. To be called when all other locks are taken.
   *
   * @throws StaleReadException if one of them was deleted meanwhile
   */
  void confirm(Transaction locking) throws IOException {
    if (keptFor.isEmpty()) {
      return;
    }
    locking.lock(keptFor.stream().map(key -> RowLock.shared(Tables.SNAPSHOT, key)).toList());
    for (Key key : keptFor) {
      if (locking.get(Tables.SNAPSHOT, key).isEmpty()) {
        throw new StaleReadException("snapshot " + key.firstLong() + " was deleted meanwhile");
      }
    }
  }

  private void keep() throws IOException {
    Map<Key, InodeRow> after = new HashMap<>();
    Map<Long, Key> places = new HashMap<>();
    for (Map.Entry<RowKey, MessageLite> write : buffered.writes().entrySet()) {
      if (write.getKey().table() == Tables.INODE) {
        Key key = write.getKey().key();
        InodeRow row = (InodeRow) write.getValue();
        after.put(key, row);
        if (row != null) {
          places.put(row.getId(), key);
        }
      }
    }
    List<Key> keys = new ArrayList<>(new TreeSet<>(after.keySet()));
    keys.removeIf(key -> buffered.snapshots().of(key.partition()).isEmpty());
    List<InodeRow> before = keys.isEmpty() ? List.of() : buffered.committed(Tables.INODE, keys);
    for (int i = 0; i < keys.size(); i++) {
      stamp(keys.get(i), before.get(i), after);
    }
    for (int i = 0; i < keys.size(); i++) {
      if (before.get(i) != null) {
        keep(keys.get(i), before.get(i), after, places);
      }
    }
    after.forEach(
        (key, row) -> {
          if (row != null) {
            transaction.put(Tables.INODE, key, row);
          }
        });
  }

  /** Lets the row that is written say behind which snapshot it was changed. */
  private void stamp(Key key, InodeRow before, Map<Key, InodeRow> after) {
    InodeRow row = after.get(key);
    if (row == null) {
      return;
    }
    long newest = before == null ? 0 : before.getChangedAfterSnapshot();
    for (SnapshotSpanProto span : buffered.snapshots().of(key.partition())) {
      newest = Math.max(newest, span.getNewest());
    }
    if (newest != row.getChangedAfterSnapshot()) {
      after.put(key, row.toBuilder().setChangedAfterSnapshot(newest).build());
    }
  }

  private void keep(Key key, InodeRow before, Map<Key, InodeRow> after, Map<Long, Key> places)
      throws IOException {
    long since = before.getChangedAfterSnapshot();
    for (SnapshotSpanProto span : buffered.snapshots().of(key.partition())) {
      var newest =
          SnapshotTables.newest(transaction, span.getDirectoryId(), since, span.getNewest());
      if (newest.isEmpty()) {
        continue;
      }
      keptFor.add(SnapshotTables.snapshot(span.getDirectoryId(), newest.get()));
      SnapshotTables.putVersion(transaction, key, newest.get(), version(before, since));
      Key place = places.get(before.getId());
      if (place != null) {
        InodeRow now = after.get(place);
        after.put(place, now.toBuilder().setVersions(now.getVersions() + 1).build());
      }
    }
  }

  private VersionRow version(InodeRow before, long since) throws IOException {
    VersionRow.Builder version = VersionRow.newBuilder().setAfter(since).setInode(before);
    if (before.getExtendedAttributes()) {
      Key attributes = Tables.xattr(before.getId());
      var found = buffered.committed(Tables.XATTR, List.of(attributes)).get(0);
      if (found != null) {
        version.setAttributes(found);
      }
    }
    return version.build();
  }
}
