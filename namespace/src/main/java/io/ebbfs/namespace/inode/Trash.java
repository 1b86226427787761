package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import java.nio.ByteBuffer;

/**
 * Where deleted inodes hang until their rows are removed. To hang an inode there takes a few rows
 * however much lies below it, so a delete is one small transaction; see {@link Reaper}.
 */
final class Trash {
  private Trash() {}

  /** Takes a locked inode out of its directory; its row, with all below, now hangs in the trash. */
  static void put(Transaction transaction, Inode inode) {
    transaction.delete(Tables.INODE, inode.key());
    Directories.put(transaction, key(inode.id()), inode.row());
  }

  private static Key key(long inodeId) {
    return Tables.inode(Inode.TRASH_ID, ByteBuffer.allocate(Long.BYTES).putLong(inodeId).array());
  }
}
