package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.replicas.BlockRemover;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.replicas.StripeService;
import io.ebbfs.namenode.replicas.StripeService.Member;
import io.ebbfs.namenode.replicas.StripeService.MovedMember;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Moves the rows of blocks from files to the end of another file, in a transaction that has locked
 * all of these files. A block in a stripe stays there, and the stripe's row gets its new owner.
 * Thread-safe.
 */
final class BlockMover {
  /** Blocks that one transaction moves at most: each takes about ten rows. */
  static final int MOST_BLOCKS = 1_000;

  private final BlockService blocks;
  private final StripeService stripes;
  private final BlockRemover remover;

  BlockMover(BlockService blocks, StripeService stripes) {
    this.blocks = blocks;
    this.stripes = stripes;
    this.remover = new BlockRemover(blocks, stripes);
  }

  /**
   * Refuses files that have more blocks than one transaction moves.
   *
   * @throws IOException names the number and the limit
   */
  static void refuseTooMany(List<Inode> files) throws IOException {
    long count = files.stream().mapToLong(file -> weight(file.row())).sum();
    if (count > MOST_BLOCKS) {
      throw new IOException(
          "concat: the %d sources have %d blocks, and one call moves at most %d: append the sources to the target in several calls"
              .formatted(files.size(), count, MOST_BLOCKS));
    }
  }

  /** Every block of a group has a row that changes. */
  private static long weight(InodeRow file) {
    return (long) file.getBlocks() * (file.hasEcPolicyId() ? BlockGroupLayout.IDS_OF_GROUP : 1);
  }

  /**
   * The rows of all blocks of these closed files, in order.
   *
   * @throws StaleReadException if rows of blocks do not fit the rows of their files
   */
  static List<Row<BlockRow>> blocks(Transaction transaction, List<Inode> files) throws IOException {
    List<Row<BlockRow>> all = new ArrayList<>();
    for (Inode file : files) {
      List<Row<BlockRow>> rows = transaction.scan(Tables.BLOCK, file.id());
      long length = rows.stream().mapToLong(row -> row.value().getLengthBytes()).sum();
      boolean whole = rows.stream().allMatch(row -> FileBlocks.isCommitted(row.value()));
      if (rows.size() != file.row().getBlocks()
          || length != file.row().getLengthBytes()
          || !whole) {
        throw new StaleReadException(
            "file %d has %d block rows with %d bytes, and its own row says %d with %d, or a block is not finished: the metadata store is damaged"
                .formatted(
                    file.id(),
                    rows.size(),
                    length,
                    file.row().getBlocks(),
                    file.row().getLengthBytes()));
      }
      all.addAll(rows);
    }
    return all;
  }

  /**
   * Moves the blocks to the end of the target, whose own row is the business of the caller.
   *
   * @throws StaleReadException if a row is not what the caller has seen
   * @return excess replicas, which the caller invalidates after the commit
   */
  List<Invalidation> move(Transaction transaction, List<Row<BlockRow>> rows, Inode target)
      throws IOException {
    List<MovedMember> moved = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      if (rows.get(i).value().hasStripeId()) {
        moved.add(new MovedMember(Member.of(rows.get(i)), target.id(), newIndex(target, i)));
      }
    }
    remover.lock(transaction, rows, rows);
    List<Invalidation> excess = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      excess.addAll(move(transaction, rows.get(i), target, newIndex(target, i)));
    }
    stripes.changeOwners(transaction, moved);
    return excess;
  }

  private static long newIndex(Inode target, int i) {
    return (long) target.row().getBlocks() + i;
  }

  private List<Invalidation> move(
      Transaction transaction, Row<BlockRow> row, Inode target, long index) throws IOException {
    BlockRow block = row.value();
    if (GroupRows.isGroup(block)) {
      GroupRows.changeFile(transaction, row, target.id(), index);
      return List.of();
    }
    int replication = target.row().getReplication();
    BlockRows.changeOwner(
        transaction, row.key().partition(), row.key().firstLong(), target.id(), index, block);
    return block.hasStripeId() || block.getReplication() == replication
        ? List.of()
        : blocks.setReplication(transaction, target.id(), index, replication);
  }
}
