package io.ebbfs.namenode.files.snapshots;

import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.SnapshotException;

/** Protects directories with snapshots, and files that snapshots show. Stateless. */
public final class SnapshotGuard {
  private SnapshotGuard() {}

  /**
   * The lock to take before {@link #refuseWithSnapshots}: nobody creates a snapshot meanwhile.
   * Empty in a store that has never had snapshots.
   */
  public static Optional<RowLock> lockFor(Transaction transaction, Inode inode) throws IOException {
    return inode.isDirectory() && StoreFormat.hasSnapshots(transaction)
        ? Optional.of(RowLock.shared(Tables.SETTING, SnapshotTables.LOCK))
        : Optional.empty();
  }

  /**
   * Asks again, under the lock of the directory, whether there was no lock to take. The very first
   * directory of a store may have become snapshottable meanwhile.
   *
   * @param taken what {@link #lockFor} told
   * @throws StaleReadException if there is a lock to take now
   */
  public static void requireStillNeedless(
      Transaction transaction, Inode locked, Optional<RowLock> taken) throws IOException {
    if (taken.isEmpty() && lockFor(transaction, locked).isPresent()) {
      throw new StaleReadException("the store has got its first directory with snapshots");
    }
  }

  /**
   * Refuses a directory that has snapshots, or has a directory with snapshots below it.
   *
   * @return the ids of the directories there of which snapshots may be created
   * @throws SnapshotException as in HDFS
   */
  public static List<Long> refuseWithSnapshots(Transaction transaction, ResolvedPath top)
      throws IOException {
    List<Long> allowed = new ArrayList<>();
    for (long id : snapshottable(transaction)) {
      if (!PathResolver.isWithin(transaction, id, top.lastFound().id())) {
        continue;
      }
      if (!transaction.scan(Tables.SNAPSHOT, id, null, 1).isEmpty()) {
        String path = PathResolver.pathOf(transaction, id).map(FsPath::toString).orElse("" + id);
        throw new SnapshotException(
            "The directory %s cannot be deleted since %s is snapshottable and already has snapshots"
                .formatted(path, path));
      }
      allowed.add(id);
    }
    return allowed;
  }

  /** The ids of all directories of which snapshots may be created. */
  static List<Long> snapshottable(Transaction transaction) throws IOException {
    return transaction.scan(Tables.SNAPSHOT, SnapshotTables.SNAPSHOTTABLE).stream()
        .map(Row<SnapshotRow>::key)
        .map(key -> key.firstLong())
        .toList();
  }

  /**
   * Refuses that a directory of which snapshots may be created gets into another such directory.
   *
   * @param moved the ids of such directories in the tree that moves
   */
  public static void refuseNested(List<Long> moved, ResolvedPath from, ResolvedPath to)
      throws SnapshotException {
    if (moved.isEmpty()) {
      return;
    }
    for (Inode above : to.inodes().subList(0, Math.min(to.inodes().size(), to.path().depth()))) {
      if (above.row().getSnapshottable()) {
        throw new SnapshotException(
            "Nested snapshottable directories not allowed: %s contains a snapshottable directory, and an ancestor of %s is one: run 'hdfs dfsadmin -disallowSnapshot' for one of them"
                .formatted(from.path(), to.path()));
      }
    }
  }

  /**
   * Whether a snapshot shows a file: perhaps with an older row than the one of now.
   *
   * @param file whose path the transaction has resolved
   */
  public static boolean isShown(Transaction transaction, Inode file) throws IOException {
    return file.row().getVersions() > 0
        || SnapshotTables.isSeen(
            transaction, file.row(), transaction.snapshots().of(file.parentId()));
  }
}
