package io.ebbfs.namenode.policies;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;

/**
 * Finds the storage policy of an inode: its own, or that of the nearest directory above that has
 * one. Takes no locks: a policy that is set or a rename at the same time may be seen or not.
 * Stateless.
 */
public final class InheritedPolicy {
  private static final int MAX_DEPTH = 10_000;

  private InheritedPolicy() {}

  /** The policy that holds for the file or directory with an id; the default if it is deleted. */
  public static BlockStoragePolicy of(Transaction transaction, long inodeId) throws IOException {
    long id = inodeId;
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
      Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, Tables.inodeName(id));
      if (name.isEmpty()) {
        break;
      }
      long parentId = name.get().getParentId();
      Optional<Integer> own =
          own(transaction, Tables.inode(parentId, name.get().getName().toByteArray()), id);
      if (own.isPresent()) {
        return StoragePolicies.withId(own.get());
      }
      id = parentId;
    }
    return StoragePolicies.withId(
        own(transaction, Tables.inode(0, new byte[0]), id).orElse(StoragePolicies.UNSPECIFIED));
  }

  private static Optional<Integer> own(Transaction transaction, Key key, long inodeId)
      throws IOException {
    return transaction
        .get(Tables.INODE, key)
        .filter(row -> row.getId() == inodeId && row.hasStoragePolicy())
        .map(InodeRow::getStoragePolicy);
  }
}
