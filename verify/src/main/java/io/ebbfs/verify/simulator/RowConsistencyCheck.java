package io.ebbfs.verify.simulator;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.verify.simulator.SimReplicaMap.SimReplica;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Checks that rows of blocks, owners, stripes and transitions agree with each other and the disks.
 */
final class RowConsistencyCheck {
  private final MetadataMirror rows;
  private final SimReplicaMap replicas;

  RowConsistencyCheck(MetadataMirror rows, SimReplicaMap replicas) {
    this.rows = rows;
    this.replicas = replicas;
  }

  /** A deleted file owns no block. */
  void deletedFileAgrees(long fileId) {
    if (!rows.files.contains(fileId)) {
      rows.blocks.forEach(
          (key, block) -> {
            if (key.partition() == fileId) {
              blockAgrees(block.getBlockId());
            }
          });
    }
  }

  /** Every mark and every reservation belongs to a transition that is active. */
  void marksAgree() {
    rows.blocks.values().forEach(block -> markAgrees(block));
    rows.owners.forEach(this::reservationAgrees);
    for (StripeRow stripe : rows.stripes.values()) {
      markAgrees(stripe);
    }
  }

  private void markAgrees(BlockRow block) {
    if (block.hasTransitionId() && !rows.isActive(block.getTransitionId())) {
      throw new Violation(
          "block %d is marked by transition %d, which has ended"
              .formatted(block.getBlockId(), block.getTransitionId()));
    }
  }

  private void markAgrees(StripeRow stripe) {
    if (stripe.hasTransitionId() && !rows.isActive(stripe.getTransitionId())) {
      throw new Violation(
          "stripe %d is marked by transition %d, which has ended"
              .formatted(stripe.getId(), stripe.getTransitionId()));
    }
  }

  private void reservationAgrees(long id, BlockOwnerRow owner) {
    if (!owner.hasOwnerId() && !rows.isActive(owner.getTransitionId())) {
      throw new Violation(
          "block %d is reserved by transition %d, which has ended"
              .formatted(id, owner.getTransitionId()));
    }
  }

  /** A block has one owner, and the owner and the stripe know the block. */
  void blockAgrees(long id) {
    BlockOwnerRow owner = rows.owners.get(id);
    Key key = rows.keyOf(id);
    if (key == null) {
      if (owner != null && owner.hasOwnerId()) {
        throw new Violation(
            "block %d is owned by %s, which has no such block".formatted(id, owner));
      }
      if (owner != null) {
        reservationAgrees(id, owner);
      }
      return;
    }
    if (owner == null
        || owner.getOwnerId() != key.partition()
        || owner.getIndex() != key.firstLong()) {
      throw new Violation("block %d is owned by %s, its row is at %s".formatted(id, owner, key));
    }
    if (!rows.files.contains(key.partition()) && !rows.stripes.containsKey(key.partition())) {
      throw new Violation("block %d belongs to %s, which does not exist".formatted(id, key));
    }
    BlockRow block = rows.blocks.get(key);
    markAgrees(block);
    if (block.hasStripeId() && !rows.hasMember(block.getStripeId(), id)) {
      throw new Violation(
          "block %d says it is in stripe %d, which does not have it"
              .formatted(id, block.getStripeId()));
    }
  }

  /** A stripe agrees with the rows of its members, and their replicas hold what its code says. */
  void stripeAgrees(StripeRow stripe) {
    markAgrees(stripe);
    ErasureCode code = SimCodes.REGISTRY.byName(stripe.getCode());
    Map<Integer, Long> data = new TreeMap<>();
    Set<Integer> positions = new TreeSet<>();
    for (StripeMemberProto member : stripe.getMembersList()) {
      if (code.position(member.getPosition()).isData()) {
        data.put(member.getPosition(), member.getBlockId());
      }
      if (!positions.add(member.getPosition())) {
        throw new Violation("stripe " + stripe.getId() + " has two members at one position");
      }
      memberAgrees(stripe, member);
    }
    for (StripeMemberProto member : stripe.getMembersList()) {
      contentIsRight(stripe, code, data, member);
    }
    if (!positions.equals(code.occupied(data.keySet()))) {
      throw new Violation(
          "stripe %d in %s has members at %s, its data needs %s"
              .formatted(stripe.getId(), code, positions, code.occupied(data.keySet())));
    }
  }

  private void memberAgrees(StripeRow stripe, StripeMemberProto member) {
    BlockRow block = rows.block(member.getBlockId());
    Key key = rows.keyOf(member.getBlockId());
    boolean agrees =
        block != null
            && key.partition() == member.getOwnerId()
            && key.firstLong() == member.getOwnerIndex()
            && block.getStripeId() == stripe.getId()
            && block.getStripePosition() == member.getPosition()
            && block.getGenerationStamp() == member.getGenerationStamp()
            && block.getLengthBytes() == member.getLengthBytes();
    if (!agrees) {
      throw new Violation(
          "stripe %d: member %s does not agree with its block %s at %s"
              .formatted(stripe.getId(), member, block, key));
    }
  }

  private void contentIsRight(
      StripeRow stripe, ErasureCode code, Map<Integer, Long> data, StripeMemberProto member) {
    BlockContent expected = expected(code, data, member.getPosition());
    for (SimReplica replica : replicas.of(member.getBlockId())) {
      SimBlock block = replica.block();
      // Nobody reads a replica that the namenode does not count as live.
      if (rows.replicaRows(block.blockId(), replica.disk().uuid) > 0
          && block.is(member.getGenerationStamp(), member.getLengthBytes())
          && !block.content().equals(expected)) {
        throw new Violation(
            "stripe %d in %s, position %d: block %d holds %s, should hold %s"
                .formatted(
                    stripe.getId(),
                    code,
                    member.getPosition(),
                    block.blockId(),
                    block.content(),
                    expected));
      }
    }
  }

  /** The content of a position of a stripe, by its code and its data blocks. */
  private static BlockContent expected(ErasureCode code, Map<Integer, Long> data, int of) {
    Map<Long, Integer> terms = new TreeMap<>();
    data.forEach(
        (position, blockId) -> {
          int coefficient = code.generator().get(of, position);
          if (coefficient != 0) {
            terms.put(blockId, coefficient);
          }
        });
    return new BlockContent(terms);
  }

  /**
   * Whether a disk has the replica of a complete block that its row names, with the right bytes.
   */
  boolean isGood(long blockId, String storageUuid, ReplicaRow row) {
    BlockRow block = rows.block(blockId);
    if (block == null
        || block.getState() != BlockStateProto.COMPLETE
        || row.getGenerationStamp() != block.getGenerationStamp()
        || row.getLengthBytes() != block.getLengthBytes()) {
      return false;
    }
    BlockContent expected = BlockContent.of(blockId);
    StripeRow stripe = rows.stripes.get(block.getStripeId());
    if (stripe != null) {
      ErasureCode code = SimCodes.REGISTRY.byName(stripe.getCode());
      Map<Integer, Long> data = new TreeMap<>();
      stripe.getMembersList().stream()
          .filter(member -> code.position(member.getPosition()).isData())
          .forEach(member -> data.put(member.getPosition(), member.getBlockId()));
      expected = expected(code, data, block.getStripePosition());
    }
    for (SimReplica replica : replicas.of(blockId)) {
      if (replica.disk().uuid.equals(storageUuid)
          && replica.block().is(block.getGenerationStamp(), block.getLengthBytes())
          && replica.block().content().equals(expected)) {
        return true;
      }
    }
    return false;
  }
}
