package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
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
   * file without blocks is removed at once, because nothing is below it. The inode counts in no
   * quota any more; what lies in a directory that is not counted by itself does until the reaper
   * removes it.
   *
   * @return whether the reaper has something to remove
   */
  public static boolean put(Transaction transaction, Inode inode) {
    if (inode.isFile() && inode.row().getBlocks() == 0) {
      remove(transaction, inode);
      return false;
    }
    transaction.delete(Tables.INODE, inode.key());
    DirectoryRows.put(transaction, key(inode.id()), QuotaMarks.unmarked(inode.row()));
    return true;
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
    return Tables.inode(
        Inode.PENDING_DELETION_ID, ByteBuffer.allocate(Long.BYTES).putLong(inodeId).array());
  }
}
