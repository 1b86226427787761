package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.nio.ByteBuffer;

/**
 * Moves deleted inodes under the parent {@link Inode#PENDING_DELETION_ID}, where no path leads. The
 * move writes a few rows, however large the tree below the inode is, so a delete is one small
 * transaction. The reaper removes the rows later.
 */
public final class PendingDeletions {
  private PendingDeletions() {}

  /**
   * Moves a locked inode, with everything below it, from its directory to the pending deletions. A
   * file without blocks is removed at once, because nothing is below it.
   *
   * @return whether the reaper has something to remove
   */
  public static boolean put(Transaction transaction, Inode inode) {
    if (inode.isFile() && inode.row().getBlocks() == 0) {
      remove(transaction, inode);
      return false;
    }
    transaction.delete(Tables.INODE, inode.key());
    InodeRow row = deleted(inode.row());
    DirectoryRows.put(
        transaction,
        key(inode.id()),
        SnapshotTables.with(row, transaction.snapshots().of(inode.parentId())));
    return true;
  }

  /**
   * A file, and a directory that is counted by itself, stop to count in the quotas above at once. A
   * directory and what lies in it count until their rows are removed; the mark tells where.
   */
  private static InodeRow deleted(InodeRow row) {
    boolean isWhole = row.getKind() == InodeKindProto.FILE || row.getCounted();
    return isWhole ? QuotaMarks.unmarked(row) : row;
  }

  /**
   * Moves a locked inode that snapshots show, with everything below it, from the pending deletions
   * to {@link Tables#KEPT_BY_SNAPSHOTS}. Nobody writes it any more.
   */
  public static void keep(Transaction transaction, Inode inode) {
    if (inode.isUnderConstruction()) {
      LeaseRows.remove(transaction, inode.row().getUnderConstruction().getClientName(), inode.id());
    }
    transaction.delete(Tables.INODE, inode.key());
    Key kept = Tables.inode(Tables.KEPT_BY_SNAPSHOTS, bytes(inode.id()));
    DirectoryRows.put(transaction, kept, inode.row().toBuilder().clearUnderConstruction().build());
  }

  /** Removes the rows of a locked inode that has no blocks and no entries. */
  public static void remove(Transaction transaction, Inode inode) {
    transaction.delete(Tables.INODE, inode.key());
    transaction.delete(Tables.INODE_NAME, Tables.inodeName(inode.id()));
    if (inode.row().getExtendedAttributes()) {
      transaction.delete(Tables.XATTR, Tables.xattr(inode.id()));
    }
    if (inode.isUnderConstruction()) {
      LeaseRows.remove(transaction, inode.row().getUnderConstruction().getClientName(), inode.id());
    }
  }

  private static Key key(long inodeId) {
    return Tables.inode(Inode.PENDING_DELETION_ID, bytes(inodeId));
  }

  private static byte[] bytes(long inodeId) {
    return ByteBuffer.allocate(Long.BYTES).putLong(inodeId).array();
  }
}
