package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
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
  private boolean changesInodes;

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
   * Locks the snapshots for which something was kept, and the rows that tell which snapshot is the
   * newest one of a directory. So each change is before or after the creation of a snapshot, for
   * all rows together. To be called when all other locks are taken.
   *
   * @throws StaleReadException if a snapshot was created or deleted meanwhile
   */
  void confirm(Transaction locking) throws IOException {
    if (transaction == null) {
      return;
    }
    Map<Key, Long> tops = changesInodes ? tops() : Map.of();
    List<RowLock> locks = new ArrayList<>();
    ownTops().forEach(key -> locks.add(RowLock.exclusive(Tables.SNAPSHOT, key)));
    keptFor.forEach(key -> locks.add(RowLock.shared(Tables.SNAPSHOT, key)));
    tops.keySet().forEach(key -> locks.add(RowLock.shared(Tables.SNAPSHOT, key)));
    Set<Key> absent = buffered.snapshots().absent();
    absent.forEach(key -> locks.add(RowLock.shared(Tables.SNAPSHOT, key)));
    Map<Key, Optional<VersionRow>> versions = buffered.snapshots().versions();
    versions.keySet().forEach(key -> locks.add(RowLock.exclusive(Tables.VERSION, key)));
    if (locks.isEmpty()) {
      return;
    }
    locking.lock(locks);
    for (Map.Entry<Key, Optional<VersionRow>> version : versions.entrySet()) {
      VersionRow now = buffered.committed(Tables.VERSION, List.of(version.getKey())).get(0);
      if (!Optional.ofNullable(now).equals(version.getValue())) {
        throw new StaleReadException("an old row of a snapshot has changed meanwhile");
      }
    }
    for (Map.Entry<Key, Long> top : tops.entrySet()) {
      if (newest(locking.get(Tables.SNAPSHOT, top.getKey())) > top.getValue()) {
        throw new StaleReadException("a snapshot was created meanwhile");
      }
    }
    for (Key key : keptFor) {
      if (locking.get(Tables.SNAPSHOT, key).isEmpty()) {
        throw new StaleReadException("snapshot " + key.firstLong() + " was deleted meanwhile");
      }
    }
    for (Key key : absent) {
      if (locking.get(Tables.SNAPSHOT, key).isPresent()) {
        throw new StaleReadException("snapshot " + key.firstLong() + " was not seen at first");
      }
    }
  }

  /** The rows of directories that may have snapshots, with the newest snapshot that was seen. */
  private Map<Key, Long> tops() {
    Map<Key, Long> tops = new TreeMap<>();
    buffered
        .snapshots()
        .tops()
        .forEach((id, newest) -> tops.put(SnapshotTables.snapshottable(id), newest));
    ownTops().forEach(tops::remove);
    return tops;
  }

  /** Such rows that the transaction itself writes: it creates a snapshot, for example. */
  private List<Key> ownTops() {
    return buffered.writes().keySet().stream()
        .filter(row -> row.table() == Tables.SNAPSHOT)
        .map(RowKey::key)
        .filter(key -> key.partition() == SnapshotTables.SNAPSHOTTABLE)
        .toList();
  }

  private static long newest(Optional<SnapshotRow> row) {
    return row.map(SnapshotRow::getNewest).orElse(0L);
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
    changesInodes = !after.isEmpty();
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
      Optional<Long> newest = SnapshotTables.newest(transaction, span, since);
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
