package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.replicas.BlockRemover;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.hadoop.hdfs.protocol.Block;

/**
 * The blocks of one open file, in a transaction that has locked its inode. The length of the file
 * is the sum of the lengths of its blocks; every change of a block changes it too.
 */
final class FileBlocks {
  private static final int BLOCKS_OF_A_READ = 500;

  private final Transaction transaction;
  private final BlockService blocks;
  private Inode file;

  FileBlocks(Transaction transaction, BlockService blocks, Inode file) {
    this.transaction = transaction;
    this.blocks = blocks;
    this.file = file;
  }

  Inode file() {
    return file;
  }

  int count() {
    return file.row().getBlocks();
  }

  /**
   * Locks the rows of the last blocks. In a store that several processes share, the row of the file
   * may be seen after a commit, and that of a block before it: a commit on such rows is refused.
   *
   * @param most how many rows the caller reads and writes
   */
  void lockLast(int most) throws IOException {
    lockGroups(most);
    if (transaction.isShared() && count() > 0) {
      transaction.lock(
          lastKeys(most).stream().map(key -> RowLock.shared(Tables.BLOCK, key)).toList());
    }
  }

  /** Locks the stripes of the last block groups, in one call. Other blocks need no such lock. */
  void lockGroups(int most) throws IOException {
    lockGroups(most, List.of());
  }

  /**
   * The same with the stripe of a new group. Namenodes draw the ids of stripes out of different
   * ranges, so the new stripe may come before the others in the order of locks.
   */
  void lockGroupsAnd(int most, long newStripeId) throws IOException {
    lockGroups(most, List.of(GroupRows.lockOf(newStripeId)));
  }

  private void lockGroups(int most, List<RowLock> others) throws IOException {
    if (!file.row().hasEcPolicyId()) {
      return;
    }
    List<RowLock> locks = new ArrayList<>(others);
    for (Row<BlockRow> row : lastRows(most)) {
      if (GroupRows.isGroup(row.value())) {
        locks.add(GroupRows.lockOf(row.value()));
      }
    }
    transaction.lock(locks);
  }

  /** The keys of the last blocks; the last block is the first. */
  private List<Key> lastKeys(int most) {
    return IntStream.range(0, Math.min(most, count()))
        .mapToObj(back -> Tables.block(file.id(), count() - 1L - back))
        .toList();
  }

  private List<Row<BlockRow>> lastRows(int most) throws IOException {
    List<Key> keys = lastKeys(most);
    List<Optional<BlockRow>> found = transaction.getAll(Tables.BLOCK, keys);
    List<Row<BlockRow>> rows = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      Key key = keys.get(i);
      rows.add(new Row<>(key, found.get(i).orElseThrow(() -> missing(key.firstLong()))));
    }
    return rows;
  }

  /** The row is missing for good, or another process has just written it. */
  private StaleReadException missing(long index) {
    return new StaleReadException(
        "block row %d of file %d is missing: the metadata store is damaged"
            .formatted(index, file.id()));
  }

  /** A block counted from the end: 0 is the last. */
  Optional<BlockRow> fromEnd(int back) throws IOException {
    int index = count() - 1 - back;
    return index < 0
        ? Optional.empty()
        : Optional.of(
            transaction
                .get(Tables.BLOCK, Tables.block(file.id(), index))
                .orElseThrow(() -> missing(index)));
  }

  /** The offset in the file at which the last block begins, in bytes. */
  long lastOffset() throws IOException {
    return file.row().getLengthBytes() - fromEnd(0).map(BlockRow::getLengthBytes).orElse(0L);
  }

  /**
   * The block within which an offset lies; empty if a block begins or the file ends there. Reads
   * without locks, so the caller decides nothing for good.
   */
  Optional<BlockRow> around(long offsetBytes) throws IOException {
    long end = file.row().getLengthBytes();
    for (int after = count(); after > 0; after -= BLOCKS_OF_A_READ) {
      int first = Math.max(0, after - BLOCKS_OF_A_READ);
      List<Key> keys =
          IntStream.range(first, after).mapToObj(i -> Tables.block(file.id(), i)).toList();
      List<Optional<BlockRow>> rows = transaction.getAll(Tables.BLOCK, keys);
      for (int i = rows.size() - 1; i >= 0; i--) {
        long begin = end - rows.get(i).map(BlockRow::getLengthBytes).orElse(end);
        if (begin <= offsetBytes) {
          return begin < offsetBytes && offsetBytes < end ? rows.get(i) : Optional.empty();
        }
        end = begin;
      }
    }
    return Optional.empty();
  }

  /**
   * Adds a block group, whose blocks go to these targets, from the first on. The caller has locked
   * its stripe.
   */
  void appendGroup(BlockRow group, List<BlockService.Target> targets) {
    BlockGroups.putBlocks(transaction, file.id(), count(), group, targets);
    appendRow(group);
  }

  void append(BlockRow block) {
    transaction.put(
        Tables.BLOCK_OWNER,
        Tables.blockOwner(block.getBlockId()),
        BlockOwnerRow.newBuilder().setOwnerId(file.id()).setIndex(count()).build());
    appendRow(block);
  }

  private void appendRow(BlockRow block) {
    int index = count();
    transaction.put(Tables.BLOCK, Tables.block(file.id(), index), block);
    put(counting(file.row().toBuilder().setBlocks(index + 1), QuotaMarks.bytes(block, file.row())));
  }

  /** Writes a changed row of the last block. */
  void replaceLast(BlockRow block) throws IOException {
    replace(0, block);
  }

  private void replace(int back, BlockRow block) throws IOException {
    BlockRow before = fromEnd(back).orElseThrow();
    transaction.put(Tables.BLOCK, Tables.block(file.id(), count() - 1 - back), block);
    if (isComplete(before) && !isComplete(block)) {
      blocks.reopened(transaction, file.id(), block.getBlockId());
    }
    long longer = block.getLengthBytes() - before.getLengthBytes();
    long more = QuotaMarks.bytes(block, file.row()) - QuotaMarks.bytes(before, file.row());
    if (longer != 0 || more != 0 && file.row().hasCountedIn()) {
      InodeRow.Builder changed =
          file.row().toBuilder().setLengthBytes(file.row().getLengthBytes() + longer);
      put(counting(changed, more));
    }
  }

  private static boolean isComplete(BlockRow block) {
    return block.getState() == BlockStateProto.COMPLETE;
  }

  /** The row with more bytes for a quota, if the file counts in one. */
  private static InodeRow counting(InodeRow.Builder row, long bytes) {
    if (row.hasCountedIn() && bytes != 0) {
      row.setCountedBytes(row.getCountedBytes() + bytes * row.getReplication());
    }
    return row.build();
  }

  List<BlockService.Invalidation> removeLast() throws IOException {
    BlockRow last = fromEnd(0).orElseThrow();
    int index = count() - 1;
    List<BlockService.Invalidation> gone = new ArrayList<>();
    if (GroupRows.isGroup(last)) {
      lockGroups(1);
      gone.addAll(GroupRows.release(transaction, blocks, last));
      transaction.delete(Tables.BLOCK, Tables.block(file.id(), index));
    } else {
      gone.addAll(blocks.release(transaction, file.id(), List.of((long) index)));
    }
    InodeRow.Builder shorter =
        file.row().toBuilder()
            .setBlocks(index)
            .setLengthBytes(file.row().getLengthBytes() - last.getLengthBytes());
    put(counting(shorter, -QuotaMarks.bytes(last, file.row())));
    return gone;
  }

  /**
   * Removes whole blocks from the end of the file, as long as it keeps a length.
   *
   * @param most blocks to remove at most; the caller looks whether there are more
   * @throws StaleReadException if a block has changed meanwhile
   */
  List<BlockService.Invalidation> removeBeyond(BlockRemover remover, long lengthBytes, int most)
      throws IOException {
    List<Row<BlockRow>> seen = lastRows(most + 1);
    List<Row<BlockRow>> removed = new ArrayList<>();
    long length = file.row().getLengthBytes();
    long counted = 0;
    while (removed.size() < Math.min(most, seen.size())) {
      Row<BlockRow> row = seen.get(removed.size());
      if (length - row.value().getLengthBytes() < lengthBytes) {
        break;
      }
      length -= row.value().getLengthBytes();
      counted += QuotaMarks.bytes(row.value(), file.row());
      removed.add(row);
    }
    // The caller decides by the block that stays.
    int used = Math.min(removed.size() + 1, seen.size());
    remover.lock(transaction, removed, seen.subList(0, used));
    if (removed.isEmpty()) {
      return List.of();
    }
    List<BlockService.Invalidation> gone = remover.remove(transaction, removed);
    InodeRow.Builder shorter =
        file.row().toBuilder().setBlocks(count() - removed.size()).setLengthBytes(length);
    put(counting(shorter, -counted));
    return gone;
  }

  /**
   * Commits the last block with the length that the client reports.
   *
   * @throws IOException if the client names another block or another generation
   */
  void commitLast(Block committed) throws IOException {
    Optional<BlockRow> last = fromEnd(0);
    if (committed == null || last.isEmpty() || isCommitted(last.get())) {
      return;
    }
    BlockRow row = last.get();
    if (row.getBlockId() != committed.getBlockId()
        || row.getGenerationStamp() != committed.getGenerationStamp()) {
      throw new IOException(
          "Commit block with mismatching GS. NN has blk_%d_%d, client submits %s"
              .formatted(row.getBlockId(), row.getGenerationStamp(), committed));
    }
    replaceLast(
        row.toBuilder()
            .setLengthBytes(committed.getNumBytes())
            .setState(BlockStateProto.COMMITTED)
            .build());
    completeIfReported(0);
  }

  /**
   * Commits the last block, a group, with the result of a recovery.
   *
   * @param storageUuids by the index of the block; empty for a block that did not take part
   * @throws IOException if no recovery of a group ends so: a chunk server of an older version takes
   *     the group for a block
   */
  void commitGroup(long generationStamp, long lengthBytes, List<String> storageUuids)
      throws IOException {
    BlockRow group = fromEnd(0).orElseThrow();
    BlockGroupLayout layout = BlockGroupLayout.of(group.getEcPolicyId());
    long live = storageUuids.stream().filter(storage -> !storage.isEmpty()).count();
    if (live < layout.dataUnits() || lengthBytes <= 0 || lengthBytes % layout.rowBytes() != 0) {
      throw new IOException(
          "group blk_%d of file %d is not closed with %d bytes in %d blocks: whole rows of %d bytes in at least %d blocks are needed. Its recovery is repeated"
              .formatted(
                  group.getBlockId(),
                  file.id(),
                  lengthBytes,
                  live,
                  layout.rowBytes(),
                  layout.dataUnits()));
    }
    BlockGroups.renew(transaction, group, generationStamp, storageUuids);
    replaceLast(
        group.toBuilder()
            .setGenerationStamp(generationStamp)
            .setLengthBytes(lengthBytes)
            .setState(BlockStateProto.COMMITTED)
            .clearRecoveryGenerationStamp()
            .build());
  }

  /** Whether a block, counted from the end, is complete. Completes a block with a live replica. */
  boolean completeIfReported(int back) throws IOException {
    Optional<BlockRow> block = fromEnd(back);
    if (block.isEmpty() || block.get().getState() == BlockStateProto.COMPLETE) {
      return true;
    }
    if (block.get().getState() == BlockStateProto.COMMITTED && GroupRows.isGroup(block.get())) {
      return completeGroup(back, block.get());
    }
    if (block.get().getState() != BlockStateProto.COMMITTED
        || blocks.liveReplicas(transaction, file.id(), block.get()) == 0) {
      return false;
    }
    replace(
        back,
        block.get().toBuilder()
            .setState(BlockStateProto.COMPLETE)
            .clearPipelineStorageUuids()
            .build());
    return true;
  }

  private boolean completeGroup(int back, BlockRow group) throws IOException {
    if (!BlockGroups.isReadable(transaction, blocks, group)) {
      return false;
    }
    // Nothing was written to the blocks that go here.
    BlockGroups.formStripe(
        transaction, blocks, file.id(), count() - 1 - back, group, file.row().getModifiedMillis());
    replace(back, group.toBuilder().setState(BlockStateProto.COMPLETE).build());
    return true;
  }

  /**
   * The greatest generation stamp that a replica of the block may have or get. Namenodes that share
   * a store give stamps out of different ranges, so a later one is not greater by itself.
   */
  static long greatestStamp(BlockRow block) {
    return Math.max(
        block.getGenerationStamp(),
        Math.max(block.getIssuedGenerationStamp(), block.getRecoveryGenerationStamp()));
  }

  static boolean isCommitted(BlockRow row) {
    return row.getState() == BlockStateProto.COMMITTED
        || row.getState() == BlockStateProto.COMPLETE;
  }

  /** Closes the file. */
  void close(long nowMillis) {
    LeaseRows.remove(transaction, file.row().getUnderConstruction().getClientName(), file.id());
    put(file.row().toBuilder().clearUnderConstruction().setModifiedMillis(nowMillis).build());
  }

  void put(InodeRow row) {
    file = file.with(row);
    transaction.put(Tables.INODE, file.key(), row);
  }
}
