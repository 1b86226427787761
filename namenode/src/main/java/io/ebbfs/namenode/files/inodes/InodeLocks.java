package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.RowSet;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Locks rows of inodes and checks that the inodes have not changed their place meanwhile. */
public final class InodeLocks {
  private InodeLocks() {}

  /** Locks inodes for writing and reads them again, in the given order. */
  public static List<Inode> lock(Transaction transaction, List<Inode> inodes) throws IOException {
    return lockEntries(transaction, List.of(), inodes, List.of());
  }

  /**
   * Locks entries of directories for writing, and the directories so that nobody removes or moves
   * them. Many changes of entries may hold one directory, if {@link DirectoryRows#touch} will not
   * write its row.
   *
   * @param inodes entries that exist, and perhaps the directories themselves
   * @param free keys where the caller will make inodes
   * @return the directories, then the inodes, read under the locks
   * @throws StaleReadException if one of them has moved or a key is not free
   */
  public static List<Inode> lockEntries(
      Transaction transaction, List<Inode> directories, List<Inode> inodes, List<Key> free)
      throws IOException {
    List<RowLock> locks = new ArrayList<>();
    for (Inode directory : directories) {
      locks.add(
          DirectoryRows.isTimeMerged(transaction, directory)
              ? RowLock.shared(Tables.INODE, directory.key())
              : RowLock.exclusive(Tables.INODE, directory.key()));
    }
    inodes.forEach(inode -> locks.add(RowLock.exclusive(Tables.INODE, inode.key())));
    free.forEach(key -> locks.add(RowLock.exclusive(Tables.INODE, key)));
    RowSet rows = transaction.lockAndRead(locks);
    for (Key key : free) {
      if (rows.get(Tables.INODE, key).isPresent()) {
        throw new StaleReadException("another client has made an inode at key " + key);
      }
    }
    List<Inode> again = new ArrayList<>(directories.size() + inodes.size());
    for (List<Inode> some : List.of(directories, inodes)) {
      for (Inode inode : some) {
        again.add(unmoved(inode, rows.get(Tables.INODE, inode.key())));
      }
    }
    return again;
  }

  /**
   * Locks the inode that was at a key for writing.
   *
   * @throws StaleReadException if another inode is there now, or none
   */
  public static Inode lock(Transaction transaction, Key key, long id) throws IOException {
    RowSet rows = transaction.lockAndRead(List.of(RowLock.exclusive(Tables.INODE, key)));
    return rows.get(Tables.INODE, key)
        .map(row -> new Inode(key, row))
        .filter(inode -> inode.id() == id)
        .orElseThrow(() -> new StaleReadException("inode " + id + " moved"));
  }

  private static Inode unmoved(Inode inode, Optional<InodeRow> row) throws StaleReadException {
    Optional<Inode> now = row.map(inode::with);
    if (now.isEmpty() || !now.get().isSame(inode) || now.get().isFile() != inode.isFile()) {
      throw new StaleReadException("inode " + inode.id() + " moved");
    }
    return now.get();
  }
}
