package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.FileStatusConverter;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.snapshots.SnapshotDifferences;
import io.ebbfs.namenode.files.snapshots.SnapshotDifferences.Change;
import io.ebbfs.namenode.files.snapshots.SnapshotService;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hdfs.client.impl.SnapshotDiffReportGenerator;
import org.apache.hadoop.hdfs.protocol.SnapshotDiffReport;
import org.apache.hadoop.hdfs.protocol.SnapshotDiffReportListing;
import org.apache.hadoop.hdfs.protocol.SnapshotDiffReportListing.DiffReportListingEntry;
import org.apache.hadoop.hdfs.protocol.SnapshotStatus;
import org.apache.hadoop.hdfs.protocol.SnapshottableDirectoryStatus;

/** Converts what is known of snapshots to the answers that HDFS clients read. */
final class SnapshotConverter {
  private static final int SNAPSHOT_QUOTA = 65_536;

  /** The limit of entries in an answer, as in HDFS. */
  private static final int PAGE = 1_000;

  /** Where the next page begins is told by the index alone; the path only has to be there. */
  private static final byte[] MORE = {'/'};

  private static final byte[] END = {};

  private SnapshotConverter() {}

  static SnapshottableDirectoryStatus directory(SnapshotService.Snapshottable found) {
    String path = found.path().toString();
    String parent = path.substring(0, Math.max(1, path.lastIndexOf('/')));
    return new SnapshottableDirectoryStatus(
        FileStatusConverter.of(found.inode(), found.inode().name()),
        found.snapshots(),
        SNAPSHOT_QUOTA,
        parent.getBytes(StandardCharsets.UTF_8));
  }

  static SnapshotStatus snapshot(Row<SnapshotRow> row, byte[] directory) {
    byte[] name = row.value().getName().getBytes(StandardCharsets.UTF_8);
    Inode inode = new Inode(row.key(), row.value().getDirectory());
    return new SnapshotStatus(
        FileStatusConverter.of(inode, name), (int) row.key().firstLong(), false, directory);
  }

  static SnapshotDiffReport report(SnapshotDifferences found, String from, String to) {
    return new SnapshotDiffReportGenerator(
            found.root(),
            from,
            to,
            found.isFromEarlier(),
            entries(found.modified()),
            entries(found.created()),
            entries(found.deleted()))
        .generateReport();
  }

  /** A page of the modified, created and deleted entries, in this order. */
  static SnapshotDiffReportListing page(SnapshotDifferences found, byte[] startPath, int index) {
    int start = startPath.length == 0 || index < 0 ? 0 : index;
    int modified = found.modified().size();
    int created = modified + found.created().size();
    int all = created + found.deleted().size();
    int end = Math.min(all, start + PAGE);
    boolean more = end < all;
    return new SnapshotDiffReportListing(
        more ? MORE : END,
        entries(part(found.modified(), start, end)),
        entries(part(found.created(), start - modified, end - modified)),
        entries(part(found.deleted(), start - created, end - created)),
        more ? end : -1,
        found.isFromEarlier());
  }

  private static List<Change> part(List<Change> all, int start, int end) {
    int from = Math.min(all.size(), Math.max(0, start));
    return all.subList(from, Math.max(from, Math.min(all.size(), end)));
  }

  private static List<DiffReportListingEntry> entries(List<Change> changes) {
    List<DiffReportListingEntry> entries = new ArrayList<>(changes.size());
    for (Change change : changes) {
      entries.add(
          new DiffReportListingEntry(
              change.directoryId(),
              change.inodeId(),
              path(change.path()),
              change.isMoved(),
              change.target() == null ? null : path(change.target())));
    }
    return entries;
  }

  private static byte[][] path(List<byte[]> names) {
    return names.toArray(byte[][]::new);
  }
}
