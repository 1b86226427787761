package io.ebbfs.namenode.files.inodes;

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
   * Moves a locked inode, with everything below it, from its directory to the pending deletions.
   */
  public static void put(Transaction transaction, Inode inode) {
    transaction.delete(Tables.INODE, inode.key());
    DirectoryRows.put(transaction, key(inode.id()), inode.row());
  }

  private static Key key(long inodeId) {
    return Tables.inode(
        Inode.PENDING_DELETION_ID, ByteBuffer.allocate(Long.BYTES).putLong(inodeId).array());
  }
}
