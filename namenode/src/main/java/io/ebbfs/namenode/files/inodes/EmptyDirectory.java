package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The removal of a directory in which nothing is. In a store that several processes share, the lock
 * of a directory does not tell whether somebody adds an entry: entries are read outside of the
 * transaction, and who adds one keeps the row of the directory as it is ({@link
 * InodeLocks#lockEntries}). So a removal has two transactions. The first one marks the name row of
 * the directory. Who adds an entry has locked that row, too, and takes the mark away. The second
 * transaction finds the mark, reads the entries, and removes the directory; it fails if the mark
 * was taken away meanwhile.
 *
 * <p>The name row of a directory and its entries share a partition. So the first transaction cannot
 * commit while a node of the store has an entry that is committed and cannot be read yet.
 */
public final class EmptyDirectory {
  private static final int MOST_ROUNDS = 100;

  private EmptyDirectory() {}

  /**
   * Marks a directory unless it has the mark, or needs none.
   *
   * @param directory locked by {@link InodeLocks#lockEntries} or {@link InodeLocks#lockToRemove}
   * @return whether the caller commits this transaction, and begins anew, before the directory is
   *     removed
   */
  public static boolean mustBeginRemoval(Transaction transaction, Inode directory)
      throws IOException {
    if (!transaction.isShared()) {
      return false;
    }
    Key key = Tables.inodeName(directory.id());
    Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, key);
    if (name.isEmpty() || name.get().getRemovalBegun()) {
      return false;
    }
    transaction.put(Tables.INODE_NAME, key, name.get().toBuilder().setRemovalBegun(true).build());
    return true;
  }

  /**
   * Runs a removal until it has got beyond its first transaction. Another client that adds and
   * removes entries all the time makes it begin anew each time.
   *
   * @param begun whether a result is that of the first transaction
   * @throws IOException if that happens too often, or from the removal
   */
  public static <R> R inRounds(OptimisticTransactions.Attempt<R> removal, Predicate<R> begun)
      throws IOException {
    for (int round = 0; round < MOST_ROUNDS; round++) {
      R result = removal.run();
      if (!begun.test(result)) {
        return result;
      }
    }
    throw new IOException(
        "gave up after %d attempts to remove a directory, because other clients change its entries; try again"
            .formatted(MOST_ROUNDS));
  }

  /** Takes the mark of a directory away, because one of its entries changes. */
  static void keep(Transaction transaction, long directoryId, Optional<InodeNameRow> name) {
    name.filter(InodeNameRow::getRemovalBegun)
        .ifPresent(
            row ->
                transaction.put(
                    Tables.INODE_NAME,
                    Tables.inodeName(directoryId),
                    row.toBuilder().clearRemovalBegun().build()));
  }
}
