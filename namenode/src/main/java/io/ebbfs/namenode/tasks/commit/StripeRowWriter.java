package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Writes the rows of one stripe that is new or gets new parities: first the rows of its new
 * parities, then, when all members are collected, the row of the stripe.
 */
final class StripeRowWriter {
  private final Transaction transaction;
  private final ClusterView cluster;
  private final StripeRow.Builder row;
  private final SortedMap<Integer, StripeMemberProto> members = new TreeMap<>();

  /** A writer for a stripe with this id. */
  StripeRowWriter(
      Transaction transaction,
      ClusterView cluster,
      TransitionRow transition,
      long stripeId,
      long nowMillis) {
    this.transaction = transaction;
    this.cluster = cluster;
    this.row =
        StripeRow.newBuilder()
            .setId(stripeId)
            .setCode(transition.getToCode())
            .setPolicy(transition.getPolicy())
            .setGeneration(1)
            .setCreatedMillis(nowMillis);
    if (transition.getSingle()) {
      row.setSingle(true);
    }
  }

  private StripeRowWriter(Transaction transaction, ClusterView cluster, StripeRow.Builder row) {
    this.transaction = transaction;
    this.cluster = cluster;
    this.row = row;
  }

  /** A writer for the next generation of a stripe, without members as yet. */
  static StripeRowWriter next(Transaction transaction, ClusterView cluster, StripeRow stripe) {
    return new StripeRowWriter(
        transaction,
        cluster,
        stripe.toBuilder().clearMembers().setGeneration(stripe.getGeneration() + 1));
  }

  /** The stripe belongs to a group: the stripes at its slots may merge later. */
  StripeRowWriter group(long groupId, int slot) {
    row.setGroupId(groupId).setGroupSlot(slot);
    return this;
  }

  long id() {
    return row.getId();
  }

  /** Adds a parity that a combine has written, and writes the rows of the block. */
  void addParity(TransitionOutputProto output) throws IOException {
    BlockRow block =
        BlockRow.newBuilder()
            .setBlockId(output.getBlockId())
            .setGenerationStamp(output.getGenerationStamp())
            .setLengthBytes(output.getLengthBytes())
            .setState(BlockStateProto.COMPLETE)
            .setReplication(1)
            .setStripeId(id())
            .setStripePosition(output.getPosition())
            .build();
    BlockRows.putBlock(transaction, id(), output.getPosition(), block);
    BlockRows.addReplica(
        transaction,
        cluster,
        id(),
        output.getBlockId(),
        output.getGenerationStamp(),
        output.getLengthBytes(),
        output.getStorageUuid());
    addMember(block, id(), output.getPosition(), false);
  }

  /** Adds a block whose rows exist already. */
  void addMember(BlockRow block, long ownerId, long ownerIndex, boolean tombstone) {
    StripeMemberProto.Builder member =
        StripeMemberProto.newBuilder()
            .setPosition(block.getStripePosition())
            .setBlockId(block.getBlockId())
            .setGenerationStamp(block.getGenerationStamp())
            .setLengthBytes(block.getLengthBytes())
            .setOwnerId(ownerId)
            .setOwnerIndex((int) ownerIndex);
    if (tombstone) {
      member.setTombstone(true);
    }
    keep(member.build());
  }

  /** Adds a block that is a member already. */
  void keep(StripeMemberProto member) {
    if (members.put(member.getPosition(), member) != null) {
      throw new IllegalStateException(
          "two blocks at position %d of stripe %d".formatted(member.getPosition(), id()));
    }
  }

  /** Writes the row of the stripe. */
  StripeRow write() {
    long unit =
        members.values().stream().mapToLong(StripeMemberProto::getLengthBytes).max().orElse(0);
    StripeRow built = row.addAllMembers(members.values()).setUnitLengthBytes(unit).build();
    transaction.put(Tables.STRIPE, Tables.stripe(id()), built);
    return built;
  }
}
