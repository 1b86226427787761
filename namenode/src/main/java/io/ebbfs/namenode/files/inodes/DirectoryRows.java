package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.DirectoryTimes;
import io.ebbfs.namenode.store.DirectoryTimes.Pending;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/** Reads and writes rows of directories and their entries, in a transaction of the caller. */
public final class DirectoryRows {
  /** The owner and the time of new directories. Their group is that of the directory above. */
  public record Maker(String user, long nowMillis) {}

  private DirectoryRows() {}

  /** Writes the row of an inode, and the name row that leads from its id to the inode row. */
  public static Inode put(Transaction transaction, Key key, InodeRow row) {
    transaction.put(Tables.INODE, key, row);
    transaction.put(
        Tables.INODE_NAME,
        Tables.inodeName(row.getId()),
        InodeNameRow.newBuilder()
            .setParentId(key.partition())
            .setName(ByteString.copyFrom(key.rest()))
            .addAllSnapshotSpans(row.getSnapshotSpansList())
            .build());
    transaction
        .hints()
        .ifPresent(
            hints ->
                transaction.afterCommit(known -> hints.noteParent(row.getId(), key.partition())));
    return new Inode(key, row);
  }

  /**
   * Whether this process writes the time of a directory later, so that a change of its entries does
   * not write the row of the directory: see {@link DirectoryTimes}.
   */
  static boolean isTimeMerged(Transaction transaction, Inode directory) {
    return transaction.hints().filter(h -> !h.times().writesNow(directory.id())).isPresent();
  }

  /**
   * Sets the modification time of a directory, because its entries change. The caller has locked
   * the directory by {@link InodeLocks#lockEntries}.
   */
  public static void touch(Transaction transaction, Inode directory, long nowMillis) {
    boolean isMerged = isTimeMerged(transaction, directory);
    transaction
        .hints()
        .map(DirectoryHints::times)
        .ifPresent(times -> noteTime(transaction, times, directory, nowMillis, !isMerged));
    if (isMerged) {
      return;
    }
    if (directory.row().getModifiedMillis() != nowMillis) {
      transaction.put(
          Tables.INODE,
          directory.key(),
          directory.row().toBuilder().setModifiedMillis(nowMillis).build());
    }
  }

  private static void noteTime(
      Transaction transaction,
      DirectoryTimes times,
      Inode directory,
      long nowMillis,
      boolean isWritten) {
    Pending time = new Pending(nowMillis, directory.row().getTimesSet());
    transaction.afterCommit(
        known -> {
          if (isWritten && known) {
            times.noteWritten(directory.id(), time);
          } else {
            times.noteLater(directory.id(), time);
          }
        });
  }

  public static boolean isEmpty(Transaction transaction, Inode directory) throws IOException {
    return transaction.scan(Tables.INODE, directory.id(), null, 1).isEmpty();
  }

  /**
   * Makes the missing directories of a path down to a depth. The caller has locked the deepest
   * existing inode and the first missing key. That is enough, because nobody can reach the new
   * directories below.
   *
   * @param above the deepest existing inode, read under its lock
   * @return the directory at the last depth
   */
  public static Inode makeMissing(
      Transaction transaction,
      FsPath path,
      Inode above,
      int firstDepth,
      int lastDepth,
      CreateModes modes,
      Maker maker,
      Iterator<Long> ids) {
    Inode parent = above;
    for (int depth = firstDepth; depth <= lastDepth; depth++) {
      InodeRow.Builder row =
          InodeRow.newBuilder()
              .setId(ids.next())
              .setKind(InodeKindProto.DIRECTORY)
              .setOwner(maker.user())
              .setGroup(parent.row().getGroup())
              .setModifiedMillis(maker.nowMillis());
      AclRows.inherit(row, parent.row(), depth == path.depth() ? modes : modes.above());
      Key key = Tables.inode(parent.id(), path.nameBytes(depth));
      parent = put(transaction, key, QuotaMarks.entering(row, parent.row()).build());
    }
    return parent;
  }
}
