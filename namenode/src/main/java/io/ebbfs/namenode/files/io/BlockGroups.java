package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of block groups of an open file, in a transaction that has locked its inode and the
 * stripes of its last groups. A group has a row among the blocks of the file; its blocks have rows
 * under the id of the stripe that they will form. Stateless.
 */
final class BlockGroups {
  private BlockGroups() {}

  /**
   * The row of a new group.
   *
   * @param stripeId for the stripe of the group, which nobody else has
   */
  static BlockRow group(InodeRow file, long groupId, long generationStamp, long stripeId) {
    return BlockRow.newBuilder()
        .setBlockId(groupId)
        .setGenerationStamp(generationStamp)
        .setLengthBytes(0)
        .setState(BlockStateProto.UNDER_CONSTRUCTION)
        .setReplication(1)
        .setEcPolicyId(file.getEcPolicyId())
        .setInternalOwnerId(stripeId)
        .build();
  }

  /**
   * Writes the rows of the blocks of a new group. With fewer targets than blocks, the last parities
   * are not written; they are repaired once the group is complete.
   */
  static void putBlocks(
      Transaction transaction, long fileId, int index, BlockRow group, List<Target> targets) {
    int units = BlockGroupLayout.of(group.getEcPolicyId()).units();
    for (int i = 0; i < units; i++) {
      BlockRow.Builder block =
          BlockRow.newBuilder()
              .setBlockId(group.getBlockId() + i)
              .setGenerationStamp(group.getGenerationStamp())
              .setLengthBytes(0)
              .setState(BlockStateProto.UNDER_CONSTRUCTION)
              .setReplication(1)
              .setGroupFileId(fileId)
              .setGroupIndex(index);
      if (i < targets.size()) {
        block.addPipelineStorageUuids(targets.get(i).disk().storageUuid());
      }
      transaction.put(Tables.BLOCK, Tables.block(group.getInternalOwnerId(), i), block.build());
      transaction.put(
          Tables.BLOCK_OWNER,
          Tables.blockOwner(group.getBlockId() + i),
          BlockOwnerRow.newBuilder().setOwnerId(group.getInternalOwnerId()).setIndex(i).build());
    }
  }

  /**
   * Gives the blocks of a group a new generation and the disks that go on.
   *
   * @param storageUuids by the index of the block; empty for a block that is written no more
   */
  static void renew(
      Transaction transaction, BlockRow group, long generationStamp, List<String> storageUuids)
      throws IOException {
    for (Row<BlockRow> row : GroupRows.blocks(transaction, group)) {
      int index = (int) row.key().firstLong();
      BlockRow.Builder block = row.value().toBuilder().setGenerationStamp(generationStamp);
      block.clearPipelineStorageUuids();
      if (index < storageUuids.size() && !storageUuids.get(index).isEmpty()) {
        block.addPipelineStorageUuids(storageUuids.get(index));
      }
      transaction.put(Tables.BLOCK, row.key(), block.build());
    }
  }

  /** Whether so many blocks of a committed group are reported that its data can be read. */
  static boolean isReadable(Transaction transaction, BlockService blocks, BlockRow group)
      throws IOException {
    int live = 0;
    for (Row<BlockRow> row : GroupRows.blocks(transaction, group)) {
      BlockRow block = GroupRows.expected(group, row);
      if (block.getLengthBytes() > 0
          && blocks.liveReplicas(transaction, group.getInternalOwnerId(), block) > 0) {
        live++;
      }
    }
    return live >= BlockGroupLayout.of(group.getEcPolicyId()).neededBlocks(group.getLengthBytes());
  }

  /** A block of a committed group that has no reported replica yet, or the first block. */
  static BlockRow awaited(Transaction transaction, BlockService blocks, BlockRow group)
      throws IOException {
    BlockRow first = null;
    for (Row<BlockRow> row : GroupRows.blocks(transaction, group)) {
      BlockRow block = GroupRows.expected(group, row);
      first = first == null ? block : first;
      if (block.getLengthBytes() > 0
          && block.getPipelineStorageUuidsCount() > 0
          && blocks.liveReplicas(transaction, group.getInternalOwnerId(), block) == 0) {
        return block;
      }
    }
    return first;
  }

  /**
   * Makes a stripe of the blocks of a committed group. Blocks without bytes, of a short group, lose
   * their rows.
   */
  static List<BlockService.Invalidation> formStripe(
      Transaction transaction,
      BlockService blocks,
      long fileId,
      int index,
      BlockRow group,
      long nowMillis)
      throws IOException {
    BlockGroupLayout layout = BlockGroupLayout.of(group.getEcPolicyId());
    long stripeId = group.getInternalOwnerId();
    StripeRow.Builder stripe =
        StripeRow.newBuilder()
            .setId(stripeId)
            .setCode(layout.codeName())
            .setUnitLengthBytes(layout.internalLengthBytes(group.getLengthBytes(), 0))
            .setGeneration(1)
            .setPolicy("")
            .setCreatedMillis(nowMillis)
            .setSingle(true)
            .setGroupFileId(fileId)
            .setGroupIndex(index)
            .setGroupDataUnits(layout.dataUnits());
    List<Long> unused = new ArrayList<>();
    for (Row<BlockRow> row : GroupRows.blocks(transaction, group)) {
      int position = (int) row.key().firstLong();
      BlockRow block =
          GroupRows.expected(group, row).toBuilder()
              .setStripeId(stripeId)
              .setStripePosition(position)
              .build();
      if (block.getLengthBytes() == 0) {
        unused.add((long) position);
        continue;
      }
      transaction.put(Tables.BLOCK, row.key(), block);
      stripe.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setBlockId(block.getBlockId())
              .setGenerationStamp(block.getGenerationStamp())
              .setLengthBytes(block.getLengthBytes())
              .setOwnerId(stripeId)
              .setOwnerIndex(position));
    }
    if (stripe.getMembersCount() > 0) {
      transaction.put(Tables.STRIPE, Tables.stripe(stripeId), stripe.build());
    }
    return blocks.release(transaction, stripeId, unused);
  }
}
