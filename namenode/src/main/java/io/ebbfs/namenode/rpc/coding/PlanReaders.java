package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.rpc.server.CurrentCall;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.security.AccessControlException;

/**
 * Lets users have read plans for the blocks of files that they may read. A service needs no such
 * check. Thread-safe.
 */
public final class PlanReaders {
  private final MetadataStore store;
  private final InodeLookup inodes;
  private final Caller.Superuser superuser;

  public PlanReaders(MetadataStore store, InodeLookup inodes, Caller.Superuser superuser) {
    this.store = store;
    this.inodes = inodes;
    this.superuser = superuser;
  }

  /**
   * Checks that the caller of the present call may read a file, and that the file has the block.
   *
   * @throws FileNotFoundException if the file does not exist, or does not have the block
   * @throws IOException if the caller may not read the file; no AccessControlException, which tells
   *     a client that this namenode serves no plans to users
   */
  void check(String path, long blockId) throws IOException {
    CurrentCall call = CurrentCall.get();
    Caller caller = new Caller(call.user().name(), call.user()::groups, superuser);
    Inode file = readable(caller, path);
    boolean has =
        store
            .transact(
                blockId,
                Durability.RELAXED,
                transaction -> transaction.get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId)))
            .filter(owner -> isOf(owner, file))
            .isPresent();
    if (!has) {
      throw new FileNotFoundException(
          "block %d is not a block of %s: a reader gets plans for the blocks of its file only"
              .formatted(blockId, path));
    }
  }

  private Inode readable(Caller caller, String path) throws IOException {
    try {
      return inodes.checkAccess(caller, path, FsAction.READ);
    } catch (AccessControlException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** A file in a snapshot has the id of the file, and only the blocks that it had then. */
  private static boolean isOf(BlockOwnerRow owner, Inode file) {
    return owner.hasOwnerId()
        && owner.getOwnerId() == file.id()
        && owner.getIndex() < file.row().getBlocks();
  }
}
