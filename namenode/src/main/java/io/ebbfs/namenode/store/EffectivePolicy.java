package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.Optional;

/**
 * Finds the storage policy that holds for an inode: its own, or that of the nearest directory above
 * that has one. Takes no locks: a policy that is set or a rename at the same time may be seen or
 * not. Stateless.
 */
public final class EffectivePolicy {
  /** Neither the inode nor a directory above has a policy. */
  public static final int NONE = 0;

  private static final int MAX_DEPTH = 10_000;
  private static final long ABOVE_ROOT = 0;

  private EffectivePolicy() {}

  /** The id of the policy; {@link #NONE} if there is none, or if the inode is deleted. */
  public static int idOf(Transaction transaction, long inodeId) throws IOException {
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
        return own.get();
      }
      id = parentId;
    }
    return own(transaction, Tables.inode(ABOVE_ROOT, new byte[0]), id).orElse(NONE);
  }

  private static Optional<Integer> own(Transaction transaction, Key key, long inodeId)
      throws IOException {
    return transaction
        .get(Tables.INODE, key)
        .filter(row -> row.getId() == inodeId && row.hasStoragePolicy())
        .map(InodeRow::getStoragePolicy);
  }
}
