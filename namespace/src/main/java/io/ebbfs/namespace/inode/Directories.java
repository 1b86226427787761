package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.hdfs.protocol.FSLimitException.PathComponentTooLongException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/** Rows of directories and their entries. All within a transaction of the caller. */
final class Directories {
  /** Who makes it and when; the group is that of the directory above. */
  record Maker(String user, long nowMillis) {}

  private Directories() {}

  /** Writes an inode's row and the way back to it. */
  static Inode put(Transaction transaction, Key key, InodeRow row) {
    transaction.put(Tables.INODE, key, row);
    transaction.put(
        Tables.INODE_NAME,
        Tables.inodeName(row.getId()),
        InodeNameRow.newBuilder()
            .setParentId(key.partition())
            .setName(ByteString.copyFrom(key.rest()))
            .build());
    return new Inode(key, row);
  }

  /** Notes that the entries of a locked directory changed. */
  static void touch(Transaction transaction, Inode directory, long nowMillis) {
    if (directory.row().getModifiedMillis() != nowMillis) {
      transaction.put(
          Tables.INODE,
          directory.key(),
          directory.row().toBuilder().setModifiedMillis(nowMillis).build());
    }
  }

  static boolean isEmpty(Transaction transaction, Inode directory) throws IOException {
    return transaction.scan(Tables.INODE, directory.id(), null, 1).isEmpty();
  }

  /**
   * Makes what is missing of a path down to a depth. The deepest inode found and the first missing
   * key are locked by the caller; nobody else can know what lies below.
   *
   * @param above the deepest inode found, as it is under its lock
   * @return the directory at that depth
   */
  static Inode makeMissing(
      Transaction transaction,
      FsPath path,
      Inode above,
      int firstDepth,
      int lastDepth,
      int permission,
      Maker maker,
      Iterator<Long> ids) {
    Inode parent = above;
    for (int depth = firstDepth; depth <= lastDepth; depth++) {
      InodeRow row =
          InodeRow.newBuilder()
              .setId(ids.next())
              .setKind(InodeKindProto.DIRECTORY)
              .setOwner(maker.user())
              .setGroup(parent.row().getGroup())
              .setPermission(depth == path.depth() ? permission : permission | 0300)
              .setModifiedMillis(maker.nowMillis())
              .build();
      parent = put(transaction, Tables.inode(parent.id(), path.nameBytes(depth)), row);
    }
    return parent;
  }

  /** The directory that a new path's last component goes to exists, where that was asked for. */
  static void checkParentExists(ResolvedPath path)
      throws FileNotFoundException, ParentNotDirectoryException {
    if (path.path().isRoot()) {
      return;
    }
    FsPath parentPath = path.path().prefix(path.path().depth() - 1);
    Inode parent =
        path.parent()
            .orElseThrow(
                () -> new FileNotFoundException("Parent directory doesn't exist: " + parentPath));
    if (!parent.isDirectory()) {
      throw new ParentNotDirectoryException("Parent path is not a directory: " + parentPath);
    }
  }

  /** New names, and the path as a whole, are short enough. */
  static void checkNames(ResolvedPath path, Limits limits) throws IOException {
    if (path.path().depth() > limits.maxPathDepth()
        || path.path().toString().length() > limits.maxPathLength()) {
      throw new IOException(
          "Pathname too long. Limit %d characters, %d levels."
              .formatted(limits.maxPathLength(), limits.maxPathDepth()));
    }
    for (int depth = path.inodes().size(); depth <= path.path().depth(); depth++) {
      int length = path.path().nameBytes(depth).length;
      if (length > limits.maxComponentBytes()) {
        throw new PathComponentTooLongException(
            limits.maxComponentBytes(),
            length,
            path.path().prefix(depth - 1).toString(),
            path.path().name(depth));
      }
    }
  }
}
