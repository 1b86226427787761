package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.RowSet;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException;

/** Finds open files by path, inode id or block id, and checks that the client holds their lease. */
final class OpenFileLookup {
  /** The inode id that stock clients send if they know none. */
  private static final long NO_ID = 0;

  private OpenFileLookup() {}

  /**
   * The file under its lock.
   *
   * @throws FileNotFoundException if the file does not exist
   * @throws LeaseExpiredException if the client does not hold its lease
   */
  static Inode lock(Transaction transaction, String src, long fileId, String clientName)
      throws IOException {
    Inode locked = lock(transaction, src, fileId);
    checkLease(locked, src, clientName);
    return locked;
  }

  /** The file under its lock, whoever holds its lease. */
  static Inode lock(Transaction transaction, String src, long fileId) throws IOException {
    if (fileId == NO_ID) {
      return InodeLocks.lock(transaction, List.of(find(transaction, src, fileId))).get(0);
    }
    Key key =
        PathResolver.attachedKey(transaction, fileId).orElseThrow(() -> notFound(src, fileId));
    return InodeLocks.lock(transaction, key, fileId);
  }

  /** The file without a lock. */
  static Inode find(Transaction transaction, String src, long fileId) throws IOException {
    Optional<Inode> inode =
        fileId == NO_ID
            ? PathResolver.resolve(transaction, src).last()
            : attached(transaction, fileId);
    return inode.orElseThrow(() -> notFound(src, fileId));
  }

  private static FileNotFoundException notFound(String src, long fileId) {
    return PathErrors.notFound("File does not exist: " + src + " (inode " + fileId + ")");
  }

  /** The inode, unless it is deleted, or below a deleted directory. */
  static Optional<Inode> attached(Transaction transaction, long inodeId) throws IOException {
    Optional<Key> key = PathResolver.attachedKey(transaction, inodeId);
    return key.isEmpty()
        ? Optional.empty()
        : PathResolver.inodeAt(transaction, key.get()).filter(i -> i.id() == inodeId);
  }

  /**
   * The file that the first run of a repeated call has made or changed, as the commit of that run
   * or a later one has left it; empty if the file is deleted. A shared store may show some rows of
   * a commit and not yet the others: they are not taken for the whole.
   *
   * @throws StaleReadException if the file is being renamed, or its rows are being written
   */
  static Optional<Inode> ofEarlierRun(Transaction transaction, long inodeId) throws IOException {
    Key nameKey = Tables.inodeName(inodeId);
    Optional<InodeNameRow> seen = transaction.get(Tables.INODE_NAME, nameKey);
    Optional<Key> key =
        seen.filter(name -> name.getParentId() != Inode.PENDING_DELETION_ID)
            .map(name -> Tables.inode(name.getParentId(), name.getName().toByteArray()));
    List<RowLock> locks = new ArrayList<>();
    key.ifPresent(inode -> locks.add(RowLock.shared(Tables.INODE, inode)));
    locks.add(RowLock.shared(Tables.INODE_NAME, nameKey));
    RowSet rows = transaction.lockAndRead(locks);
    Optional<Inode> file =
        key.flatMap(at -> rows.get(Tables.INODE, at).map(row -> new Inode(at, row)))
            .filter(inode -> inode.id() == inodeId);
    if (!rows.get(Tables.INODE_NAME, nameKey).equals(seen) || key.isPresent() && file.isEmpty()) {
      throw new StaleReadException("inode " + inodeId + " is being renamed");
    }
    return file;
  }

  /**
   * The file that a block belongs to, under its lock; empty if no file has the block, or the file
   * is deleted.
   */
  static Optional<Inode> lockOwner(Transaction transaction, long blockId) throws IOException {
    Optional<BlockOwnerRow> owner = transaction.get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId));
    if (owner.isEmpty() || !owner.get().hasOwnerId()) {
      return Optional.empty();
    }
    long fileId = fileOf(transaction, owner.get());
    Optional<Key> key = PathResolver.attachedKey(transaction, fileId);
    return key.isEmpty()
        ? Optional.empty()
        : Optional.of(InodeLocks.lock(transaction, key.get(), fileId));
  }

  /** The file of a block; a block of a block group belongs to a stripe. */
  private static long fileOf(Transaction transaction, BlockOwnerRow owner) throws IOException {
    return transaction
        .get(Tables.BLOCK, Tables.block(owner.getOwnerId(), owner.getIndex()))
        .filter(BlockRow::hasGroupFileId)
        .map(BlockRow::getGroupFileId)
        .orElse(owner.getOwnerId());
  }

  /**
   * Refuses a client with the name under which the namenode itself holds files.
   *
   * @throws LeaseExpiredException if it is that name
   */
  static void refuseRecoveryHolder(String src, String clientName) throws LeaseExpiredException {
    if (LeaseManager.RECOVERY_HOLDER.equals(clientName)) {
      throw new LeaseExpiredException(
          "Client name %s belongs to the namenode and cannot write %s: choose another client name"
              .formatted(clientName, src));
    }
  }

  static void checkLease(Inode file, String src, String clientName) throws LeaseExpiredException {
    refuseRecoveryHolder(src, clientName);
    if (!file.isFile()) {
      throw new LeaseExpiredException(
          "INode is not a regular file: " + src + " (inode " + file.id() + ")");
    }
    if (!file.isUnderConstruction()) {
      throw new LeaseExpiredException(
          "File is not open for writing: " + src + " (inode " + file.id() + ")");
    }
    String holder = file.row().getUnderConstruction().getClientName();
    if (!holder.equals(clientName)) {
      throw new LeaseExpiredException(
          "Client (=%s) is not the lease owner (=%s): %s (inode %d)"
              .formatted(clientName, holder, src, file.id()));
    }
  }
}
