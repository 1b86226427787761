package io.ebbfs.namenode.fsck;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.replicas.BlockHealth;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads files and the state of their blocks page by page, without locks: an answer tells of what
 * was there when its page was read. Thread-safe.
 */
final class FsckReader {
  /** Blocks that one transaction reads. */
  static final int BLOCKS = 256;

  private static final byte[] START = {};

  private final MetadataStore store;
  private final InodeLookup inodes;
  private final FileReadService reads;
  private final BlockService blocks;

  FsckReader(MetadataStore store, InodeLookup inodes, FileReadService reads, BlockService blocks) {
    this.store = store;
    this.inodes = inodes;
    this.reads = reads;
    this.blocks = blocks;
  }

  Optional<Inode> find(Caller caller, String path) throws IOException {
    return inodes.look(caller, path);
  }

  /** A page of a directory; empty if none follows, or the directory has gone meanwhile. */
  List<Inode> list(Caller caller, String directory, Optional<Inode> after) throws IOException {
    FileReadService.Page page = reads.list(caller, directory, after.map(Inode::name).orElse(START));
    return page == null || page.listed().isFile() ? List.of() : page.inodes();
  }

  /** Blocks of a file, in their order. */
  record BlockPage(List<BlockHealth> blocks, Optional<Key> last) {}

  /** A page of the blocks of a file that are finished. */
  BlockPage blocks(Inode file, Optional<Key> after) throws IOException {
    return store.transact(
        file.id(),
        Durability.RELAXED,
        transaction -> {
          List<Row<BlockRow>> rows =
              transaction.scan(Tables.BLOCK, file.id(), after.orElse(null), BLOCKS);
          List<BlockHealth> found = new ArrayList<>(rows.size());
          for (Row<BlockRow> row : rows) {
            if (isFinished(row.value())) {
              found.add(blocks.health(transaction, file.id(), row.value()));
            }
          }
          return new BlockPage(
              found,
              rows.size() < BLOCKS
                  ? Optional.empty()
                  : Optional.of(rows.get(rows.size() - 1).key()));
        });
  }

  private static boolean isFinished(BlockRow block) {
    return block.getState() == BlockStateProto.COMPLETE
        || block.getState() == BlockStateProto.COMMITTED;
  }

  /** A block, and the path of its file; the path of a parity is empty. */
  record BlockAndPath(BlockHealth health, Optional<FsPath> path) {}

  Optional<BlockAndPath> block(long blockId) throws IOException {
    return store.transact(blockId, Durability.RELAXED, transaction -> block(transaction, blockId));
  }

  private Optional<BlockAndPath> block(Transaction transaction, long blockId) throws IOException {
    var owner = transaction.get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId));
    if (owner.isEmpty() || !owner.get().hasOwnerId()) {
      return Optional.empty();
    }
    long ownerId = owner.get().getOwnerId();
    Optional<BlockRow> row =
        transaction.get(Tables.BLOCK, Tables.block(ownerId, owner.get().getIndex()));
    if (row.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new BlockAndPath(
            blocks.health(transaction, ownerId, row.get()),
            PathResolver.pathOf(
                transaction, row.get().hasGroupFileId() ? row.get().getGroupFileId() : ownerId)));
  }

  /** The blocks that are known to be lost, behind a block; the pages end at an empty one. */
  List<BlockService.MissingBlock> lostAfter(long blockId) throws IOException {
    return blocks.missingAfter(blockId, BLOCKS);
  }

  Optional<FsPath> pathOf(long inodeId) throws IOException {
    return store.transact(
        inodeId, Durability.RELAXED, transaction -> PathResolver.pathOf(transaction, inodeId));
  }
}
