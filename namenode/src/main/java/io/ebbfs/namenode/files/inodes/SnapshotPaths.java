package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException;

/** What paths have to do with snapshots: paths into a snapshot, and what to note of the others. */
final class SnapshotPaths {
  private SnapshotPaths() {}

  /** Notes which snapshots may see the entries of the directories on a path. */
  static void note(Transaction transaction, List<Inode> inodes) {
    List<SnapshotSpanProto> above = List.of();
    for (Inode inode : inodes) {
      if (inode.row().getSnapshotSpansCount() > 0) {
        above = SnapshotTables.merged(above, inode.row().getSnapshotSpansList());
      }
      if (inode.row().getSnapshottable()) {
        List<SnapshotSpanProto> own = inode.row().getSnapshotSpansList();
        transaction.snapshots().noteTop(inode.id(), SnapshotTables.newestOf(inode.id(), own));
      }
      if (!above.isEmpty()) {
        transaction.snapshots().note(inode.id(), above);
      }
    }
  }

  /**
   * The same, of the name rows of an inode.
   *
   * @param upwards the rows of the inode itself, of its directory and so on
   */
  static void noteNames(Transaction transaction, long inodeId, List<InodeNameRow> upwards) {
    List<SnapshotSpanProto> above = List.of();
    for (int i = upwards.size() - 1; i >= 0; i--) {
      InodeNameRow name = upwards.get(i);
      if (name.getSnapshotSpansCount() > 0) {
        above = SnapshotTables.merged(above, name.getSnapshotSpansList());
      }
      if (!above.isEmpty()) {
        long id = i == 0 ? inodeId : upwards.get(i - 1).getParentId();
        transaction.snapshots().note(id, above);
        long own = SnapshotTables.newestOf(id, name.getSnapshotSpansList());
        if (own > 0) {
          transaction.snapshots().noteTop(id, own);
        }
      }
    }
  }

  /** Whether a path goes on with ".snapshot" behind a directory that may have snapshots. */
  static boolean leadsIntoSnapshots(ResolvedPath path) {
    int depth = path.inodes().size();
    return depth <= path.path().depth()
        && path.path().name(depth).equals(SnapshotPlace.NAME)
        && path.lastFound().row().getSnapshottable();
  }

  /**
   * Refuses to change anything in a snapshot.
   *
   * @throws SnapshotAccessControlException if the path leads into one
   */
  static ResolvedPath requireNoSnapshot(ResolvedPath path) throws SnapshotAccessControlException {
    if (leadsIntoSnapshots(path)) {
      throw new SnapshotAccessControlException(
          "Modification on a read-only snapshot is disallowed: " + path.path());
    }
    return path;
  }

  /** Follows a path into a snapshot. */
  static ResolvedPath follow(Transaction transaction, ResolvedPath now) throws IOException {
    FsPath path = now.path();
    Inode directory = now.lastFound();
    List<Inode> inodes = new ArrayList<>(now.inodes());
    inodes.add(directory); // for who goes on below, .snapshot has the rights of the directory
    SnapshotPlace place = new SnapshotPlace(directory.id(), 0, null);
    if (inodes.size() > path.depth()) {
      inodes.set(path.depth(), list(directory));
      return new ResolvedPath(path, inodes, place);
    }
    Optional<Row<SnapshotRow>> snapshot =
        SnapshotTables.named(transaction, directory.id(), path.name(inodes.size()));
    if (snapshot.isEmpty()) {
      return new ResolvedPath(path, inodes, place);
    }
    SnapshotRow row = snapshot.get().value();
    long id = snapshot.get().key().firstLong();
    SnapshotEntries.Entry entry =
        new SnapshotEntries.Entry(
            new Inode(directory.key(), row.getDirectory()),
            row.hasAttributes() ? row.getAttributes() : null);
    inodes.add(entry.inode());
    while (inodes.size() <= path.depth() && entry.inode().isDirectory()) {
      Key key = Tables.inode(entry.inode().id(), path.nameBytes(inodes.size()));
      Optional<SnapshotEntries.Entry> next = SnapshotEntries.entry(transaction, id, key);
      if (next.isEmpty()) {
        break;
      }
      entry = next.get();
      inodes.add(entry.inode());
    }
    return new ResolvedPath(
        path, inodes, new SnapshotPlace(directory.id(), id, entry.attributes()));
  }

  /** The list of the snapshots of a directory as HDFS shows it: of nobody, and open to all. */
  private static Inode list(Inode directory) {
    return directory.with(
        InodeRow.newBuilder()
            .setId(directory.id())
            .setKind(InodeKindProto.DIRECTORY)
            .setOwner("")
            .setGroup("")
            .setPermission(0777)
            .setModifiedMillis(0)
            .build());
  }
}
