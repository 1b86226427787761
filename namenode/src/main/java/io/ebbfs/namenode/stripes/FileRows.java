package io.ebbfs.namenode.stripes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.Optional;

/** Finds files by their ids. Stateless. */
public final class FileRows {
  private FileRows() {}

  /** The row of a file; empty if no file has the id, or if the file is deleted. */
  public static Optional<Row<InodeRow>> find(Transaction transaction, long fileId)
      throws IOException {
    Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, Tables.inodeName(fileId));
    if (name.isEmpty()) {
      return Optional.empty();
    }
    Key key = Tables.inode(name.get().getParentId(), name.get().getName().toByteArray());
    return transaction
        .get(Tables.INODE, key)
        .filter(inode -> inode.getId() == fileId && inode.getKind() == InodeKindProto.FILE)
        .map(inode -> new Row<>(key, inode));
  }
}
