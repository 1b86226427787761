package io.ebbfs.namenode.files.policies;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * A walk over the files below a directory, in the order of their names, that goes on behind the
 * file where an earlier walk has stopped. What is renamed meanwhile may be met twice or not at all.
 * Stateless.
 */
final class FileWalk {
  /** A call looks at so many names; a tree may have any number of directories without a file. */
  private static final int NAMES_PER_CALL = 100;

  private FileWalk() {}

  /**
   * A file that was met.
   *
   * @param file empty if the call has come to its end at a directory, behind which the walk goes on
   * @param at the names from the directory down to the file
   */
  record Met(Optional<Inode> file, List<ByteString> at) {}

  /**
   * The next file; empty if there is none.
   *
   * @param done the names of the last one that was met; empty to begin
   */
  static Optional<Met> next(Transaction transaction, Inode directory, List<ByteString> done)
      throws IOException {
    List<Inode> above = descend(transaction, directory, done);
    List<ByteString> names = new ArrayList<>(done.subList(0, Math.min(done.size(), above.size())));
    for (int looks = 1; !above.isEmpty(); looks++) {
      Inode parent = above.get(above.size() - 1);
      byte[] after = names.size() < above.size() ? null : last(names).toByteArray();
      if (after != null) {
        names.remove(names.size() - 1);
      }
      Optional<Inode> child = childAfter(transaction, parent, after);
      if (child.isEmpty()) {
        above.remove(above.size() - 1);
        if (looks >= NAMES_PER_CALL && !names.isEmpty()) {
          return Optional.of(new Met(Optional.empty(), names));
        }
        continue;
      }
      names.add(ByteString.copyFrom(child.get().name()));
      if (child.get().isFile()) {
        return Optional.of(new Met(child, names));
      }
      above.add(child.get());
    }
    return Optional.empty();
  }

  /** The directories from the first one along the names, as far as they are there. */
  private static List<Inode> descend(
      Transaction transaction, Inode directory, List<ByteString> names) throws IOException {
    List<Inode> found = new ArrayList<>(List.of(directory));
    for (ByteString name : names.subList(0, Math.max(0, names.size() - 1))) {
      Inode above = found.get(found.size() - 1);
      Key key = Tables.inode(above.id(), name.toByteArray());
      Optional<InodeRow> row = transaction.get(Tables.INODE, key);
      if (row.isEmpty() || !new Inode(key, row.get()).isDirectory()) {
        break;
      }
      found.add(new Inode(key, row.get()));
    }
    return found;
  }

  private static Optional<Inode> childAfter(Transaction transaction, Inode parent, byte[] after)
      throws IOException {
    List<Row<InodeRow>> rows =
        transaction.scan(
            Tables.INODE, parent.id(), after == null ? null : Tables.inode(parent.id(), after), 1);
    return rows.stream().findFirst().map(row -> new Inode(row.key(), row.value()));
  }

  private static ByteString last(List<ByteString> names) {
    return names.get(names.size() - 1);
  }
}
