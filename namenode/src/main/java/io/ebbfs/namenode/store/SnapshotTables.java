package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The keys of the rows of snapshots, and reads of them. The ids of snapshots grow in the order in
 * which snapshots are created, whichever directory they are of, so they serve as times. Stateless.
 */
public final class SnapshotTables {
  /** Partition of the directories of which snapshots may be created. No inode has this id. */
  public static final long SNAPSHOTTABLE = 0;

  /** Partition of the deleted snapshots with rows that are yet to be removed. No inode has it. */
  public static final long DELETED = 2;

  private static final int PAGE = 100;

  /** Set in the partitions of the index by snapshots; no inode has an id as great. */
  private static final long INDEX = Long.MIN_VALUE;

  /**
   * Locked by whoever creates or deletes snapshots, and shared by whoever removes or moves
   * directories that may have snapshots.
   */
  public static final Key LOCK = Tables.named("snapshots");

  private static final Key LAST_ID = Tables.named("snapshotId");

  private SnapshotTables() {}

  /** The key of the counter whose value is the id of the snapshot that was created last. */
  public static Key lastId() {
    return LAST_ID;
  }

  public static Key snapshot(long directoryId, long snapshotId) {
    return Key.of(directoryId, snapshotId);
  }

  public static Key snapshottable(long directoryId) {
    return Key.of(SNAPSHOTTABLE, directoryId);
  }

  public static Key deleted(long directoryId, long snapshotId) {
    return Key.of(
        DELETED,
        ByteBuffer.allocate(2 * Long.BYTES).putLong(directoryId).putLong(snapshotId).array());
  }

  // ---- versions ---------------------------------------------------------------------------------

  /**
   * The key of an old row of an entry. The rows of a directory are in the order of the names: a
   * zero byte of a name becomes 0 255, and 0 1 ends the name.
   */
  public static Key version(long parentId, byte[] name, long snapshotId) {
    byte[] escaped = escaped(name);
    return Key.of(
        parentId,
        ByteBuffer.allocate(escaped.length + Long.BYTES).put(escaped).putLong(snapshotId).array());
  }

  /** The key behind all old rows of an entry. */
  public static Key versionsEnd(long parentId, byte[] name) {
    byte[] end = escaped(name);
    end[end.length - 1]++;
    return Key.of(parentId, end);
  }

  private static byte[] escaped(byte[] name) {
    int zeros = 0;
    for (byte b : name) {
      zeros += b == 0 ? 1 : 0;
    }
    ByteBuffer escaped = ByteBuffer.allocate(name.length + zeros + 2);
    for (byte b : name) {
      escaped.put(b);
      if (b == 0) {
        escaped.put((byte) 0xff);
      }
    }
    return escaped.put((byte) 0).put((byte) 1).array();
  }

  /** The name in the key of an old row. */
  public static byte[] versionName(Key key) {
    byte[] rest = key.rest();
    ByteBuffer name = ByteBuffer.allocate(rest.length);
    int end = rest.length - Long.BYTES - 2;
    for (int i = 0; i < end; i++) {
      name.put(rest[i]);
      if (rest[i] == 0) {
        i++;
      }
    }
    return Arrays.copyOf(name.array(), name.position());
  }

  /** The snapshot in the key of an old row. */
  public static long versionSnapshot(Key key) {
    return ByteBuffer.wrap(key.rest()).getLong(key.rest().length - Long.BYTES);
  }

  /** Whether a key of the table version belongs to the index by snapshots. */
  public static boolean isIndex(Key key) {
    return (key.partition() & INDEX) != 0;
  }

  /** The partition of the index that names all old rows kept for a snapshot. */
  public static long index(long snapshotId) {
    return snapshotId | INDEX;
  }

  /** The key in the index of an old row. */
  public static Key indexed(long snapshotId, long parentId, byte[] name) {
    return Key.of(
        index(snapshotId),
        ByteBuffer.allocate(Long.BYTES + name.length).putLong(parentId).put(name).array());
  }

  /** The entry that a key of the index names, as the key of its row in the table inode. */
  public static Key entryOf(Key indexed) {
    return Tables.inode(
        indexed.firstLong(), Arrays.copyOfRange(indexed.rest(), Long.BYTES, indexed.rest().length));
  }

  /** Writes an old row and its place in the index. */
  public static void putVersion(
      Transaction transaction, Key entry, long snapshotId, VersionRow row) {
    transaction.put(Tables.VERSION, version(entry.partition(), entry.rest(), snapshotId), row);
    transaction.put(
        Tables.VERSION,
        indexed(snapshotId, entry.partition(), entry.rest()),
        VersionRow.newBuilder().setAfter(row.getAfter()).build());
  }

  public static void deleteVersion(Transaction transaction, Key entry, long snapshotId) {
    transaction.delete(Tables.VERSION, version(entry.partition(), entry.rest(), snapshotId));
    transaction.delete(Tables.VERSION, indexed(snapshotId, entry.partition(), entry.rest()));
  }

  // ---- snapshots --------------------------------------------------------------------------------

  /** The snapshots of a directory in the order of their creation. */
  public static List<Row<SnapshotRow>> of(Transaction transaction, long directoryId)
      throws IOException {
    return transaction.scan(Tables.SNAPSHOT, directoryId);
  }

  /** The newest snapshot of a directory behind one id, and up to another one. */
  public static Optional<Long> newest(
      Transaction transaction, long directoryId, long after, long upTo) throws IOException {
    if (after >= upTo) {
      return Optional.empty();
    }
    if (transaction.get(Tables.SNAPSHOT, snapshot(directoryId, upTo)).isPresent()) {
      return Optional.of(upTo); // mostly: it is the newest of all, and was not deleted
    }
    long[] newest = {0};
    each(
        transaction,
        snapshot(directoryId, after),
        snapshot(directoryId, upTo + 1),
        row -> newest[0] = row.key().firstLong());
    return newest[0] == 0 ? Optional.empty() : Optional.of(newest[0]);
  }

  /** The number of snapshots of a directory. */
  public static int count(Transaction transaction, long directoryId) throws IOException {
    int[] count = {0};
    each(transaction, snapshot(directoryId, 0), Key.endOf(directoryId), row -> count[0]++);
    return count[0];
  }

  /** The snapshot of a directory with a name. */
  public static Optional<Row<SnapshotRow>> named(
      Transaction transaction, long directoryId, String name) throws IOException {
    List<Row<SnapshotRow>> found = new ArrayList<>(1);
    each(
        transaction,
        snapshot(directoryId, 0),
        Key.endOf(directoryId),
        row -> {
          if (row.value().getName().equals(name)) {
            found.add(row);
          }
        });
    return found.stream().findFirst();
  }

  /** Reads rows of snapshots page by page: each may hold the attributes of a directory. */
  private static void each(
      Transaction transaction, Key after, Key before, Consumer<Row<SnapshotRow>> row)
      throws IOException {
    Key from = after;
    List<Row<SnapshotRow>> page;
    do {
      page = transaction.scan(Tables.SNAPSHOT, after.partition(), from, before, PAGE);
      page.forEach(row);
      from = page.isEmpty() ? from : page.get(page.size() - 1).key();
    } while (page.size() == PAGE);
  }

  /**
   * The newest snapshot of a span behind an id. If its very newest one is not found, the notes of
   * the transaction tell.
   */
  static Optional<Long> newest(Transaction transaction, SnapshotSpanProto span, long after)
      throws IOException {
    long directoryId = span.getDirectoryId();
    long upTo = span.getNewest();
    Optional<Long> found = newest(transaction, directoryId, after, upTo);
    if (transaction.isShared() && after < upTo && found.orElse(0L) != upTo) {
      transaction.snapshots().noteAbsent(snapshot(directoryId, upTo));
    }
    return found;
  }

  /** Whether a snapshot sees the row of an entry, in a place that snapshots of these spans see. */
  public static boolean isSeen(
      Transaction transaction, InodeRow entry, List<SnapshotSpanProto> spans) throws IOException {
    for (SnapshotSpanProto span : spans) {
      if (newest(transaction, span, entry.getChangedAfterSnapshot()).isPresent()) {
        return true;
      }
    }
    return false;
  }

  /** The spans of both lists, one for each directory. */
  public static List<SnapshotSpanProto> merged(
      List<SnapshotSpanProto> one, List<SnapshotSpanProto> other) {
    if (one.isEmpty() || other.isEmpty()) {
      return one.isEmpty() ? other : one;
    }
    Map<Long, Long> newest = new TreeMap<>();
    one.forEach(span -> newest.merge(span.getDirectoryId(), span.getNewest(), Math::max));
    other.forEach(span -> newest.merge(span.getDirectoryId(), span.getNewest(), Math::max));
    List<SnapshotSpanProto> merged = new ArrayList<>();
    newest.forEach((directoryId, id) -> merged.add(span(directoryId, id)));
    return merged;
  }

  /** The newest snapshot of a directory among spans; 0 for none. */
  public static long newestOf(long directoryId, List<SnapshotSpanProto> spans) {
    return spans.stream()
        .filter(span -> span.getDirectoryId() == directoryId)
        .mapToLong(SnapshotSpanProto::getNewest)
        .max()
        .orElse(0);
  }

  public static SnapshotSpanProto span(long directoryId, long newest) {
    return SnapshotSpanProto.newBuilder().setDirectoryId(directoryId).setNewest(newest).build();
  }

  /** The row of an inode that more snapshots may see. */
  public static InodeRow with(InodeRow row, List<SnapshotSpanProto> more) {
    if (more.isEmpty()) {
      return row;
    }
    List<SnapshotSpanProto> all = merged(row.getSnapshotSpansList(), more);
    return all.equals(row.getSnapshotSpansList())
        ? row
        : row.toBuilder().clearSnapshotSpans().addAllSnapshotSpans(all).build();
  }
}
