package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.fs.permission.FsAction;

/** Counts files, directories and bytes below a path, page by page: no snapshot. Thread-safe. */
public final class ContentSummaryService {
  private static final int PAGE = 1000;

  /**
   * @param spaceBytes bytes of all replicas of the blocks of files, without parities
   */
  public record Summary(long files, long directories, long lengthBytes, long spaceBytes) {
    Summary plus(Summary other) {
      return new Summary(
          files + other.files,
          directories + other.directories,
          lengthBytes + other.lengthBytes,
          spaceBytes + other.spaceBytes);
    }
  }

  private record Below(Inode inode, FsPath path) {}

  private final MetadataStore store;

  public ContentSummaryService(MetadataStore store) {
    this.store = store;
  }

  /**
   * Counts the inode at a path and everything below it.
   *
   * @throws FileNotFoundException if the path does not exist
   */
  public Summary summarize(Caller caller, String src) throws IOException {
    Below top =
        read(
            transaction -> {
              ResolvedPath path = PathResolver.resolve(transaction, src);
              PermissionChecker.checkTraverse(caller, path);
              if (!path.exists()) {
                throw PathErrors.notFound("File does not exist: " + path.path());
              }
              return new Below(path.lastFound(), path.path());
            });
    if (top.inode().isFile()) {
      return read(transaction -> ofFile(transaction, top.inode()));
    }
    Deque<Below> left = new ArrayDeque<>();
    left.push(top);
    Summary sum = new Summary(0, 0, 0, 0);
    while (!left.isEmpty()) {
      sum = sum.plus(ofDirectory(caller, left.pop(), left));
    }
    return sum;
  }

  private <R> R read(MetadataStore.TransactionBody<R> body) throws IOException {
    return store.transact(Inode.ROOT_ID, Durability.RELAXED, body);
  }

  private Summary ofDirectory(Caller caller, Below directory, Deque<Below> left)
      throws IOException {
    if (!caller.isSuperuser()) {
      PermissionChecker.check(caller, directory.inode(), directory.path(), FsAction.READ_EXECUTE);
    }
    Summary sum = new Summary(0, 1, 0, 0);
    Key after = null;
    List<Row<InodeRow>> page;
    do {
      Key from = after;
      page = read(t -> t.scan(Tables.INODE, directory.inode().id(), from, PAGE));
      for (Row<InodeRow> row : page) {
        Inode child = new Inode(row.key(), row.value());
        if (child.isDirectory()) {
          left.push(new Below(child, directory.path().child(child.nameText())));
        } else {
          sum = sum.plus(read(transaction -> ofFile(transaction, child)));
        }
        after = row.key();
      }
    } while (page.size() == PAGE);
    return sum;
  }

  private static Summary ofFile(Transaction transaction, Inode file) throws IOException {
    long space = 0;
    for (Row<BlockRow> block : transaction.scan(Tables.BLOCK, file.id())) {
      space += block.value().getLengthBytes() * block.value().getReplication();
    }
    return new Summary(1, 0, file.row().getLengthBytes(), space);
  }
}
