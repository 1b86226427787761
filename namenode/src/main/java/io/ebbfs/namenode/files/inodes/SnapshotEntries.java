package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import io.ebbfs.protocol.proto.StoreProtos.XAttrRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Reads entries of directories as a snapshot shows them: the row of now if it was not changed after
 * the snapshot, else the old row that holds for the snapshot. The row of now is read first, so a
 * change meanwhile hides neither. The nodes of a shared store write the rows of a commit one after
 * the other, so there one reads again what seems to be missing.
 */
public final class SnapshotEntries {
  /** The number that stands for the entries of now. */
  public static final long NOW = Long.MAX_VALUE;

  private static final int PAGE = 500;

  /** So often a shared store is asked for an entry that it does not have. */
  private static final int READS_OF_NOTHING = 3;

  /** So often a page is read from a shared store until two pages are the same. */
  private static final int MOST_READS = 6;

  /** Old rows may have extended attributes, which are large. */
  private static final int OLD_PAGE = 64;

  /**
   * An entry of a directory.
   *
   * @param attributes its extended attributes, if the row is an old one; else null
   */
  public record Entry(Inode inode, XAttrRow attributes) {}

  private SnapshotEntries() {}

  /** The entry that a snapshot shows at a key; {@link #NOW} is allowed. */
  public static Optional<Entry> entry(Transaction transaction, long snapshotId, Key key)
      throws IOException {
    if (snapshotId == NOW) {
      return transaction.get(Tables.INODE, key).map(row -> new Entry(new Inode(key, row), null));
    }
    Optional<Entry> found = shown(transaction, snapshotId, key);
    for (int i = 1; found.isEmpty() && transaction.isShared() && i < READS_OF_NOTHING; i++) {
      found = shown(transaction, snapshotId, key);
    }
    return found;
  }

  private static Optional<Entry> shown(Transaction transaction, long snapshotId, Key key)
      throws IOException {
    Optional<InodeRow> now =
        transaction.get(Tables.INODE, key).filter(row -> isUnchanged(row, snapshotId));
    if (now.isPresent()) {
      return Optional.of(entry(key, now.get(), null));
    }
    List<Row<VersionRow>> old =
        transaction.scan(
            Tables.VERSION,
            key.partition(),
            SnapshotTables.version(key.partition(), key.rest(), snapshotId - 1),
            SnapshotTables.versionsEnd(key.partition(), key.rest()),
            1);
    return old.stream()
        .map(Row::value)
        .filter(version -> version.getAfter() < snapshotId)
        .map(version -> entry(key, version))
        .findFirst();
  }

  private static boolean isUnchanged(InodeRow row, long snapshotId) {
    return row.getChangedAfterSnapshot() < snapshotId;
  }

  private static Entry entry(Key key, VersionRow version) {
    return entry(key, version.getInode(), version.hasAttributes() ? version.getAttributes() : null);
  }

  /** A file that was being truncated has the length that it was to get. */
  private static Entry entry(Key key, InodeRow row, XAttrRow attributes) {
    InodeRow shown = row;
    if (row.getUnderConstruction().hasTruncatedLengthBytes()) {
      long cut = row.getUnderConstruction().getTruncatedLengthBytes();
      shown = row.toBuilder().setLengthBytes(Math.min(row.getLengthBytes(), cut)).build();
    }
    return new Entry(new Inode(key, shown), attributes);
  }

  /**
   * Entries of a directory in the order of their names.
   *
   * @param startAfter the last name of the previous page; empty for the first page
   */
  public static List<Entry> page(
      Transaction transaction, long snapshotId, long directoryId, byte[] startAfter, int limit)
      throws IOException {
    Key after = startAfter.length == 0 ? null : Tables.inode(directoryId, startAfter);
    if (snapshotId == NOW) {
      return transaction.scan(Tables.INODE, directoryId, after, limit).stream()
          .map(row -> new Entry(new Inode(row.key(), row.value()), null))
          .toList();
    }
    List<Entry> found = new Merge(transaction, snapshotId, directoryId, after).next(limit);
    for (int reads = 1; transaction.isShared() && reads < MOST_READS; reads++) {
      List<Entry> before = found;
      found = new Merge(transaction, snapshotId, directoryId, after).next(limit);
      if (ids(found).equals(ids(before))) {
        break;
      }
    }
    return found;
  }

  private static List<Long> ids(List<Entry> entries) {
    return entries.stream().map(entry -> entry.inode().id()).toList();
  }

  /** Entries of a directory at a path into snapshots, or the snapshots in the order of names. */
  public static List<Inode> list(
      Transaction transaction, ResolvedPath path, byte[] startAfter, int limit) throws IOException {
    Inode directory = path.lastFound();
    if (!path.isSnapshotList()) {
      return page(transaction, path.snapshotId(), directory.id(), startAfter, limit).stream()
          .map(Entry::inode)
          .toList();
    }
    return SnapshotTables.of(transaction, directory.id()).stream()
        .map(
            row ->
                new Inode(
                    Tables.inode(
                        directory.id(), row.value().getName().getBytes(StandardCharsets.UTF_8)),
                    row.value().getDirectory()))
        .filter(shown -> Arrays.compareUnsigned(shown.name(), startAfter) > 0)
        .sorted(Comparator.comparing(Inode::key))
        .limit(limit)
        .toList();
  }

  /** Merges the rows of now with old rows. */
  private static final class Merge {
    private final Transaction transaction;
    private final long snapshotId;
    private final long directoryId;
    private final ArrayDeque<Row<InodeRow>> now = new ArrayDeque<>();
    private final ArrayDeque<Row<VersionRow>> old = new ArrayDeque<>();
    private Key nowAfter;
    private Key oldAfter;
    private boolean nowEnds;
    private boolean oldEnds;

    Merge(Transaction transaction, long snapshotId, long directoryId, Key after) {
      this.transaction = transaction;
      this.snapshotId = snapshotId;
      this.directoryId = directoryId;
      this.nowAfter = after;
      this.oldAfter = after == null ? null : SnapshotTables.versionsEnd(directoryId, after.rest());
    }

    List<Entry> next(int limit) throws IOException {
      List<Entry> page = new ArrayList<>();
      while (page.size() < limit && fill()) {
        int order = order();
        Row<InodeRow> row = order <= 0 ? now.poll() : null;
        Entry shown =
            row != null && isUnchanged(row.value(), snapshotId)
                ? entry(row.key(), row.value(), null)
                : null;
        if (order >= 0) {
          Entry earlier = earlier();
          shown = shown == null ? earlier : shown;
        }
        if (shown != null) {
          page.add(shown);
        }
      }
      return page;
    }

    /** Reads on where a list has ended. Rows of now are read first. */
    private boolean fill() throws IOException {
      if (now.isEmpty() && !nowEnds) {
        now.addAll(transaction.scan(Tables.INODE, directoryId, nowAfter, PAGE));
        nowEnds = now.size() < PAGE;
        nowAfter = now.isEmpty() ? nowAfter : now.getLast().key();
      }
      fillOld();
      return !now.isEmpty() || !old.isEmpty();
    }

    private void fillOld() throws IOException {
      if (old.isEmpty() && !oldEnds) {
        old.addAll(transaction.scan(Tables.VERSION, directoryId, oldAfter, OLD_PAGE));
        oldEnds = old.size() < OLD_PAGE;
        oldAfter = old.isEmpty() ? oldAfter : old.getLast().key();
      }
    }

    /** Below 0 if the next name is one of now, above 0 if it is an old one, 0 if it is both. */
    private int order() {
      if (now.isEmpty() || old.isEmpty()) {
        return now.isEmpty() ? 1 : -1;
      }
      return Arrays.compareUnsigned(
          now.peek().key().rest(), SnapshotTables.versionName(old.peek().key()));
    }

    /** Takes all old rows of the next name; the one that holds for the snapshot, or null. */
    private Entry earlier() throws IOException {
      byte[] name = SnapshotTables.versionName(old.peek().key());
      Entry found = null;
      while (!old.isEmpty() && Arrays.equals(SnapshotTables.versionName(old.peek().key()), name)) {
        Row<VersionRow> row = old.poll();
        boolean holds =
            SnapshotTables.versionSnapshot(row.key()) >= snapshotId
                && row.value().getAfter() < snapshotId;
        if (holds && found == null) {
          found = entry(Tables.inode(directoryId, name), row.value());
        }
        fillOld();
      }
      return found;
    }
  }
}
