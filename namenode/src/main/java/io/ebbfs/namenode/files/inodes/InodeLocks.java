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
    List<RowLock> locks = new ArrayList<>();
    inodes.forEach(inode -> locks.add(RowLock.exclusive(Tables.INODE, inode.key())));
    return unmoved(inodes, transaction.lockAndRead(locks));
  }

  /** Locks a directory that the caller removes if nothing is in it; see {@link EmptyDirectory}. */
  public static Inode lockToRemove(Transaction transaction, Inode directory) throws IOException {
    return lockEntries(transaction, List.of(), List.of(directory), List.of()).get(0);
  }

  /**
   * Locks entries of directories for writing, and the directories so that nobody removes or moves
   * them. Many changes of entries may hold one directory, if {@link DirectoryRows#touch} will not
   * write its row.
   *
   * @param inodes entries that exist
   * @param free keys where the caller will make inodes
   * @return the directories, then the inodes, read under the locks
   * @throws StaleReadException if one of them has moved or a key is not free
   */
  public static List<Inode> lockEntries(
      Transaction transaction, List<Inode> directories, List<Inode> inodes, List<Key> free)
      throws IOException {
    return lockEntriesAnd(transaction, directories, inodes, free, List.of());
  }

  /** The same, with other locks in the same round trip. */
  public static List<Inode> lockEntriesAnd(
      Transaction transaction,
      List<Inode> directories,
      List<Inode> inodes,
      List<Key> free,
      List<RowLock> others)
      throws IOException {
    List<RowLock> locks = new ArrayList<>(others);
    for (Inode directory : directories) {
      locks.add(
          DirectoryRows.isTimeMerged(transaction, directory)
              ? RowLock.shared(Tables.INODE, directory.key())
              : RowLock.exclusive(Tables.INODE, directory.key()));
    }
    inodes.forEach(inode -> locks.add(RowLock.exclusive(Tables.INODE, inode.key())));
    free.forEach(key -> locks.add(RowLock.exclusive(Tables.INODE, key)));
    if (transaction.isShared()) {
      for (Inode directory : directories) {
        locks.add(RowLock.shared(Tables.INODE_NAME, Tables.inodeName(directory.id())));
      }
      for (Inode inode : inodes) {
        if (inode.isDirectory()) {
          locks.add(RowLock.exclusive(Tables.INODE_NAME, Tables.inodeName(inode.id())));
        }
      }
    }
    RowSet rows = transaction.lockAndRead(locks);
    for (Key key : free) {
      if (rows.get(Tables.INODE, key).isPresent()) {
        throw new StaleReadException("another client has made an inode at key " + key);
      }
    }
    if (transaction.isShared()) {
      for (Inode directory : directories) {
        EmptyDirectory.keep(
            transaction,
            directory.id(),
            rows.get(Tables.INODE_NAME, Tables.inodeName(directory.id())));
      }
    }
    List<Inode> all = new ArrayList<>(directories);
    all.addAll(inodes);
    return unmoved(all, rows);
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

  private static List<Inode> unmoved(List<Inode> inodes, RowSet rows) throws StaleReadException {
    List<Inode> again = new ArrayList<>(inodes.size());
    for (Inode inode : inodes) {
      again.add(unmoved(inode, rows.get(Tables.INODE, inode.key())));
    }
    return again;
  }

  private static Inode unmoved(Inode inode, Optional<InodeRow> row) throws StaleReadException {
    Optional<Inode> now = row.map(inode::with);
    if (now.isEmpty() || !now.get().isSame(inode) || now.get().isFile() != inode.isFile()) {
      throw new StaleReadException("inode " + inode.id() + " moved");
    }
    return now.get();
  }
}
