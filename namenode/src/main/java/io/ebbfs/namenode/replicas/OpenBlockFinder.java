package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.LeaseRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the blocks that clients write to given disks, from the leases of open files. Only the last
 * two blocks of a file may be incomplete. Takes no locks.
 */
final class OpenBlockFinder {
  private static final int INCOMPLETE_BLOCKS = 2;

  private OpenBlockFinder() {}

  /** An incomplete block of an open file. */
  record OpenBlock(long fileId, BlockRow block) {}

  /**
   * What a page of the leases holds.
   *
   * @param files the leases of the page
   * @param reached the last lease of the page; null if the page is empty
   * @param blocks the blocks whose pipelines name one of the disks; of a group, its blocks
   */
  record Page(int files, Key reached, List<OpenBlock> blocks) {}

  /**
   * Looks at the next open files.
   *
   * @param after the last lease of the page before, or null for the first page
   * @param limit how many leases the page has at most
   */
  static Page find(MetadataStore store, Key after, int limit, Set<String> storageUuids)
      throws IOException {
    List<Row<LeaseRow>> leases = store.scanAll(Tables.LEASE, after, limit);
    List<OpenBlock> found = new ArrayList<>();
    Key reached = after;
    for (Row<LeaseRow> lease : leases) {
      for (long fileId : lease.value().getFileIdsList()) {
        for (BlockRow block : writtenTo(store, fileId, storageUuids)) {
          found.add(new OpenBlock(fileId, block));
        }
      }
      reached = lease.key();
    }
    return new Page(leases.size(), reached, found);
  }

  /** Those of some open files that have such a block. */
  static Set<Long> files(MetadataStore store, List<Long> fileIds, Set<String> storageUuids)
      throws IOException {
    Set<Long> files = new HashSet<>();
    for (long fileId : fileIds) {
      if (!writtenTo(store, fileId, storageUuids).isEmpty()) {
        files.add(fileId);
      }
    }
    return files;
  }

  private static List<BlockRow> writtenTo(
      MetadataStore store, long fileId, Set<String> storageUuids) throws IOException {
    return incomplete(store, fileId).stream()
        .filter(
            block -> block.getPipelineStorageUuidsList().stream().anyMatch(storageUuids::contains))
        .toList();
  }

  private static List<BlockRow> incomplete(MetadataStore store, long fileId) throws IOException {
    return store.transact(
        fileId, Durability.RELAXED, transaction -> incomplete(transaction, fileId));
  }

  /** The last blocks of a file that are not complete, and the blocks of such groups. */
  private static List<BlockRow> incomplete(Transaction transaction, long fileId)
      throws IOException {
    int count = inode(transaction, fileId).map(InodeRow::getBlocks).orElse(0);
    List<BlockRow> found = new ArrayList<>();
    for (int index = Math.max(0, count - INCOMPLETE_BLOCKS); index < count; index++) {
      Optional<BlockRow> block = transaction.get(Tables.BLOCK, Tables.block(fileId, index));
      if (block.isEmpty() || block.get().getState() == BlockStateProto.COMPLETE) {
        continue;
      }
      if (GroupRows.isGroup(block.get())) {
        GroupRows.blocks(transaction, block.get()).forEach(row -> found.add(row.value()));
      } else {
        found.add(block.get());
      }
    }
    return found;
  }

  private static Optional<InodeRow> inode(Transaction transaction, long fileId) throws IOException {
    Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, Tables.inodeName(fileId));
    return name.isEmpty()
        ? Optional.empty()
        : transaction.get(
            Tables.INODE,
            Tables.inode(name.get().getParentId(), name.get().getName().toByteArray()));
  }
}
