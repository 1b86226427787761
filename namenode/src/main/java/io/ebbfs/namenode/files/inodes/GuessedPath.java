package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the rows of a path in a store on other machines. The key of a row holds the id of the
 * directory above, so a walk needs a round trip for each name. Here the ids are guessed from the
 * {@link DirectoryHints}, all rows are read at once, and only those count whose directory turns out
 * to have the guessed id. Behind a wrong guess, the rest of the path is read in the same way.
 */
final class GuessedPath {
  private static final int MAX_GUESSES = 256;

  private GuessedPath() {}

  /**
   * Follows a path.
   *
   * @param inodes the inodes that are known from the root on, perhaps none; gets the others
   */
  static void follow(Transaction transaction, FsPath path, List<Inode> inodes) throws IOException {
    DirectoryHints hints = transaction.hints().orElseThrow();
    while (inodes.size() <= path.depth()) {
      if (!inodes.isEmpty() && !inodes.get(inodes.size() - 1).isDirectory()) {
        return;
      }
      List<Key> keys = keys(hints, path, inodes);
      List<Optional<InodeRow>> rows = transaction.getAll(Tables.INODE, keys);
      for (int i = 0; i < keys.size() && keys.get(i).equals(nextKey(path, inodes)); i++) {
        if (rows.get(i).isEmpty()) {
          if (inodes.isEmpty()) {
            throw PathResolver.rootless();
          }
          return;
        }
        Inode inode = new Inode(keys.get(i), rows.get(i).get());
        inodes.add(inode);
        if (!inode.isDirectory()) {
          return;
        }
        hints.noteDirectory(inode.key(), inode.id());
      }
    }
  }

  /** The key of the next row; nothing if the last inode is no directory. */
  private static Key nextKey(FsPath path, List<Inode> inodes) {
    return inodes.isEmpty()
        ? Inode.ROOT_KEY
        : Tables.inode(inodes.get(inodes.size() - 1).id(), path.nameBytes(inodes.size()));
  }

  /** The keys of the rest of the path, of which the first is right. */
  private static List<Key> keys(DirectoryHints hints, FsPath path, List<Inode> inodes) {
    List<Key> keys = new ArrayList<>();
    Key key = nextKey(path, inodes);
    keys.add(key);
    for (int depth = inodes.size() + 1; depth <= path.depth(); depth++) {
      Long id = key.equals(Inode.ROOT_KEY) ? Long.valueOf(Inode.ROOT_ID) : hints.idAt(key);
      if (id == null || keys.size() == MAX_GUESSES) {
        break;
      }
      key = Tables.inode(id, path.nameBytes(depth));
      keys.add(key);
    }
    return keys;
  }

  /**
   * The name rows from an inode upwards, up to the child of an inode above, or less.
   *
   * @return empty if the inode has no name row
   */
  static List<InodeNameRow> upwards(Transaction transaction, long inodeId, long aboveId)
      throws IOException {
    if (!transaction.isShared()) {
      return transaction.get(Tables.INODE_NAME, Tables.inodeName(inodeId)).stream().toList();
    }
    DirectoryHints hints = transaction.hints().orElseThrow();
    List<Long> ids = idsUpwards(hints, inodeId, aboveId);
    List<Optional<InodeNameRow>> rows =
        transaction.getAll(Tables.INODE_NAME, ids.stream().map(Tables::inodeName).toList());
    List<InodeNameRow> names = new ArrayList<>();
    long id = inodeId;
    for (int i = 0; i < ids.size() && ids.get(i) == id && rows.get(i).isPresent(); i++) {
      InodeNameRow name = rows.get(i).get();
      names.add(name);
      hints.noteParent(id, name.getParentId());
      id = name.getParentId();
    }
    return names;
  }

  private static List<Long> idsUpwards(DirectoryHints hints, long inodeId, long aboveId) {
    List<Long> ids = new ArrayList<>();
    Long id = inodeId;
    while (id != null && id != aboveId && id != Inode.ROOT_ID && ids.size() < MAX_GUESSES) {
      ids.add(id);
      id = hints.parentOf(id);
    }
    return ids.isEmpty() ? List.of(inodeId) : ids;
  }
}
