package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Marks in the rows of inodes in which counted directory the inodes count, and with how many bytes.
 * The store adds up what the marks say, in the transaction that writes them. Stateless.
 */
public final class QuotaMarks {
  /** Not an inode: there is no counted directory. */
  private static final long NOWHERE = 0;

  private QuotaMarks() {}

  /** The counted directory in which the entries of a directory count; 0 if they count nowhere. */
  public static long homeOfEntries(InodeRow directory) {
    return directory.getCounted() ? directory.getId() : directory.getCountedIn();
  }

  /**
   * The counted directory in which an inode itself counts; a counted directory counts in itself.
   */
  public static long homeOfInode(InodeRow inode) {
    return homeOfEntries(inode);
  }

  /** The mark of a new inode without blocks. */
  public static InodeRow.Builder entering(InodeRow.Builder made, InodeRow directory) {
    long home = homeOfEntries(directory);
    if (home == NOWHERE) {
      return made;
    }
    made.setCountedIn(home);
    return directory.getCountedTypes() ? made.setCountedTypes(true) : made;
  }

  /**
   * The row of an inode whose directory becomes another one. A directory takes along what lies in
   * it, so all of that must be counted before.
   *
   * @param directory the new directory, read under its lock
   * @throws UncountedTreeException if the inode is a directory that is not counted as a whole, and
   *     is to count elsewhere or lies in a tree that is being counted
   */
  public static InodeRow moved(Transaction transaction, Inode inode, InodeRow directory)
      throws IOException {
    InodeRow row = inode.row();
    long home = homeOfEntries(directory);
    boolean stays = row.getCountedIn() == home;
    boolean types = directory.getCountedTypes();
    if (inode.isDirectory()) {
      // While a walk marks the tree around a directory, the walk could miss what the directory
      // takes along.
      boolean takesMarks =
          stays
              && row.getCountedTypes() == types
              && (home == NOWHERE || isWhole(transaction, home, types));
      if (!takesMarks && !(row.getCounted() && isWhole(transaction, row.getId(), types))) {
        throw new UncountedTreeException(row.getId(), types);
      }
    }
    if (stays) {
      return withTypes(row, types);
    }
    if (home == NOWHERE) {
      return unmarked(row);
    }
    List<RowLock> locks = locksToCount(row);
    if (!locks.isEmpty()) {
      transaction.lock(locks);
    }
    return withTypes(counting(transaction, row, home), types);
  }

  /** A counted directory keeps what it says about types, because its entries have the same mark. */
  private static InodeRow withTypes(InodeRow row, boolean types) {
    if (row.getCounted() || row.getCountedTypes() == types) {
      return row;
    }
    InodeRow.Builder marked = row.toBuilder();
    return (types ? marked.setCountedTypes(true) : marked.clearCountedTypes()).build();
  }

  /**
   * Has a locked directory ready for another storage policy. Where bytes count by type of storage,
   * the directory is counted by itself: its sums tell what follows its policy.
   *
   * @throws UncountedTreeException if it is not counted as a whole
   */
  public static void requireCountedForPolicy(Transaction transaction, Inode directory)
      throws IOException {
    InodeRow row = directory.row();
    boolean isReady =
        !row.getCountedTypes() || row.getCounted() && isWhole(transaction, row.getId(), true);
    if (!isReady) {
      throw new UncountedTreeException(row.getId(), true);
    }
  }

  /** Whether everything in a directory is counted, as its row says, and by type if asked. */
  public static boolean isWhole(Transaction transaction, long directoryId, boolean types)
      throws IOException {
    return transaction
        .get(Tables.QUOTA, Tables.quota(directoryId, 0))
        .filter(shard -> shard.getComplete() && (!types || shard.getTypesComplete()))
        .isPresent();
  }

  /** The row of an inode that counts nowhere any more, except in itself if it is counted. */
  public static InodeRow unmarked(InodeRow row) {
    return row.hasCountedIn()
        ? withTypes(row.toBuilder().clearCountedIn().clearCountedBytes().build(), false)
        : row;
  }

  /**
   * The locks of what {@link #counting} reads beside the row of an inode: of an open file that
   * counts nowhere yet, the last block. The rows of a file and of its block are in different
   * partitions. So in a store that several processes share, a transaction that has locked the file
   * alone may see the row of the file after a commit, and that of the block before the same commit.
   */
  public static List<RowLock> locksToCount(InodeRow row) {
    return !row.hasCountedIn() && row.hasUnderConstruction() && row.getBlocks() > 0
        ? List.of(RowLock.shared(Tables.BLOCK, lastBlock(row)))
        : List.of();
  }

  /**
   * The row of a locked file with the bytes that it has, if it counts somewhere. Locks its last
   * block if the file is open.
   */
  public static InodeRow withBytes(Transaction transaction, InodeRow file) throws IOException {
    if (!file.hasCountedIn() || file.getBlocks() == 0) {
      return file;
    }
    if (file.hasUnderConstruction()) {
      transaction.lock(List.of(RowLock.shared(Tables.BLOCK, lastBlock(file))));
    }
    long bytes = bytes(transaction, file);
    return bytes == file.getCountedBytes() ? file : file.toBuilder().setCountedBytes(bytes).build();
  }

  private static Key lastBlock(InodeRow file) {
    return Tables.block(file.getId(), file.getBlocks() - 1);
  }

  /**
   * The row of an entry of a directory with the marks of the directory.
   *
   * @param transaction has the locks of {@link #locksToCount}
   */
  public static InodeRow counting(Transaction transaction, InodeRow row, InodeRow directory)
      throws IOException {
    long home = homeOfEntries(directory);
    InodeRow counted = row.getCountedIn() == home ? row : counting(transaction, row, home);
    return withTypes(counted, directory.getCountedTypes());
  }

  /**
   * The row of an inode that counts in a counted directory from now on.
   *
   * @param transaction has the locks of {@link #locksToCount}
   */
  private static InodeRow counting(Transaction transaction, InodeRow row, long home)
      throws IOException {
    InodeRow.Builder marked = row.toBuilder().setCountedIn(home);
    if (row.getBlocks() > 0 && !row.hasCountedIn()) {
      marked.setCountedBytes(bytes(transaction, row));
    }
    return marked.build();
  }

  /**
   * The bytes of all replicas of a file, by the replication of the file, also of blocks that are
   * encoded. A block that is being written has the size of a full block.
   */
  public static long bytes(Transaction transaction, InodeRow file) throws IOException {
    if (file.hasEcPolicyId()) {
      long groups = 0;
      for (Row<BlockRow> row : transaction.scan(Tables.BLOCK, file.getId())) {
        groups += bytes(row.value(), file);
      }
      return groups;
    }
    long bytes = file.getLengthBytes();
    if (file.hasUnderConstruction() && file.getBlocks() > 0) {
      Optional<BlockRow> last = transaction.get(Tables.BLOCK, lastBlock(file));
      if (last.isPresent()) {
        bytes += bytes(last.get(), file) - last.get().getLengthBytes();
      }
    }
    return bytes * file.getReplication();
  }

  /** The bytes of all replicas of a file as a snapshot shows it. */
  public static long bytesInSnapshot(Transaction transaction, InodeRow file) throws IOException {
    if (!file.hasEcPolicyId()) {
      return file.getLengthBytes() * file.getReplication();
    }
    long bytes = 0;
    long left = file.getLengthBytes();
    for (Row<BlockRow> row : transaction.scan(Tables.BLOCK, file.getId())) {
      if (left <= 0 || row.key().firstLong() >= file.getBlocks()) {
        break;
      }
      long shown = Math.min(left, row.value().getLengthBytes());
      bytes += BlockGroupLayout.of(file.getEcPolicyId()).consumedBytes(shown);
      left -= shown;
    }
    return bytes;
  }

  /**
   * The bytes with which one replica of a block counts. A block group counts once, with all its
   * blocks.
   */
  public static long bytes(BlockRow block, InodeRow file) {
    boolean isWritten =
        block.getState() == BlockStateProto.COMMITTED
            || block.getState() == BlockStateProto.COMPLETE;
    if (block.hasEcPolicyId()) {
      BlockGroupLayout layout = BlockGroupLayout.of(block.getEcPolicyId());
      return isWritten
          ? layout.consumedBytes(block.getLengthBytes())
          : layout.units() * file.getBlockSizeBytes();
    }
    return isWritten
        ? block.getLengthBytes()
        : Math.max(block.getLengthBytes(), file.getBlockSizeBytes());
  }

  /** The row of a file with another replication. */
  public static InodeRow withReplication(InodeRow file, int replication) {
    InodeRow.Builder changed = file.toBuilder().setReplication(replication);
    if (file.getCountedBytes() > 0) {
      changed.setCountedBytes(file.getCountedBytes() / file.getReplication() * replication);
    }
    return changed.build();
  }
}
