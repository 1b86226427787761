package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads entries of a directory so that no rename hides one. A node of a shared store writes the
 * rows of a commit one after the other while a scan goes on. So a scan may pass the new name of an
 * entry before the rename writes that name, and the old name after the rename has removed it: then
 * the scan lacks the entry. A second scan, which begins after the first one has ended, has the
 * entry. A scan counts once it has all entries of the scan before it, because no entry was renamed
 * or deleted between these two scans.
 *
 * <p>One mkdir may make a directory and its first entry, and the store may show the directory
 * first. So an empty directory that was made or changed a short time ago is read again after the
 * commits on its entries.
 */
final class EntryScan {
  /** In a directory whose entries are renamed or deleted all the time, the last scan counts. */
  private static final int MOST_SCANS = 6;

  private EntryScan() {}

  /**
   * The first entries of a directory, in the order of their names.
   *
   * @param startAfter a name; empty for the first entry
   */
  static List<Row<InodeRow>> run(
      Transaction transaction, Inode directory, byte[] startAfter, int limit) throws IOException {
    long directoryId = directory.id();
    Key after = startAfter.length == 0 ? null : Tables.inode(directoryId, startAfter);
    List<Row<InodeRow>> found = transaction.scan(Tables.INODE, directoryId, after, limit);
    if (found.isEmpty()
        && after == null
        && transaction.awaitCommits(directoryId, directory.row().getModifiedMillis())) {
      found = transaction.scan(Tables.INODE, directoryId, null, limit);
    }
    for (int scans = 1; transaction.isShared() && scans < MOST_SCANS; scans++) {
      List<Row<InodeRow>> before = found;
      found = transaction.scan(Tables.INODE, directoryId, after, limit);
      if (hasAllOf(found, before, limit)) {
        break;
      }
    }
    return found;
  }

  /** Whether a scan has the entries of an earlier one, up to where a full page ends. */
  private static boolean hasAllOf(
      List<Row<InodeRow>> found, List<Row<InodeRow>> before, int limit) {
    Key end = found.size() < limit ? null : found.get(found.size() - 1).key();
    Set<Long> ids = new HashSet<>();
    found.forEach(row -> ids.add(row.value().getId()));
    return before.stream()
        .filter(row -> end == null || row.key().compareTo(end) <= 0)
        .allMatch(row -> ids.contains(row.value().getId()));
  }
}
