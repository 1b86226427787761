package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The rows of the blocks in a block group, which a stripe owns or will own. The caller holds the
 * lock of the stripe's key, whether there is a row of the stripe or not. Stateless.
 */
public final class GroupRows {
  private GroupRows() {}

  /** Whether the row of a block of a file stands for a block group. */
  public static boolean isGroup(BlockRow block) {
    return block.hasInternalOwnerId();
  }

  /** The lock that protects the blocks of a group. */
  public static RowLock lockOf(BlockRow group) {
    return lockOf(group.getInternalOwnerId());
  }

  /** The same, by the id of the stripe. */
  public static RowLock lockOf(long stripeId) {
    return RowLock.exclusive(Tables.STRIPE, Tables.stripe(stripeId));
  }

  /** The blocks of a group, by their indices. An index that has no bytes may be missing. */
  public static List<Row<BlockRow>> blocks(Transaction transaction, BlockRow group)
      throws IOException {
    return transaction.scan(Tables.BLOCK, group.getInternalOwnerId());
  }

  /**
   * A block of a group as it is to be: with the length that follows from that of the group. While
   * the group is being written, every length is right.
   */
  public static BlockRow expected(BlockRow group, Row<BlockRow> block) {
    if (ReplicaRows.isOpen(group)) {
      return block.value();
    }
    long length =
        BlockGroupLayout.of(group.getEcPolicyId())
            .internalLengthBytes(group.getLengthBytes(), (int) block.key().firstLong());
    return block.value().toBuilder()
        .setLengthBytes(length)
        .setState(BlockStateProto.COMPLETE)
        .build();
  }

  /** Hands a complete group to another file: the rows of the group, its blocks and its stripe. */
  public static void changeFile(
      Transaction transaction, Row<BlockRow> group, long fileId, long index) throws IOException {
    transaction.delete(Tables.BLOCK, group.key());
    transaction.put(Tables.BLOCK, Tables.block(fileId, index), group.value());
    for (Row<BlockRow> block : blocks(transaction, group.value())) {
      transaction.put(
          Tables.BLOCK,
          block.key(),
          block.value().toBuilder().setGroupFileId(fileId).setGroupIndex((int) index).build());
    }
    Key stripe = Tables.stripe(group.value().getInternalOwnerId());
    Optional<StripeRow> row = transaction.get(Tables.STRIPE, stripe);
    if (row.isPresent()) {
      transaction.put(
          Tables.STRIPE,
          stripe,
          row.get().toBuilder().setGroupFileId(fileId).setGroupIndex((int) index).build());
    }
  }

  /** Deletes all rows of the blocks of a group, and its stripe. */
  public static List<Invalidation> release(
      Transaction transaction, BlockService blocks, BlockRow group) throws IOException {
    List<Long> indices =
        blocks(transaction, group).stream().map(row -> row.key().firstLong()).toList();
    transaction.delete(Tables.STRIPE, Tables.stripe(group.getInternalOwnerId()));
    return blocks.release(transaction, group.getInternalOwnerId(), indices);
  }
}
